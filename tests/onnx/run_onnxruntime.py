#!/usr/bin/env python3
"""Runs what the tests exported with onnxruntime, after onnx's checker, and compares the numbers.

  run_onnxruntime.py TEST_PROGRAM [PYTHON]

The program writes a directory for each of its rows: model.onnx, input_N.pb, output_N.pb. PYTHON is another interpreter
to try, which has the packages onnx and onnxruntime. Ends with 77, after saying why, where nobody has them.
"""

import os
import pathlib
import subprocess
import sys
import tempfile


def skip(why: str) -> None:
    print(f"skipped: {why}")
    sys.exit(77)


try:
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import numpy_helper
except ImportError:
    other = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if other is None or not other.is_file():
        skip("the Python packages onnx and onnxruntime are not installed")
    os.execv(other, [str(other), *sys.argv[:2]])

TOLERANCE = {np.dtype(np.float16): 4e-3, np.dtype(np.float32): 2e-5, np.dtype(np.float64): 1e-10}


def tensors(directory: pathlib.Path, kind: str) -> dict[str, np.ndarray]:
    result = {}
    for path in sorted(directory.glob(f"{kind}_*.pb")):
        tensor = onnx.TensorProto()
        tensor.ParseFromString(path.read_bytes())
        result[tensor.name] = numpy_helper.to_array(tensor)
    return result


def check(directory: pathlib.Path) -> str:
    """What is wrong with one model; empty: nothing."""
    model = onnx.load(directory / "model.onnx")
    onnx.checker.check_model(model, full_check=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    inputs, outputs = tensors(directory, "input"), tensors(directory, "output")
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    for name, got in zip(outputs, session.run(list(outputs), inputs)):
        expected = outputs[name]
        if got.dtype != expected.dtype or got.shape != expected.shape:
            return f"{name} is {got.dtype}{got.shape}, expected {expected.dtype}{expected.shape}"
        tolerance = TOLERANCE.get(got.dtype, 0)
        if not np.allclose(got, expected, rtol=tolerance, atol=tolerance, equal_nan=got.dtype.kind == "f"):
            return f"{name} differs by up to {np.max(np.abs(got.astype(float) - expected.astype(float)))}"
    return ""


def main() -> int:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as scratch:
        program = [sys.argv[1], "--test-case=onnx: every op*,onnx: the examples*"]
        subprocess.run(
            program, env={**os.environ, "FLOWGRAPH_ONNX_CASES": scratch}, check=True, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        directories = sorted(path.parent for path in pathlib.Path(scratch).rglob("model.onnx"))
        wrong = 0
        for directory in directories:
            try:
                problem = check(directory)
            except Exception as error:  # of whatever kind: the next model is still worth a look
                problem = str(error)
            if problem:
                wrong += 1
                print(f"{directory.name}: {problem}")
        examples = pathlib.Path(__file__).parents[2].glob("examples/*.cpp")
        examples = [path for path in examples if " = fg::define(" in path.read_text(encoding="utf-8")]
        names = [path.name for path in directories]
        for example in sorted(path.stem for path in examples):
            if not any(name.startswith(f"example_{example}") for name in names):
                wrong += 1
                print(f"nothing of {example} was exported")
        print(f"{len(directories)} models, {wrong} wrong")
        return 1 if wrong or len(directories) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
