#!/usr/bin/env python3
"""Holds the committed goldens against a third referee: cross_check.py torch | tensorflow.

Reads tests/golden/ops/*.txt (and digits_mlp.txt with torch) and recomputes values and gradients in double precision,
each framework doing the ops whose convention it shares. Fails on the first disagreement; prints what it covered.
"""

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden"
WIDE = {"f16": "f", "bf16": "f", "f32": "f", "f64": "f", "bool": "b"}
ROUNDING = {"f16": 1e-3, "bf16": 8e-3, "f32": 2e-7, "f64": 1e-12}


class Case:
    def __init__(self, name):
        self.name, self.op, self.attrs, self.inputs, self.outs, self.weight, self.grads = name, "", {}, [], [], None, []

    def ints(self, key, otherwise=None):
        text = self.attrs.get(key)
        return otherwise if text is None else [] if text == "none" else [int(v) for v in text.split()]

    def int(self, key):
        return int(self.attrs.get(key, "0"))

    def float(self, key):
        return float(self.attrs[key])


def parse_array(text):
    head, values = text.split(":")
    dtype, *dims = head.split()
    kind = WIDE.get(dtype, "i")
    values = np.array([float(v) for v in values.split()]).reshape([int(d) for d in dims])
    return dtype, values.astype({"f": np.float64, "b": np.bool_, "i": np.int64}[kind])


def parse(path):
    cases = []
    for line in path.read_text().splitlines():
        keyword, _, rest = line.strip().partition(" ")
        if keyword == "case":
            cases.append(Case(rest))
        elif keyword == "op":
            cases[-1].op = rest
        elif keyword == "attr":
            key, _, value = rest.partition(" ")
            cases[-1].attrs[key] = value
        elif keyword == "in":
            cases[-1].inputs.append(parse_array(rest))
        elif keyword == "out":
            cases[-1].outs.append(parse_array(rest))
        elif keyword == "weight":
            cases[-1].weight = parse_array(rest)
        elif keyword == "grad":
            index, _, text = rest.partition(" ")
            cases[-1].grads.append((int(index), parse_array(text)))
    return cases


def agree(case, what, found, expected, slack=1.0):
    dtype, values = expected
    tolerance = slack * ROUNDING.get(dtype, 0)
    found = np.asarray(found)
    assert found.shape == values.shape, f"{case.name}: {what} has shape {found.shape}, not {values.shape}"
    with np.errstate(over="ignore", invalid="ignore"):
        if dtype == "f32":
            found = found.astype(np.float32).astype(np.float64)
        np.testing.assert_allclose(found, values, rtol=tolerance, atol=tolerance, err_msg=f"{case.name}: {what}")


def paddings_of(case, window, image):
    """((top, bottom), (left, right)) by the rule of the golden files."""
    strides, dilations = case.ints("strides"), case.ints("dilations", [1, 1])
    if case.attrs["padding"] == "explicit":
        p = case.ints("paddings")
        return (p[0], p[1]), (p[2], p[3])
    if case.attrs["padding"] == "valid":
        return (0, 0), (0, 0)
    pairs = []
    for size, k, s, d in zip(image, window, strides, dilations):
        total = max((-(-size // s) - 1) * s + (k - 1) * d + 1 - size, 0)
        pairs.append((total // 2, total - total // 2))
    return tuple(pairs)


# ----------------------------------------------------------------------------------------------------------- torch


def torch_backend():
    import torch
    import torch.nn.functional as F

    nchw = lambda x: x.permute(0, 3, 1, 2)
    nhwc = lambda x: x.permute(0, 2, 3, 1)

    def conv(c, x, f, groups):
        (top, bottom), (left, right) = paddings_of(c, f.shape[:2], x.shape[1:3])
        x = F.pad(nchw(x), (left, right, top, bottom))
        return nhwc(F.conv2d(x, f.permute(3, 2, 0, 1).contiguous(), stride=c.ints("strides"),
                             dilation=c.ints("dilations"), groups=groups))

    def conv_transpose(c, x, f):
        size = c.ints("output_size")
        (top, _), (left, _) = paddings_of(c, f.shape[:2], size)
        full = F.conv_transpose2d(nchw(x), f.permute(3, 2, 0, 1).contiguous(), stride=c.ints("strides"),
                                  dilation=c.ints("dilations"))
        full = F.pad(full, (0, max(0, left + size[1] - full.shape[3]), 0, max(0, top + size[0] - full.shape[2])))
        return nhwc(full[:, :, top : top + size[0], left : left + size[1]])

    def max_pool(c, x):
        window = c.ints("window")
        (top, bottom), (left, right) = paddings_of(c, window, x.shape[1:3])
        x = F.pad(nchw(x), (left, right, top, bottom), value=-torch.inf)
        return nhwc(F.max_pool2d(x, window, c.ints("strides")))

    def avg_pool(c, x):
        window = c.ints("window")
        (top, bottom), (left, right) = paddings_of(c, window, x.shape[1:3])
        pool = lambda v: F.avg_pool2d(F.pad(nchw(v), (left, right, top, bottom)), window, c.ints("strides"))
        return nhwc(pool(x) / pool(torch.ones_like(x)))

    def batch_norm(c, x, scale, offset, *moments):
        flat = x.reshape(-1, x.shape[-1])
        if moments:
            return F.batch_norm(flat, *moments, scale, offset, False, eps=c.float("epsilon")).reshape(x.shape)
        y = F.batch_norm(flat, None, None, scale, offset, True, eps=c.float("epsilon")).reshape(x.shape)
        return y, flat.mean(0), flat.var(0, unbiased=False)

    def reduced(f):
        return lambda c, x: f(x, tuple(c.ints("axes")), bool(c.int("keepdims")))

    def one_by_one(f):  # reductions that torch does over a single axis
        def g(x, axes, keep):
            for axis in sorted((a % x.ndim for a in axes), reverse=True):
                x = f(x, axis, keep)
            return x
        return g

    def matmul(c, a, b):
        return torch.matmul(a.mT if c.int("transpose_a") else a, b.mT if c.int("transpose_b") else b)

    def triangular_solve(c, a, b):
        lower, transpose = bool(c.int("lower")), bool(c.int("transpose"))
        return torch.linalg.solve_triangular(a.mT if transpose else a, b, upper=lower == transpose)

    def cumsum(c, x):
        axis = c.int("axis")
        x = x.flip(axis) if c.int("reverse") else x
        y = x.cumsum(axis) - (x if c.int("exclusive") else 0)
        return y.flip(axis) if c.int("reverse") else y

    def split(c, x):
        sizes = c.ints("sizes")
        return torch.split(x, sizes or x.shape[c.int("axis")] // c.int("num"), c.int("axis"))

    def lrn(c, x):  # torch divides alpha by the size of the window
        n = 2 * c.int("depth_radius") + 1
        k = c.float("bias")
        y = F.local_response_norm(nchw(x), n, alpha=c.float("alpha") * n, beta=c.float("beta"), k=k)
        return nhwc(y)

    def pad(c, x):  # torch begins with the last axis
        pairs = [p for i in reversed(range(x.ndim)) for p in c.ints("paddings")[2 * i : 2 * i + 2]]
        return F.pad(x, pairs, value=c.float("value"))

    def dense_cross_entropy(logits, labels):  # torch has the classes on axis 1
        classes = min(1, logits.ndim - 1)
        return F.cross_entropy(logits.movedim(-1, classes), labels.movedim(-1, classes), reduction="none")

    simple = {
        "neg": torch.neg, "abs": torch.abs, "sign": torch.sign, "exp": torch.exp, "log": torch.log,
        "log1p": torch.log1p,
        "expm1": torch.expm1, "sqrt": torch.sqrt, "rsqrt": torch.rsqrt, "square": torch.square,
        "reciprocal": torch.reciprocal, "sin": torch.sin, "cos": torch.cos, "tan": torch.tan, "tanh": torch.tanh,
        "sigmoid": torch.sigmoid, "relu": F.relu, "relu6": F.relu6, "selu": F.selu, "gelu": F.gelu, "silu": F.silu,
        "softplus": lambda x: F.softplus(x, threshold=700), "erf": torch.erf, "floor": torch.floor, "ceil": torch.ceil,
        "round": torch.round, "isnan": torch.isnan, "isfinite": torch.isfinite, "add": torch.add, "sub": torch.sub,
        "mul": torch.mul, "div": torch.div, "floordiv": lambda a, b: torch.div(a, b, rounding_mode="floor"),
        "mod": torch.remainder, "pow": torch.pow, "maximum": torch.maximum, "minimum": torch.minimum,
        "equal": torch.eq, "not_equal": torch.ne, "less": torch.lt, "less_equal": torch.le, "greater": torch.gt,
        "greater_equal": torch.ge, "logical_and": torch.logical_and, "logical_or": torch.logical_or,
        "logical_xor": torch.logical_xor, "logical_not": torch.logical_not, "select": torch.where, "where": torch.where,
        "identity": lambda x: x * 1, "zeros_like": torch.zeros_like, "ones_like": torch.ones_like,
        "matrix_inverse": torch.linalg.inv,
        "matrix_determinant": torch.linalg.det, "cholesky": torch.linalg.cholesky, "solve": torch.linalg.solve,
        "diag": torch.diag, "diag_part": torch.diag, "trace": torch.trace, "bias_add": torch.add,
        "sigmoid_cross_entropy_with_logits": lambda x, z: F.binary_cross_entropy_with_logits(x, z, reduction="none"),
        "embedding_lookup": lambda t, i: F.embedding(i, t), "l2_loss": lambda x: 0.5 * torch.linalg.vector_norm(x) ** 2,
        "mse": F.mse_loss,
        "softmax_cross_entropy_with_logits": dense_cross_entropy,
        "sparse_softmax_cross_entropy_with_logits": lambda x, y: F.cross_entropy(x.movedim(-1, 1), y, reduction="none"),
    }
    ops = {name: lambda c, *xs, f=f: f(*xs) for name, f in simple.items()}
    ops |= {
        "leaky_relu": lambda c, x: F.leaky_relu(x, c.float("alpha")),
        "elu": lambda c, x: F.elu(x, c.float("alpha")),
        "clip": lambda c, x: torch.clamp(x, c.float("min"), c.float("max")),
        "reshape": lambda c, x: x.reshape(c.ints("shape")),
        "transpose": lambda c, x: x.permute(c.ints("perm")),
        "expand_dims": lambda c, x: x.unsqueeze(c.int("axis")),
        "squeeze": lambda c, x: x.squeeze(tuple(c.ints("axes"))),
        "concat": lambda c, *xs: torch.cat(xs, c.int("axis")),
        "split": split,
        "stack": lambda c, *xs: torch.stack(xs, c.int("axis")),
        "unstack": lambda c, x: torch.unbind(x, c.int("axis")),
        "pad": pad,
        "tile": lambda c, x: x.tile(c.ints("multiples")),
        "reverse": lambda c, x: x.flip(c.ints("axes")),
        "broadcast_to": lambda c, x: x.broadcast_to(c.ints("shape")),
        "sort": lambda c, x: torch.sort(x, c.int("axis"), bool(c.int("descending")))[0],
        "top_k": lambda c, x: torch.topk(x, c.int("k")),
        "argmax": lambda c, x: torch.argmax(x, c.int("axis")),
        "argmin": lambda c, x: torch.argmin(x, c.int("axis")),
        "cumsum": cumsum,
        "matmul": matmul,
        "einsum": lambda c, *xs: torch.einsum(c.attrs["equation"], *xs),
        "triangular_solve": triangular_solve,
        "reduce_sum": reduced(torch.sum), "reduce_mean": reduced(torch.mean), "reduce_max": reduced(torch.amax),
        "reduce_min": reduced(torch.amin), "reduce_prod": reduced(one_by_one(torch.prod)),
        "reduce_any": reduced(one_by_one(torch.any)),
        "reduce_all": reduced(one_by_one(torch.all)), "reduce_logsumexp": reduced(torch.logsumexp),
        "norm": reduced(lambda x, axes, keep: torch.linalg.vector_norm(x, 2, axes, keep)),
        "softmax": lambda c, x: torch.softmax(x, c.int("axis")),
        "log_softmax": lambda c, x: torch.log_softmax(x, c.int("axis")),
        "conv2d": lambda c, x, f: conv(c, x, f, c.int("groups")),
        "depthwise_conv2d": lambda c, x, f: conv(c, x, f.reshape(*f.shape[:2], 1, -1), x.shape[3]),
        "conv2d_transpose": conv_transpose, "max_pool": max_pool, "avg_pool": avg_pool, "batch_norm": batch_norm,
        "local_response_normalization": lrn,
        "layer_norm": lambda c, x, scale, offset: F.layer_norm(x, scale.shape, scale, offset, c.float("epsilon")),
        "huber": lambda c, p, t: F.huber_loss(p, t, delta=c.float("delta")),
    }
    # torch promises no order among equals
    skip = {"top_k_ties"}

    def run(case):
        if case.op not in ops or case.name in skip:
            return False
        xs = [torch.tensor(v, requires_grad=any(i == k for k, _ in case.grads)) for i, (_, v) in enumerate(case.inputs)]
        ys = ops[case.op](case, *xs)
        ys = list(ys) if isinstance(ys, (tuple, list)) else [ys]
        for i, (y, expected) in enumerate(zip(ys, case.outs, strict=True)):
            agree(case, f"out {i}", y.detach(), expected)
        if case.weight:
            (ys[case.int("weight_output")] * torch.tensor(case.weight[1])).sum().backward()
            for i, expected in case.grads:
                agree(case, f"grad {i}", xs[i].grad, expected)
        return True

    def training():
        first, *runs = parse(GOLDEN / "digits_mlp.txt")
        data = np.loadtxt(ROOT / "examples" / "data" / "digits.csv", delimiter=",")[:160]
        x, y = torch.tensor(data[:, :64] / 16), torch.tensor(data[:, 64].astype(np.int64))
        for case in runs:
            w1, b1, w2, b2 = parameters = [torch.tensor(v.astype(np.float32).astype(np.float64),
                                                        requires_grad=True) for _, v in first.outs]
            lr = case.float("learning_rate")
            if case.op == "adagrad":
                start, epsilon = case.float("initial_accumulator"), case.float("epsilon")
                optimizer = torch.optim.Adagrad(parameters, lr, initial_accumulator_value=start, eps=epsilon)
            else:
                optimizer = torch.optim.SGD(parameters, lr, momentum=float(case.attrs.get("momentum", 0)))
            losses = []
            for step in range(20):
                at = slice(step * 32 % 160, step * 32 % 160 + 32)
                loss = F.cross_entropy(F.relu(x[at] @ w1 + b1) @ w2 + b2, y[at])
                losses.append(loss.item())
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            agree(case, "losses", losses, case.outs[0])
            agree(case, "b2", b2.detach(), case.outs[1])
        print(f"digits_mlp.txt: {len(runs)} trainings agree")

    return run, training


# ------------------------------------------------------------------------------------------------------ tensorflow


def tensorflow_backend():
    import tensorflow as tf

    def padding(c):
        if c.attrs["padding"] != "explicit":
            return c.attrs["padding"].upper()
        p = c.ints("paddings")
        return [[0, 0], [p[0], p[1]], [p[2], p[3]], [0, 0]]

    def conv2d(c, x, f):
        return tf.nn.conv2d(x, f, c.ints("strides"), padding(c), dilations=c.ints("dilations"))

    def depthwise(c, x, f):
        s = c.ints("strides")
        if s[0] != s[1]:
            return None
        return tf.nn.depthwise_conv2d(x, f, [1, *s, 1], padding(c), dilations=c.ints("dilations"))

    def transpose(c, x, f):
        if c.ints("dilations") != [1, 1]:
            return None
        shape = [x.shape[0], *c.ints("output_size"), f.shape[2]]
        return tf.nn.conv2d_transpose(x, f, shape, c.ints("strides"), padding(c))

    def lrn(c, x):  # its kernel knows float32 only
        y = tf.nn.local_response_normalization(tf.cast(x, tf.float32), c.int("depth_radius"), c.float("bias"),
                                               c.float("alpha"), c.float("beta"))
        return tf.cast(y, tf.float64)

    def batch_norm(c, x, scale, offset, *moments):
        mean, variance = moments or tf.nn.moments(x, list(range(x.ndim - 1)))
        y = tf.nn.batch_normalization(x, mean, variance, offset, scale, c.float("epsilon"))
        return y if moments else (y, mean, variance)

    ops = {
        "conv2d": conv2d, "depthwise_conv2d": depthwise, "conv2d_transpose": transpose,
        "local_response_normalization": lrn,
        "max_pool": lambda c, x: tf.nn.max_pool2d(x, c.ints("window"), c.ints("strides"), padding(c)),
        "avg_pool": lambda c, x: tf.nn.avg_pool2d(x, c.ints("window"), c.ints("strides"), padding(c)),
        "batch_norm": batch_norm,
        "softmax_cross_entropy_with_logits": lambda c, x, p: tf.nn.softmax_cross_entropy_with_logits(p, x),
        "sparse_softmax_cross_entropy_with_logits": lambda c, x, y: tf.nn.sparse_softmax_cross_entropy_with_logits(y,
                                                                                                                   x),
        "sigmoid_cross_entropy_with_logits": lambda c, x, z: tf.nn.sigmoid_cross_entropy_with_logits(z, x),
        "l2_loss": lambda c, x: tf.nn.l2_loss(x),
        "bias_add": lambda c, x, b: tf.nn.bias_add(x, b),
        "embedding_lookup": lambda c, t, i: tf.nn.embedding_lookup(t, i),
        "gather": lambda c, x, i: tf.gather(x, i, axis=c.int("axis")),
        "gather_nd": lambda c, x, i: tf.gather_nd(x, i),
        "scatter_nd": lambda c, i, u: tf.scatter_nd(i, u, c.ints("shape")),
        "one_hot": lambda c, i: tf.one_hot(i, c.int("depth"), c.float("on_value"), c.float("off_value"),
                                           dtype=tf.float64),
        "slice": lambda c, x: tf.slice(x, c.ints("begin"), c.ints("size")),
        "strided_slice": lambda c, x: tf.strided_slice(x, c.ints("begin"), c.ints("end"), c.ints("strides")),
        "cumsum": lambda c, x: tf.cumsum(x, c.int("axis"), bool(c.int("exclusive")), bool(c.int("reverse"))),
        "top_k": lambda c, x: tf.math.top_k(x, c.int("k")),
        "argmax": lambda c, x: tf.argmax(x, c.int("axis")),
        "argmin": lambda c, x: tf.argmin(x, c.int("axis")),
        "range": lambda c: tf.range(c.float("start"), c.float("limit"), c.float("step"), dtype=tf.float64),
        "shape": lambda c, x: tf.shape(x), "rank": lambda c, x: tf.rank(x), "size": lambda c, x: tf.size(x),
        "floordiv": lambda c, a, b: tf.math.floordiv(a, b), "mod": lambda c, a, b: tf.math.floormod(a, b),
        "matmul": lambda c, a, b: tf.matmul(a, b, bool(c.int("transpose_a")), bool(c.int("transpose_b"))),
        "einsum": lambda c, *xs: tf.einsum(c.attrs["equation"], *xs),
        "cholesky": lambda c, a: tf.linalg.cholesky(a),
        "triangular_solve": lambda c, a, b: tf.linalg.triangular_solve(a, b, bool(c.int("lower")),
                                                                       bool(c.int("transpose"))),
        "matrix_inverse": lambda c, a: tf.linalg.inv(a), "matrix_determinant": lambda c, a: tf.linalg.det(a),
        "solve": lambda c, a, b: tf.linalg.solve(a, b),
        "scatter_add": lambda c, v, i, u: tf.tensor_scatter_nd_add(v, i[:, None], u),
        "scatter_sub": lambda c, v, i, u: tf.tensor_scatter_nd_sub(v, i[:, None], u),
        "scatter_update": lambda c, v, i, u: tf.tensor_scatter_nd_update(v, i[:, None], u),
    }
    # repeated letters in one operand are not TensorFlow's einsum
    skip = {"einsum_trace", "einsum_diagonal"}

    def run(case):
        if case.op not in ops or case.name in skip:
            return False
        xs = [tf.constant(v) for _, v in case.inputs]
        slack = 30.0 if case.op == "local_response_normalization" else 1.0
        with tf.GradientTape() as tape:
            tape.watch([xs[i] for i, _ in case.grads])
            ys = ops[case.op](case, *xs)
            if ys is None:
                return False
            ys = list(ys) if isinstance(ys, tuple) else [ys]
            weighted = tf.reduce_sum(ys[case.int("weight_output")] * case.weight[1]) if case.weight else None
        for i, (y, expected) in enumerate(zip(ys, case.outs, strict=True)):
            agree(case, f"out {i}", y, expected, slack)
        if case.weight:
            try:
                gradients = tape.gradient(weighted, [xs[i] for i, _ in case.grads])
            except (tf.errors.InvalidArgumentError, tf.errors.UnimplementedError):
                print(f"{case.name}: value agrees; TensorFlow has no CPU gradient of it")
                return True
            for (i, expected), g in zip(case.grads, gradients, strict=True):
                agree(case, f"grad {i}", tf.convert_to_tensor(g), expected, slack)
        return True

    return run, lambda: None


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in ("torch", "tensorflow"):
        sys.exit(__doc__)
    run, training = torch_backend() if sys.argv[1] == "torch" else tensorflow_backend()
    for path in sorted((GOLDEN / "ops").glob("*.txt")):
        cases = parse(path)
        covered = sum(run(case) for case in cases)
        print(f"{path.name}: {covered} of {len(cases)} cases agree")
    training()
