"""onnxruntime: inference only, so it takes part in the rows without gradients. Its images are [batch, channels, height,
width]."""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from contest import CHAINS, FILTERS, IMAGES, MATMULS, numbers, serve


def session(threads, nodes, inputs, output, constants=()):
    graph = helper.make_graph(
        nodes, "row",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, a.shape) for n, a in inputs.items()],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, output)],
        [numpy_helper.from_array(a, n) for n, a in constants])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    made = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda: made.run(["y"], inputs)[0].flat[-1]


def node(op, inputs, output, **attributes):
    return helper.make_node(op, inputs.split(), [output], **attributes)


def null_step(threads):
    return session(threads, [node("Add", "x v", "y")], {"x": np.array(1, np.float32)}, (), [("v", np.array(2, np.float32))])


def chain(n):
    nodes = [node("Mul", "x a", "xa"), node("Add", "xa b", "xab"), node("Tanh", "xab", "t"), node("Sigmoid", "x", "s"),
             node("Mul", "t s", "ts"), node("Neg", "x", "n"), node("Mul", "n x", "nx"), node("Exp", "nx", "e"),
             node("Add", "ts e", "y")]
    return lambda threads: session(threads, nodes, {"x": numbers(n, 0, 2)}, (n,),
                                   [("a", numbers(n, 1, 1)), ("b", numbers(n, 2, 1))])


def matmul(n):
    return lambda threads: session(threads, [node("MatMul", "a b", "y")],
                                   {"a": numbers((n, n), 0, 1), "b": numbers((n, n), 1, 1)}, (n, n))


def conv_forward(threads):
    x = np.ascontiguousarray(numbers(IMAGES, 0, 1).transpose(0, 3, 1, 2))
    w = np.ascontiguousarray(numbers(FILTERS, 1, 0.05).transpose(3, 2, 0, 1))
    return session(threads, [node("Conv", "x w", "y", pads=[1, 1, 1, 1])], {"x": x}, x.shape, [("w", w)])


serve({
    "null_step": null_step,
    **{row: chain(n) for row, n in CHAINS.items()},
    **{row: matmul(n) for row, n in MATMULS.items()},
    "conv_forward": conv_forward,
})
