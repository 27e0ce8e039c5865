"""Every kernel in the element types beside f32 and f64, and on empty operands."""

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special
from jax import lax

from golden_writer import Family, literal
from ops_neural import conv2d_jax, conv2d_loops, conv2d_transpose_jax, conv2d_transpose_loops, pool_loops, window_jax


def take(np_):
    return lambda x, i: np_.take(x, i, 0, **({"mode": "clip"} if np_ is jnp else {}))


def scatter(np_, n):
    def f(i, u):
        if np_ is jnp:
            return jnp.zeros((n, *u.shape[1:])).at[i[:, 0]].add(u)
        y = np.zeros((n, *u.shape[1:]), u.dtype)
        np.add.at(y, i[:, 0], u)
        return y

    return f


def sparse(np_, log_softmax):
    return lambda x, l: -np_.take_along_axis(log_softmax(x, axis=-1), l[..., None], -1)[..., 0]


def batch_norm(np_):
    def f(x, scale, offset):
        mean, variance = np_.mean(x, (0, 1, 2)), np_.var(x, (0, 1, 2))
        return (x - mean) / np_.sqrt(variance + 1e-3) * scale + offset, mean, variance

    return f


def layer_norm(np_):
    def f(x, scale, offset):
        mean, variance = np_.mean(x, -1, keepdims=True), np_.var(x, -1, keepdims=True)
        return (x - mean) / np_.sqrt(variance + 1e-5) * scale + offset

    return f


def lrn(x, near):
    return x * (1.0 + 0.5 * near(x * x)) ** -0.75


def lrn_jax(x):
    return lrn(x, lambda s: lax.reduce_window(s, 0.0, lax.add, (1, 3), (1, 1), ((0, 0), (1, 1))))


def lrn_numpy(x):
    return lrn(x, lambda s: np.stack([s[:, max(c - 1, 0) : c + 2].sum(1) for c in range(s.shape[1])], 1))


def einsum(np_, equation):
    return lambda *xs: np_.einsum(equation, *xs)


def small_floats(case, d):
    """f16 and bf16: the exact result rounded once. Long sums show an accumulator of 16 bits."""
    def row(name, op, shapes, fn, ref=None, attrs=None, extra=(), **more):
        case(f"{name}_{d}", op, lambda r: [*[r.floats(*s, dtype=d) for s in shapes], *extra], fn, ref, attrs, **more)

    plain = {"transpose_a": 0, "transpose_b": 0}
    row("matmul_odd", "matmul", [(3, 5), (5, 7)], jnp.matmul, np.matmul, plain)
    row("matmul_long", "matmul", [(2, 65), (65, 1)], jnp.matmul, np.matmul, plain, grads=[])
    row("matmul_transposed_b", "matmul", [(2, 3, 5), (2, 2, 5)], lambda a, b: a @ b.swapaxes(-1, -2),
        lambda a, b: a @ b.swapaxes(-1, -2), {"transpose_a": 0, "transpose_b": 1})
    row("einsum_bilinear", "einsum", [(2, 3), (3, 3, 2)], einsum(jnp, "bi,ijk->bjk"), einsum(np, "bi,ijk->bjk"),
        {"equation": "bi,ijk->bjk"})
    row("einsum_three", "einsum", [(3,), (3,), (3,)], einsum(jnp, "i,i,i->i"), einsum(np, "i,i,i->i"),
        {"equation": "i,i,i->i"})
    for name, axes in (("rows", 1), ("columns", 0), ("all", (0, 1))):
        attrs = {"axes": axes if isinstance(axes, tuple) else (axes,), "keepdims": 0}
        row(f"reduce_sum_{name}", "reduce_sum", [(3, 5)], lambda x: jnp.sum(x, axes), lambda x: np.sum(x, axes), attrs)
        row(f"reduce_mean_{name}", "reduce_mean", [(3, 5)], lambda x: jnp.mean(x, axes), lambda x: np.mean(x, axes),
            attrs)
    one = {"axes": (0,), "keepdims": 0}
    row("reduce_sum_long", "reduce_sum", [(131,)], jnp.sum, np.sum, one, grads=[])
    case(f"reduce_mean_large_{d}", "reduce_mean", lambda r: [r.floats(9, lo=30000, hi=60000, dtype=d)], jnp.mean, np.mean,
         one, grads=[])
    row("reduce_prod", "reduce_prod", [(2, 3)], lambda x: jnp.prod(x, 1), lambda x: np.prod(x, 1),
        {"axes": (1,), "keepdims": 0})
    for name in ("max", "min"):
        case(f"reduce_{name}_{d}", f"reduce_{name}", lambda r: [r.distinct(3, 5, dtype=d)],
             lambda x: getattr(jnp, name)(x, 1), lambda x: getattr(np, name)(x, 1), {"axes": (1,), "keepdims": 0})
    row("reduce_logsumexp", "reduce_logsumexp", [(3, 5)], lambda x: jax.scipy.special.logsumexp(x, 1),
        lambda x: scipy.special.logsumexp(x, 1), {"axes": (1,), "keepdims": 0})
    row("norm", "norm", [(3, 5)], lambda x: jnp.linalg.norm(x, axis=0), lambda x: np.linalg.norm(x, axis=0),
        {"axes": (0,), "keepdims": 0})
    for name, axis in (("rows", 1), ("columns", 0)):
        row(f"softmax_{name}", "softmax", [(3, 5)], lambda x: jax.nn.softmax(x, axis),
            lambda x: scipy.special.softmax(x, axis), {"axis": axis})
        row(f"log_softmax_{name}", "log_softmax", [(3, 5)], lambda x: jax.nn.log_softmax(x, axis),
            lambda x: scipy.special.log_softmax(x, axis), {"axis": axis})
    row("sparse_cross_entropy", "sparse_softmax_cross_entropy_with_logits", [(3, 5)], sparse(jnp, jax.nn.log_softmax),
        sparse(np, scipy.special.log_softmax), extra=[literal([4, 0, 2], "i64")])
    for name, filters, strides, groups in (("3x3", (3, 3, 2, 3), (1, 1), 1), ("strided", (2, 2, 2, 1), (2, 2), 1),
                                           ("depthwise", (2, 2, 1, 2), (1, 1), 2)):
        how = (strides, (1, 1), "same", groups)
        row(f"conv2d_{name}", "conv2d", [(1, 3, 4, 2), filters], lambda x, f: conv2d_jax(x, f, *how),
            lambda x, f: conv2d_loops(x, f, *how),
            {"strides": strides, "dilations": (1, 1), "padding": "same", "groups": groups})
    up = ((4, 4), (2, 2), (1, 1), "same")
    row("conv2d_transpose", "conv2d_transpose", [(1, 2, 2, 2), (3, 3, 1, 2)],
        lambda x, f: conv2d_transpose_jax(x, f, *up), lambda x, f: conv2d_transpose_loops(x, f, *up),
        {"output_size": (4, 4), "strides": (2, 2), "dilations": (1, 1), "padding": "same"})
    pool = {"window": (2, 2), "strides": (2, 2), "padding": "same"}
    case(f"max_pool_{d}", "max_pool", lambda r: [r.distinct(1, 3, 3, 2, dtype=d)],
         lambda x: window_jax(x, -jnp.inf, lax.max, (2, 2), (2, 2), "same"),
         lambda x: pool_loops(x, (2, 2), (2, 2), "same", max), pool)
    row("avg_pool", "avg_pool", [(1, 3, 3, 2)],
        lambda x: window_jax(x, 0.0, lax.add, (2, 2), (2, 2), "same")
        / window_jax(jnp.ones_like(x), 0.0, lax.add, (2, 2), (2, 2), "same"),
        lambda x: pool_loops(x, (2, 2), (2, 2), "same", np.mean), pool)
    row("batch_norm", "batch_norm", [(2, 3, 3, 2), (2,), (2,)], batch_norm(jnp), batch_norm(np),
        {"training": 1, "epsilon": 1e-3})
    row("layer_norm", "layer_norm", [(3, 5), (5,), (5,)], layer_norm(jnp), layer_norm(np), {"axis": -1, "epsilon": 1e-5})
    row("local_response_normalization", "local_response_normalization", [(2, 5)], lrn_jax, lrn_numpy,
        {"depth_radius": 1, "bias": 1.0, "alpha": 0.5, "beta": 0.75})
    row("bias_add", "bias_add", [(3, 5), (5,)], jnp.add, np.add)
    row("embedding_lookup", "embedding_lookup", [(5, 3)], take(jnp), take(np), extra=[literal([4, 0, 4, 4], "i32")])
    row("gather_repeated", "gather", [(5, 3)], take(jnp), take(np), {"axis": 0}, extra=[literal([1, 1, 1, 3], "i64")])
    case(f"scatter_nd_repeated_{d}", "scatter_nd",
         lambda r: [literal([[1], [3], [1], [1]], "i64"), r.floats(4, 3, dtype=d)], scatter(jnp, 5), scatter(np, 5),
         {"shape": (5, 3)})
    case(f"segment_sum_{d}", "segment_sum", lambda r: [literal([1, 3, 1, 1], "i64"), r.floats(4, 3, dtype=d)],
         lambda i, x: jnp.zeros((5, 3)).at[i].add(x), lambda i, x: scatter(np, 5)(i[:, None], x), {"segments": 5})
    row("cumsum", "cumsum", [(3, 7)], lambda x: jnp.cumsum(x, 1), lambda x: np.cumsum(x, 1),
        {"axis": 1, "exclusive": 0, "reverse": 0})
    case(f"sort_{d}", "sort", lambda r: [r.distinct(3, 5, dtype=d)], lambda x: jnp.sort(x, 1), lambda x: np.sort(x, 1),
         {"axis": 1, "descending": 0})


def any_type(case, d):
    """What moves or compares elements, in one type."""
    if d == "bool":
        values = lambda r, *shape: r.bools(*shape)
    elif d in ("f16", "bf16"):
        values = lambda r, *shape: r.distinct(*shape, dtype=d)
    else:
        values = lambda r, *shape: r.ints(*shape, lo=0 if d == "u8" else -100, hi=120, dtype=d)
    row = lambda name, op, shape, fn, attrs=None, **more: case(f"{name}_{d}", op, lambda r: [values(r, *shape)], None, fn,
                                                               attrs, **more)
    row("transpose", "transpose", (2, 3, 5), lambda x: x.transpose(2, 0, 1), {"perm": (2, 0, 1)})
    row("slice", "slice", (3, 5), lambda x: x[1:3, 2:5], {"begin": (1, 2), "size": (2, 3)})
    row("strided_slice", "strided_slice", (3, 5), lambda x: x[::2, ::-2],
        {"begin": (0, -1), "end": (3, -6), "strides": (2, -2)})
    row("pad", "pad", (2, 3), lambda x: np.pad(x, ((1, 0), (0, 2)), constant_values=1), {"paddings": (1, 0, 0, 2),
                                                                                        "value": 1})
    row("tile", "tile", (2, 3), lambda x: np.tile(x, (2, 2)), {"multiples": (2, 2)})
    row("reverse", "reverse", (3, 5), lambda x: x[:, ::-1], {"axes": (1,)})
    row("broadcast_to", "broadcast_to", (3, 1), lambda x: np.broadcast_to(x, (2, 3, 5)), {"shape": (2, 3, 5)})
    case(f"concat_{d}", "concat", lambda r: [values(r, 2, 3), values(r, 2, 1)], None,
         lambda a, b: np.concatenate([a, b], 1), {"axis": 1})
    case(f"gather_{d}", "gather", lambda r: [values(r, 5, 3), literal([4, 0, 4], "i64")], None, lambda x, i: x[i],
         {"axis": 0}, out=[d], grads=[])
    case(f"gather_nd_{d}", "gather_nd", lambda r: [values(r, 3, 5), literal([[2, 4], [0, 1]], "i32")], None,
         lambda x, i: x[tuple(i.T)], out=[d], grads=[])
    case(f"dynamic_stitch_{d}", "dynamic_stitch",
         lambda r: [literal([2, -1], "i64"), values(r, 2, 3), literal([0], "i32"), values(r, 1, 3)], None,
         lambda p, x, q, y: np.stack([y[0], np.zeros_like(y[0]), x[0]]), {"rows": 3}, out=[d], grads=[])
    row("argmax", "argmax", (3, 7), lambda x: np.argmax(x, 1), {"axis": 1}, out=["i64"])
    row("argmin", "argmin", (3, 7), lambda x: np.argmin(x, 0), {"axis": 0}, out=["i64"])

    def top(x):
        order = np.argsort(-x.astype(np.float64), -1, kind="stable")[:, :3]
        return np.take_along_axis(x, order, -1), order

    row("top_k", "top_k", (2, 7), top, {"k": 3}, out=[d, "i64"])
    case(f"one_hot_{d}", "one_hot", lambda r: [literal([2, 0, 7], "i64")], None, lambda i: np.eye(4)[np.minimum(i, 4) % 4]
         * (i < 4)[:, None], {"depth": 4, "on_value": 1, "off_value": 0}, out=[d], grads=[])


def integers(case, d):
    """Sums and products wrap around, as NumPy's do."""
    lo, hi = (0, 200) if d == "u8" else (-100, 120)
    ints = lambda r, *shape: r.ints(*shape, lo=lo, hi=hi, dtype=d)
    row = lambda name, op, shapes, fn, attrs=None, **more: case(f"{name}_{d}", op, lambda r: [ints(r, *s) for s in shapes],
                                                                None, fn, attrs, **more)
    row("matmul_odd", "matmul", [(3, 5), (5, 7)], np.matmul, {"transpose_a": 0, "transpose_b": 0})
    row("einsum_bilinear", "einsum", [(2, 3), (3, 3, 2)], einsum(np, "bi,ijk->bjk"), {"equation": "bi,ijk->bjk"})
    for name, fn in (("sum", np.sum), ("prod", np.prod), ("max", np.max), ("min", np.min)):
        for label, axis in (("rows", 1), ("columns", 0)):
            row(f"reduce_{name}_{label}", f"reduce_{name}", [(3, 7)], lambda x: fn(x, axis),
                {"axes": (axis,), "keepdims": 0})
    row("cumsum", "cumsum", [(3, 7)], lambda x: np.cumsum(x, 1), {"axis": 1, "exclusive": 0, "reverse": 0})
    row("sort", "sort", [(3, 5)], lambda x: -np.sort(-x, 1), {"axis": 1, "descending": 1})
    case(f"scatter_nd_repeated_{d}", "scatter_nd", lambda r: [literal([[1], [3], [1]], "i64"), ints(r, 3, 2)], None,
         scatter(np, 5), {"shape": (5, 2)}, out=[d], grads=[])
    case(f"segment_sum_{d}", "segment_sum", lambda r: [literal([1, 3, 1], "i64"), ints(r, 3, 2)], None,
         lambda i, x: scatter(np, 5)(i[:, None], x), {"segments": 5}, out=[d], grads=[])


def empty(case):
    """Extents of zero: sums of nothing, and results without elements."""
    row = lambda name, op, shapes, fn, ref=None, attrs=None, extra=(), **more: case(
        f"empty_{name}", op, lambda r: [*[r.floats(*s) for s in shapes], *extra], fn, ref or fn, attrs, **more)
    plain = {"transpose_a": 0, "transpose_b": 0}
    row("matmul_rows", "matmul", [(0, 3), (3, 2)], jnp.matmul, np.matmul, plain)
    row("matmul_inner", "matmul", [(2, 0), (0, 3)], jnp.matmul, np.matmul, plain)
    row("matmul_batch", "matmul", [(0, 2, 3), (3, 2)], jnp.matmul, np.matmul, plain)
    row("einsum_inner", "einsum", [(2, 0), (0, 3)], einsum(jnp, "ij,jk->ik"), einsum(np, "ij,jk->ik"),
        {"equation": "ij,jk->ik"})
    for name, shape, axis in (("inner", (3, 0), 1), ("outer", (0, 3), 0), ("kept", (0, 3), 1)):
        attrs = {"axes": (axis,), "keepdims": 0}
        row(f"reduce_sum_{name}", "reduce_sum", [shape], lambda x: jnp.sum(x, axis), lambda x: np.sum(x, axis), attrs)
        row(f"reduce_prod_{name}", "reduce_prod", [shape], lambda x: jnp.prod(x, axis), lambda x: np.prod(x, axis), attrs)
    row("reduce_max_kept", "reduce_max", [(0, 3)], lambda x: jnp.max(x, 1), lambda x: np.max(x, 1),
        {"axes": (1,), "keepdims": 0})
    row("softmax", "softmax", [(0, 4)], lambda x: jax.nn.softmax(x, 1), lambda x: scipy.special.softmax(x, 1), {"axis": 1})
    row("log_softmax_columns", "log_softmax", [(3, 0)], lambda x: jax.nn.log_softmax(x, 0), None, {"axis": 0})
    row("sparse_cross_entropy", "sparse_softmax_cross_entropy_with_logits", [(0, 4)], sparse(jnp, jax.nn.log_softmax),
        sparse(np, scipy.special.log_softmax), extra=[literal(np.zeros(0, int), "i64")])
    how = ((1, 1), (1, 1), "same", 1)
    row("conv2d", "conv2d", [(0, 3, 3, 2), (2, 2, 2, 3)], lambda x, f: conv2d_jax(x, f, *how),
        lambda x, f: conv2d_loops(x, f, *how),
        {"strides": (1, 1), "dilations": (1, 1), "padding": "same", "groups": 1})
    row("max_pool", "max_pool", [(0, 4, 4, 2)], lambda x: window_jax(x, -jnp.inf, lax.max, (2, 2), (2, 2), "valid"),
        lambda x: pool_loops(x, (2, 2), (2, 2), "valid", max), {"window": (2, 2), "strides": (2, 2), "padding": "valid"})
    row("avg_pool", "avg_pool", [(0, 4, 4, 2)],
        lambda x: window_jax(x, 0.0, lax.add, (2, 2), (2, 2), "valid") / 4,
        lambda x: pool_loops(x, (2, 2), (2, 2), "valid", np.mean),
        {"window": (2, 2), "strides": (2, 2), "padding": "valid"})
    row("layer_norm", "layer_norm", [(0, 4), (4,), (4,)], layer_norm(jnp), layer_norm(np), {"axis": -1, "epsilon": 1e-5})
    row("add_broadcast", "add", [(0, 3), (3,)], jnp.add, np.add)
    row("concat", "concat", [(0, 3), (2, 3)], lambda a, b: jnp.concatenate([a, b]), lambda a, b: np.concatenate([a, b]),
        {"axis": 0})
    row("slice", "slice", [(3, 4)], lambda x: x[1:1], lambda x: x[1:1], {"begin": (1, 0), "size": (0, 4)})
    row("pad", "pad", [(0, 2)], lambda x: jnp.pad(x, ((1, 1), (0, 0)), constant_values=2),
        lambda x: np.pad(x, ((1, 1), (0, 0)), constant_values=2), {"paddings": (1, 1, 0, 0), "value": 2})
    row("transpose", "transpose", [(2, 0, 3)], lambda x: x.transpose(2, 1, 0), None, {"perm": (2, 1, 0)})
    row("broadcast_to", "broadcast_to", [(1, 3)], lambda x: jnp.broadcast_to(x, (0, 3)),
        lambda x: np.broadcast_to(x, (0, 3)), {"shape": (0, 3)})
    row("gather", "gather", [(4, 3)], take(jnp), take(np), {"axis": 0}, extra=[literal(np.zeros(0, int), "i64")])
    row("embedding_lookup", "embedding_lookup", [(4, 3)], take(jnp), take(np), extra=[literal(np.zeros(0, int), "i32")])
    case("empty_dynamic_partition", "dynamic_partition", lambda r: [r.floats(0, 3), literal(np.zeros(0, int), "i64")],
         lambda x, i: [x, i], lambda x, i: [x, i], {"parts": 1}, out=["f32", "i64"])
    case("empty_segment_sum", "segment_sum", lambda r: [literal(np.zeros(0, int), "i64"), r.floats(0, 3)],
         lambda i, x: jnp.zeros((2, 3)).at[i].add(x), lambda i, x: np.zeros((2, 3)), {"segments": 2})
    row("cumsum", "cumsum", [(2, 0)], lambda x: jnp.cumsum(x, 1), lambda x: np.cumsum(x, 1),
        {"axis": 1, "exclusive": 0, "reverse": 0})
    row("sort", "sort", [(0, 3)], lambda x: jnp.sort(x, 1), lambda x: np.sort(x, 1), {"axis": 1, "descending": 0})


def types() -> Family:
    family = Family("types")
    for d in ("f16", "bf16"):
        small_floats(family.case, d)
    for d in ("bool", "i8", "u8", "i32", "i64", "f16", "bf16"):
        any_type(family.case, d)
    for d in ("i8", "u8", "i32", "i64"):
        integers(family.case, d)
    empty(family.case)
    return family
