#!/usr/bin/env python3
"""Models exported by PyTorch, with inputs and PyTorch's own outputs, for the tests of the ONNX importer.

  make_onnx_goldens.py     writes tests/golden/onnx/<model>/{model.onnx,input_N.pb,output_N.pb}

Needs torch, onnx and onnxscript.
"""

import pathlib

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import nn
from torch.nn import functional as F

GOLDENS = pathlib.Path(__file__).resolve().parent.parent / "golden" / "onnx"


class Mlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(16, 12)
        self.norm = nn.BatchNorm1d(12)
        self.out = nn.Linear(12, 5)

    def forward(self, x):
        return F.log_softmax(self.out(F.dropout(torch.relu(self.norm(self.hidden(x))), 0.5, self.training)), dim=-1)


class Cnn(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1)
        self.norm1 = nn.BatchNorm2d(8)
        self.depthwise = nn.Conv2d(8, 8, 3, stride=2, padding=1, groups=8, bias=False)
        self.pointwise = nn.Conv2d(8, 12, 1)
        self.norm2 = nn.GroupNorm(3, 12)
        self.out = nn.Linear(12 * 2 * 2, 10)

    def forward(self, x):
        x = F.max_pool2d(F.leaky_relu(self.norm1(self.conv1(x)), 0.1), 2)
        x = F.gelu(self.norm2(self.pointwise(self.depthwise(x))))
        x = F.avg_pool2d(x, 3, stride=1, padding=1)
        x = F.hardswish(x)
        return self.out(x.view(x.size(0), -1))


class Transformer(nn.Module):
    """Attention over tokens, with both the batch and the number of steps left open."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(20, 8)
        self.places = nn.Parameter(torch.randn(16, 8) * 0.1)
        self.norm1 = nn.LayerNorm(8)
        self.qkv = nn.Linear(8, 24)
        self.mix = nn.Linear(8, 8)
        self.norm2 = nn.LayerNorm(8)
        self.up = nn.Linear(8, 16)
        self.down = nn.Linear(16, 8)

    def forward(self, ids):
        batch, steps = ids.shape
        x = self.tokens(ids) + self.places[:steps]
        q, k, v = self.qkv(self.norm1(x)).chunk(3, dim=-1)
        heads = [t.reshape(batch, steps, 2, 4).transpose(1, 2) for t in (q, k, v)]
        scores = heads[0] @ heads[1].transpose(-1, -2) / 2.0
        attended = torch.softmax(scores, dim=-1) @ heads[2]
        x = x + self.mix(attended.transpose(1, 2).reshape(batch, steps, 8))
        x = x + self.down(F.silu(self.up(self.norm2(x))))
        return x.mean(dim=1)


class Assorted(nn.Module):
    """What is left: one-dimensional and transposed convolutions, padding, choosing, ordering."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(4, 6, 3, padding=1, dilation=1, stride=2)
        self.up = nn.ConvTranspose2d(3, 2, 3, stride=2, padding=1, output_padding=1)

    def forward(self, signal, image):
        a = F.elu(self.conv(signal))
        b = self.up(F.pad(image, (1, 0, 0, 2), value=0.5))
        c = torch.where(a > 0, a.clamp(max=1.5), a.cumsum(dim=1))
        values, positions = image.flatten(1).topk(4, dim=1)
        d = torch.cat([values, positions.float()], dim=1)
        e = torch.einsum("nchw,nchv->nwv", image, image)[:, ::2, 1:]
        return b, c, d, e, image.argmax(dim=1), (image.var(dim=(2, 3)) + 1).rsqrt()


class Recurrent(nn.Module):
    """Layers over a number of steps that is left open."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 5, num_layers=2, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(10, 6)

    def forward(self, x):  # [batch, steps, 4]
        y, (h, c) = self.lstm(x)
        z, state = self.gru(y.transpose(0, 1))
        return z, h, c, state


class Choosing(nn.Module):
    """Branches of the graph, not of Python."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(4, 3), nn.Linear(4, 3)

    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: torch.tanh(self.up(x)), lambda x: self.down(x) * 2.0, (x,))


def strip(graph: onnx.GraphProto) -> None:
    """Removes where on the exporting machine each part came from."""
    for node in graph.node:
        del node.metadata_props[:]
        node.doc_string = ""
        for attribute in node.attribute:
            if attribute.HasField("g"):
                strip(attribute.g)
    del graph.value_info[:]
    for part in [*graph.input, *graph.output, graph, *graph.initializer]:
        if hasattr(part, "metadata_props"):
            del part.metadata_props[:]


def write(name: str, model: nn.Module, inputs: dict[str, torch.Tensor], outputs: list[str], dynamic: dict) -> None:
    model.eval()
    directory = GOLDENS / name
    directory.mkdir(parents=True, exist_ok=True)
    with torch.no_grad():
        expected = model(*inputs.values())
    program = torch.onnx.export(
        model, tuple(inputs.values()), input_names=list(inputs), output_names=outputs, dynamic_shapes=dynamic, dynamo=True
    )
    program.model.metadata_props.clear()
    proto = program.model_proto
    del proto.metadata_props[:]
    strip(proto.graph)
    onnx.checker.check_model(proto)
    onnx.save(proto, directory / "model.onnx")
    values = [expected] if isinstance(expected, torch.Tensor) else expected
    for kind, names, tensors in (("input", inputs, inputs.values()), ("output", outputs, values)):
        for k, (each, tensor) in enumerate(zip(names, tensors)):
            proto = numpy_helper.from_array(np.ascontiguousarray(tensor.numpy()), each)
            (directory / f"{kind}_{k}.pb").write_bytes(proto.SerializeToString())
    print(name, (directory / "model.onnx").stat().st_size, "bytes")


def main() -> None:
    torch.manual_seed(7)
    mlp, cnn = Mlp(), Cnn()
    for norm in (mlp.norm, cnn.norm1):  # as after some training
        norm.running_mean.normal_()
        norm.running_var.uniform_(0.5, 2)
        norm.weight.data.uniform_(0.5, 2)
        norm.bias.data.normal_()
    batch, steps = torch.export.Dim("batch"), torch.export.Dim("steps", min=2, max=16)
    write("torch_mlp", mlp, {"x": torch.randn(3, 16)}, ["y"], {"x": {0: batch}})
    write("torch_cnn", cnn, {"x": torch.randn(2, 3, 8, 8)}, ["logits"], {"x": {0: batch}})
    write("torch_transformer", Transformer(), {"ids": torch.randint(0, 20, (3, 5))}, ["y"], {"ids": {0: batch, 1: steps}})
    write(
        "torch_assorted", Assorted(), {"signal": torch.randn(2, 4, 9), "image": torch.randn(2, 3, 6, 5)},
        ["up", "c", "d", "e", "argmax", "deviation"], {"signal": {0: batch}, "image": {0: batch}},
    )  # fmt: skip
    write(
        "torch_recurrent", Recurrent(), {"x": torch.randn(3, 7, 4)}, ["z", "h", "c", "state"],
        {"x": {0: batch, 1: torch.export.Dim("steps")}},
    )  # fmt: skip
    write("torch_choosing", Choosing(), {"x": torch.randn(3, 4)}, ["y"], {"x": {0: batch}})


if __name__ == "__main__":
    main()
