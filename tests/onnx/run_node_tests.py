#!/usr/bin/env python3
"""Imports onnx's own tests of single ops, as far as the importer has their ops, and compares the numbers. Options of
recurrent ops that onnx does not test are compared with onnxruntime's numbers, where it is installed.

  run_node_tests.py TEST_PROGRAM INCLUDE_DIRECTORY [PYTHON]

PYTHON is another interpreter to try, which has the package onnx. Ends with 77, after saying why, where nobody has it.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile


def skip(why: str) -> None:
    print(f"skipped: {why}")
    sys.exit(77)


try:
    import numpy as np
    import onnx
    from onnx import numpy_helper
    from onnx.backend.test.case.node import collect_testcases
except ImportError:
    other = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
    if other is None or not other.is_file():
        skip("the Python package onnx is not installed")
    os.execv(other, [str(other), *sys.argv[:3]])

TYPES = {1, 2, 3, 6, 7, 9, 10, 11}  # element types that tensors here have

# Forms that the importer refuses, by the name of the test.
REFUSED = re.compile(
    r"_expanded|training|_mask|reflect|edge|wrap|3d|maxpool_2d_(dilations|uint8)|averagepool_2d_dilations|select_last"
    r"|_argmax_|ellipsis|einsum_batch_diagonal|batch_dim|scatternd_(max|min|mul)|convtranspose_(kernel_shape|autopad|output_shape)"
    r"|ceil_last_window|empty_set|_zero|range_(float|bfloat)"
)

# Of these the operands behind the first say what shape the result has: they are known when a model is imported.
SHAPED = {
    "CumSum", "Expand", "OneHot", "Pad", "Reshape", "Slice", "Split", "Squeeze", "Tile", "TopK", "Trilu", "Unsqueeze",
    "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
    "ReduceSum", "ReduceSumSquare",
}  # fmt: skip
ALL_SHAPED = {"ConstantOfShape", "Loop", "Range"}


def as_tensor(value, name: str) -> onnx.TensorProto:
    tensor = onnx.TensorProto()
    tensor.CopyFrom(value if isinstance(value, onnx.TensorProto) else numpy_helper.from_array(np.asarray(value)))
    tensor.name = name
    return tensor


def write(directory: pathlib.Path, case) -> None:
    directory.mkdir()
    inputs, outputs = list(case.data_sets[0][0]), case.data_sets[0][1]
    graph = case.model.graph
    op = graph.node[0].op_type
    first = 0 if op in ALL_SHAPED else 1 if op in SHAPED else len(inputs)
    for value, info in list(zip(inputs, list(graph.input)))[first:]:
        graph.initializer.append(as_tensor(value, info.name))
        graph.input.remove(info)
    inputs = inputs[:first]
    onnx.save(case.model, directory / "model.onnx")
    for kind, values in (("input", inputs), ("output", outputs)):
        for k, value in enumerate(values):
            (directory / f"{kind}_{k}.pb").write_bytes(as_tensor(value, f"{kind}_{k}").SerializeToString())


def recurrent_cases(directory: pathlib.Path) -> int:
    """LSTM, GRU and RNN with clip, peepholes and coupled gates, in both directions. How many there are."""
    try:
        import onnxruntime
    except ImportError:
        return 0
    random = np.random.default_rng(1)
    options = [
        ("LSTM", 4, {"clip": 0.3}, False), ("LSTM", 4, {"input_forget": 1}, False), ("LSTM", 4, {}, True),
        ("LSTM", 4, {"clip": 0.3, "input_forget": 1}, True), ("GRU", 3, {"clip": 0.3}, False),
        ("GRU", 3, {"clip": 0.3, "linear_before_reset": 1}, False), ("RNN", 1, {"clip": 0.3}, False),
    ]  # fmt: skip
    time, batch, width, units = 5, 2, 3, 4
    for k, (op, gates, attributes, peepholes) in enumerate(options):
        values = {"x": (time, batch, width), "w": (2, gates * units, width), "r": (2, gates * units, units)}
        values |= {"b": (2, 2 * gates * units), "lengths": None, "h": (2, batch, units)}
        if op == "LSTM":
            values |= {"c": (2, batch, units)}
        if peepholes:
            values |= {"p": (2, 3 * units)}
        values = {n: random.normal(size=s).astype(np.float32) for n, s in values.items() if s}
        inputs = ["x", "w", "r", "b", "", "h", *(["c"] if op == "LSTM" else []), *(["p"] if peepholes else [])]
        outputs = ["y", "y_h", "y_c"][: 3 if op == "LSTM" else 2]
        node = onnx.helper.make_node(
            op, inputs, outputs, hidden_size=units, direction="bidirectional", **attributes
        )
        floats = onnx.TensorProto.FLOAT
        graph = onnx.helper.make_graph(
            [node], op, [onnx.helper.make_tensor_value_info("x", floats, values["x"].shape)],
            [onnx.helper.make_tensor_value_info(o, floats, None) for o in outputs],
            [numpy_helper.from_array(v, n) for n, v in values.items() if n != "x"],
        )  # fmt: skip
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        case = directory / f"{op.lower()}_{k}"
        case.mkdir()
        onnx.save(model, case / "model.onnx")
        (case / "input_0.pb").write_bytes(as_tensor(values["x"], "x").SerializeToString())
        for i, value in enumerate(session.run(outputs, {"x": values["x"]})):
            (case / f"output_{i}.pb").write_bytes(as_tensor(value, outputs[i]).SerializeToString())
    return len(options)


def main() -> int:
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    headers = pathlib.Path(sys.argv[2], "flowgraph", "onnx").glob("import_*.hpp")
    ops = {op for header in headers for op in re.findall(r'^ *\{"(\w+)",', header.read_text(), re.M)}
    with tempfile.TemporaryDirectory() as scratch:
        count = 0
        for case in collect_testcases(None):
            nodes = case.model.graph.node
            values = [v.type.tensor_type.elem_type for v in [*case.model.graph.input, *case.model.graph.output]]
            opset = {o.domain: o.version for o in case.model.opset_import}.get("", 0)
            if any(n.op_type not in ops or n.domain for n in nodes) or not set(values) <= TYPES or opset < 13:
                continue
            if REFUSED.search(case.name) or not case.model.graph.input:
                continue
            write(pathlib.Path(scratch, case.name), case)
            count += 1
        more = recurrent_cases(pathlib.Path(scratch))
        environment = {**os.environ, "FLOWGRAPH_ONNX_NODE_TESTS": scratch}
        result = subprocess.run([sys.argv[1], "--test-case=onnx: single ops*"], env=environment)
        print(f"{count} of onnx's tests, for {len(ops)} ops, and {more} beside onnxruntime")
        return result.returncode


if __name__ == "__main__":
    sys.exit(main())
