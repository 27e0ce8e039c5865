#!/usr/bin/env python3
"""Writes tests/golden/io/*.safetensors with the format's own implementation. Needs numpy, ml_dtypes and safetensors.

  make_safetensors_goldens.py
  make_safetensors_goldens.py --check FILE    prints what that implementation reads in a file of flowgraph's

Element i of a tensor is i - 2 (integers with a sign), i (uint8), i % 2 (bool) or (i - 2) / 4 (floating point).
"""

import pathlib
import sys

import ml_dtypes
import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

DIRECTORY = pathlib.Path(__file__).resolve().parent.parent / "golden" / "io"
TYPES = {
    "bool": np.bool_,
    "int8": np.int8,
    "uint8": np.uint8,
    "int32": np.int32,
    "int64": np.int64,
    "half": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "float": np.float32,
    "double": np.float64,
}


def values(name: str, shape: tuple[int, ...]) -> np.ndarray:
    i = np.arange(np.prod(shape, dtype=np.int64))
    numbers = {"bool": i % 2, "uint8": i}.get(name, i - 2 if name.startswith("int") else (i - 2) / 4)
    return numbers.astype(TYPES[name]).reshape(shape)


# A layer of PyTorch's as it saves it, with an input and what it makes of it.
def write_torch() -> None:
    import torch
    from safetensors.torch import save_file as save_torch

    torch.manual_seed(0)
    layer = torch.nn.Linear(3, 2)
    x = torch.randn(4, 3)
    tensors = {"linear." + name: tensor for name, tensor in layer.state_dict().items()}
    tensors |= {"example.x": x, "example.y": layer(x).detach()}
    save_torch(tensors, DIRECTORY / "torch_linear.safetensors", {"format": "pt"})


def main() -> None:
    if sys.argv[1:2] == ["--torch"]:
        write_torch()
        return
    if sys.argv[1:2] == ["--check"]:
        with safe_open(sys.argv[2], framework="numpy") as file:
            print(file.metadata())
            for name in sorted(file.keys()):
                tensor = file.get_tensor(name)
                print(name, tensor.dtype, tensor.shape, tensor.ravel()[:4])
        return
    DIRECTORY.mkdir(exist_ok=True)
    tensors = {}
    for name in TYPES:
        tensors[name + "/matrix"] = values(name, (3, 5))
        tensors[name + "/scalar"] = values(name, ())
        tensors[name + "/empty"] = values(name, (2, 0, 3))
    save_file(tensors, DIRECTORY / "types.safetensors")
    save_file({"weight \"ü\"": values("float", (2, 2))}, DIRECTORY / "metadata.safetensors", {"format": "pt"})
    save_file({}, DIRECTORY / "nothing.safetensors")
    # Types that flowgraph has not.
    save_file({"short": np.arange(3, dtype=np.int16), "long": np.arange(2, dtype=np.uint64)},
              DIRECTORY / "other_types.safetensors")
    # The weights of a session after a step, tests/io/checkpoint.cpp.
    save_file({"model.a.weight": np.full((2, 3), 2, np.float32), "model.c.weight": np.full((), 2, np.float64)},
              DIRECTORY / "weights.safetensors")


if __name__ == "__main__":
    main()
