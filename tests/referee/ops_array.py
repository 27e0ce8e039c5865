"""Array ops: making, moving, cutting, gathering and ordering elements."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from golden_writer import Family, literal


def none(_):
    return []


def array() -> Family:
    family = Family("array")
    case = family.case

    case("zeros", "zeros", none, None, lambda: np.zeros((2, 3)), {"shape": (2, 3)}, out=["f32"])
    case("ones_i32", "ones", none, None, lambda: np.ones((4,), int), {"shape": (4,)}, out=["i32"])
    case("fill", "fill", none, None, lambda: np.full((2, 2), 2.5), {"shape": (2, 2), "value": 2.5}, out=["f32"])
    case("fill_i64", "fill", none, None, lambda: np.full((3,), -7), {"shape": (3,), "value": -7}, out=["i64"])
    case("zeros_like", "zeros_like", lambda r: [r.floats(2, 3)], None, np.zeros_like)
    case("ones_like", "ones_like", lambda r: [r.floats(3, 1)], None, np.ones_like)
    for name, start, limit, step, dtype in (("range_i32", 2, 11, 3, "i32"), ("range_i64_down", 5, -4, -2, "i64"),
                                            ("range_f32", 0.0, 1.0, 0.25, "f32"),
                                            ("range_f32_uneven", 0.0, 1.0, 0.3, "f32"),
                                            ("range_one", 4, 5, 1, "i32")):
        case(name, "range", none, None, lambda: np.arange(start, limit, step),
             {"start": start, "limit": limit, "step": step}, out=[dtype])

    x23 = lambda r: [r.floats(2, 3)]
    case("identity", "identity", x23, lambda x: x, lambda x: x)
    case("stop_gradient", "stop_gradient", x23, None, lambda x: x)

    for name, shape, target in (("flatten", (2, 3), (6,)), ("split_axis", (6,), (3, 2)), ("merge", (2, 3, 4), (2, 12)),
                                ("ones_inserted", (2, 3), (1, 2, 1, 3)), ("to_scalar", (1, 1), ())):
        case(f"reshape_{name}", "reshape", lambda r: [r.floats(*shape)], lambda x: jnp.reshape(x, target),
             lambda x: np.reshape(x, target), {"shape": target})
    for name, shape, perm in (("matrix", (2, 3), (1, 0)), ("rotate", (2, 3, 4), (2, 0, 1)),
                              ("outer", (2, 3, 4), (1, 0, 2)),
                              ("inner", (2, 3, 2), (0, 2, 1)), ("same", (2, 3), (0, 1)),
                              ("four", (1, 2, 3, 2), (0, 3, 1, 2)),
                              ("size_one", (1, 5), (1, 0))):
        case(f"transpose_{name}", "transpose", lambda r: [r.floats(*shape)], lambda x: jnp.transpose(x, perm),
             lambda x: np.transpose(x, perm), {"perm": perm})
    for axis in (0, 1, 2, -1):
        case(f"expand_dims_{axis}", "expand_dims", x23, lambda x: jnp.expand_dims(x, axis),
             lambda x: np.expand_dims(x, axis), {"axis": axis})
    for name, shape, axes in (("one", (2, 1, 3), (1,)), ("two", (1, 4, 1), (0, 2)), ("negative", (3, 1), (-1,)),
                              ("to_scalar", (1,), (0,))):
        case(f"squeeze_{name}", "squeeze", lambda r: [r.floats(*shape)], lambda x: jnp.squeeze(x, axes),
             lambda x: np.squeeze(x, axes), {"axes": axes})

    for name, axis, shapes in (("vectors", 0, ((3,), (1,), (2,))), ("rows", 0, ((1, 3), (2, 3))),
                               ("columns", 1, ((2, 3), (2, 1), (2, 2))), ("inner", 2, ((1, 2, 3), (1, 2, 2))),
                               ("negative", -1, ((2, 2), (2, 3))), ("single", 0, ((4,),))):
        case(f"concat_{name}", "concat", lambda r: [r.floats(*s) for s in shapes],
             lambda *xs: jnp.concatenate(xs, axis), lambda *xs: np.concatenate(xs, axis), {"axis": axis})
    case("concat_i32", "concat", lambda r: [r.ints(2, lo=0, hi=9), r.ints(3, lo=0, hi=9)], None,
         lambda *xs: np.concatenate(xs, 0), {"axis": 0})
    for name, shape, axis, parts, weighted in (("rows", (4, 3), 0, 2, 0), ("columns", (2, 6), 1, 3, 1),
                                               ("last_of_three", (6,), 0, 3, 2),
                                               ("negative", (2, 4), -1, 2, 1)):
        case(f"split_{name}", "split", lambda r: [r.floats(*shape)], lambda x: jnp.split(x, parts, axis),
             lambda x: np.split(x, parts, axis), {"axis": axis, "num": parts}, weight_output=weighted)
    case("split_sizes", "split", lambda r: [r.floats(2, 6)], lambda x: jnp.split(x, (1, 4), 1),
         lambda x: np.split(x, (1, 4), 1), {"axis": 1, "sizes": (1, 3, 2)}, weight_output=1)
    for axis in (0, 1, -1):
        case(f"stack_{axis}", "stack", lambda r: [r.floats(2, 3), r.floats(2, 3)], lambda *xs: jnp.stack(xs, axis),
             lambda *xs: np.stack(xs, axis), {"axis": axis})
    case("stack_scalars", "stack", lambda r: [r.floats(), r.floats(), r.floats()], lambda *xs: jnp.stack(xs, 0),
         lambda *xs: np.stack(xs, 0), {"axis": 0})
    for axis in (0, 1):
        take = lambda np_, x: [np_.take(x, i, axis) for i in range(x.shape[axis])]
        case(f"unstack_{axis}", "unstack", x23, lambda x: take(jnp, x), lambda x: take(np, x), {"axis": axis},
             weight_output=1)

    for name, shape, begin, size in (("vector", (7,), (2,), (3,)), ("matrix", (3, 4), (1, 0), (2, 3)),
                                     ("cube", (2, 3, 4), (0, 1, 2), (2, 1, 2)), ("whole", (2, 2), (0, 0), (2, 2)),
                                     ("one_element", (3, 3), (2, 1), (1, 1))):
        cut = tuple(slice(b, b + s) for b, s in zip(begin, size))
        case(f"slice_{name}", "slice", lambda r: [r.floats(*shape)], lambda x: x[cut], lambda x: x[cut],
             {"begin": begin, "size": size})
    for name, shape, begin, end, strides in (
            ("every_second", (7,), (0,), (7,), (2,)), ("offset", (7,), (1,), (6,), (3,)),
            ("backward", (5,), (4,), (-6,), (-1,)), ("backward_by_two", (6,), (-1,), (0,), (-2,)),
            ("negative_indices", (6,), (-5,), (-1,), (1,)), ("matrix", (4, 5), (1, 0), (4, 5), (2, 2)),
            ("mixed", (3, 5), (2, 1), (-4, 5), (-1, 3)), ("beyond_the_end", (4,), (1,), (99,), (2,))):
        cut = tuple(slice(b, e, s) for b, e, s in zip(begin, end, strides))
        case(f"strided_slice_{name}", "strided_slice", lambda r: [r.floats(*shape)], lambda x: x[cut], lambda x: x[cut],
             {"begin": begin, "end": end, "strides": strides})

    for name, shape, paddings, value in (("vector", (3,), (1, 2), 0.0), ("matrix", (2, 3), (0, 1, 2, 0), 0.0),
                                         ("value", (2, 2), (1, 1, 1, 1), -1.5), ("nothing", (2, 2), (0, 0, 0, 0), 0.0),
                                         ("image", (1, 2, 2, 2), (0, 0, 1, 0, 0, 1, 0, 0), 0.0)):
        pairs = [(paddings[2 * i], paddings[2 * i + 1]) for i in range(len(shape))]
        case(f"pad_{name}", "pad", lambda r: [r.floats(*shape)], lambda x: jnp.pad(x, pairs, constant_values=value),
             lambda x: np.pad(x, pairs, constant_values=value), {"paddings": paddings, "value": value})
    for name, shape, multiples in (("vector", (3,), (3,)), ("matrix", (2, 3), (2, 2)), ("one_axis", (2, 3), (1, 2)),
                                   ("column", (3, 1), (1, 4)), ("cube", (1, 2, 2), (2, 1, 2))):
        case(f"tile_{name}", "tile", lambda r: [r.floats(*shape)], lambda x: jnp.tile(x, multiples),
             lambda x: np.tile(x, multiples), {"multiples": multiples})
    for name, shape, axes in (("vector", (5,), (0,)), ("columns", (2, 3), (1,)), ("both", (2, 3), (0, 1)),
                              ("negative", (2, 2, 2), (-1,))):
        case(f"reverse_{name}", "reverse", lambda r: [r.floats(*shape)], lambda x: jnp.flip(x, axes),
             lambda x: np.flip(x, axes), {"axes": axes})
    for name, shape, target in (("row", (3,), (2, 3)), ("column", (2, 1), (2, 3)), ("scalar", (), (2, 2)),
                                ("middle", (2, 1, 2), (2, 3, 2)), ("new_axes", (1, 2), (2, 3, 2)),
                                ("same", (2, 2), (2, 2))):
        case(f"broadcast_to_{name}", "broadcast_to", lambda r: [r.floats(*shape)],
             lambda x: jnp.broadcast_to(x, target),
             lambda x: np.broadcast_to(x, target), {"shape": target})

    for name, shape, axis, indices, dtype in (
            ("vector", (5,), 0, [4, 0, 0, 2], "i64"), ("rows", (4, 3), 0, [2, 0, 2], "i32"),
            ("columns", (2, 4), 1, [3, 1, 1], "i64"), ("matrix_of_indices", (4, 2), 0, [[0, 3], [3, 1]], "i64"),
            ("negative_axis", (2, 3), -1, [2, 2], "i32"), ("one", (3, 2), 0, [1], "i64"),
            ("scalar_index", (3, 2), 0, 2, "i64"),
            ("middle", (2, 3, 2), 1, [[2], [0]], "i64")):
        case(f"gather_{name}", "gather", lambda r: [r.floats(*shape), literal(indices, dtype)],
             lambda x, i: jnp.take(x, i, axis, mode="clip"), lambda x, i: np.take(x, i, axis), {"axis": axis})
    case("gather_of_i32", "gather", lambda r: [r.ints(5, lo=-9, hi=9), literal([1, 4], "i64")], None,
         lambda x, i: np.take(x, i, 0), {"axis": 0})
    nd = lambda x, i: x[tuple(i[..., k] for k in range(i.shape[-1]))]
    for name, shape, indices in (("elements", (3, 4), [[0, 1], [2, 3], [0, 1]]), ("rows", (3, 2), [[2], [0]]),
                                 ("of_cube", (2, 2, 3), [[1, 0], [0, 1]]),
                                 ("batch_of_indices", (3, 3), [[[0, 0]], [[2, 1]]])):
        case(f"gather_nd_{name}", "gather_nd", lambda r: [r.floats(*shape), literal(indices, "i64")], nd, nd)
    # scatter_nd(indices, updates): updates at the same place add up
    for name, shape, indices in (("vector", (6,), [[4], [1], [4]]), ("rows", (4, 2), [[3], [0]]),
                                 ("elements", (2, 3), [[0, 2], [1, 1], [0, 2]]), ("cube", (2, 2, 2), [[1, 0], [1, 0]])):
        depth = len(indices[0])

        def scatter(i, u):
            y = np.zeros(shape)
            np.add.at(y, tuple(i[..., k] for k in range(depth)), u)
            return y

        case(f"scatter_nd_{name}", "scatter_nd",
             lambda r: [literal(indices, "i64"), r.floats(len(indices), *shape[depth:])],
             lambda i, u: jnp.zeros(shape).at[tuple(i[..., k] for k in range(depth))].add(u), scatter, {"shape": shape})
    # Parts have room for all rows: -1 and zeros behind the last one. Numbers are the case's own: JAX would trace others.
    def partition(np_, parts, ids):
        def f(x, _):
            outs = []
            for p in range(parts):
                there = np.flatnonzero(np.array(ids) == p)
                behind = len(ids) - len(there)
                outs.append(np_.concatenate([x[there], np_.zeros((behind, *x.shape[1:]))]))
                outs.append(np_.concatenate([there, np_.full(behind, -1)]).astype(int))
            return outs

        return f

    for name, shape, parts, ids, dtype in (("rows", (5, 2), 2, [1, 0, 1, 1, 0], "i64"), ("vector", (4,), 3, [2, 2, 0, 2], "i32"),
                                           ("one", (3, 2), 1, [0, 0, 0], "i64"), ("cube", (3, 2, 2), 2, [0, 1, 0], "i64")):
        case(f"dynamic_partition_{name}", "dynamic_partition", lambda r: [r.floats(*shape), literal(ids, dtype)],
             partition(jnp, parts, ids), partition(np, parts, ids), {"parts": parts}, out=["f32", "i64"] * parts)

    def stitch(np_, n, positions):
        def f(*all_):
            y = np_.zeros((n, *all_[1].shape[1:]))
            for p, rows in zip(positions, all_[1::2], strict=True):
                there = np.flatnonzero(np.array(p) >= 0)
                at = np.array(p)[there]
                if np_ is np:
                    y[at] = rows[there]
                else:
                    y = y.at[at].set(rows[there])
            return y

        return f

    for name, n, width, positions in (("all", 5, (2,), ([4, 0], [1, 3, 2])), ("some", 4, (), ([3, -1], [-1, 0, -1])),
                                      ("one", 3, (1, 2), ([2, -1, 0],))):
        case(f"dynamic_stitch_{name}", "dynamic_stitch",
             lambda r: [a for p in positions for a in (literal(p, "i64"), r.floats(len(p), *width))],
             stitch(jnp, n, positions), stitch(np, n, positions), {"rows": n})

    def segments(np_, n, numbers):
        def f(_, x):
            ids = np.array(numbers)
            y, there = np_.zeros((n, *x.shape[ids.ndim:])), ids >= 0
            if np_ is jnp:
                return y.at[ids[there]].add(x[there])
            np.add.at(y, ids[there], x[there])
            return y

        return f

    for name, n, ids, width, dtype in (("sorted", 3, [0, 0, 1, 2, 2], (2,), "i64"), ("unsorted", 4, [3, 1, 3, 1], (), "i32"),
                                       ("some", 2, [1, -1, 1], (3,), "i64"), ("matrix", 3, [[0, 2], [2, -1]], (2,), "i64")):
        case(f"segment_sum_{name}", "segment_sum", lambda r: [literal(ids, dtype), r.floats(*np.shape(ids), *width)],
             segments(jnp, n, ids), segments(np, n, ids), {"segments": n})

    for name, indices, depth, on, off, dtype in (("plain", [2, 0, 1], 3, 1.0, 0.0, "i64"),
                                                 ("wide", [0, 4], 5, 1.0, 0.0, "i32"),
                                                 ("values", [1, 0], 2, 0.9, 0.1, "i64"),
                                                 ("matrix", [[0, 1], [2, 2]], 3, 1.0, 0.0, "i64"),
                                                 ("out_of_range_is_off", [0, -1, 3], 3, 1.0, 0.0, "i64")):
        case(f"one_hot_{name}", "one_hot", lambda r: [literal(indices, dtype)],
             lambda i: jax.nn.one_hot(i, depth, dtype=float) * (on - off) + off,
             lambda i: np.where(np.arange(depth) == i[..., None], on, off),
             {"depth": depth, "on_value": on, "off_value": off}, out=["f32"], grads=[])

    for shape in ((2, 3), (5,), (1, 2, 1), ()):
        label = "x".join(map(str, shape)) or "scalar"
        case(f"shape_{label}", "shape", lambda r: [r.floats(*shape)], None, lambda x: np.array(x.shape, int),
             out=["i64"])
        case(f"rank_{label}", "rank", lambda r: [r.floats(*shape)], None, lambda x: np.array(x.ndim), out=["i64"])
        case(f"size_{label}", "size", lambda r: [r.floats(*shape)], None, lambda x: np.array(x.size), out=["i64"])

    for name, shape, axis, descending in (("vector", (7,), 0, False), ("vector_descending", (7,), 0, True),
                                          ("rows", (2, 5), 1, False), ("columns", (4, 2), 0, False),
                                          ("last_descending", (2, 2, 3), -1, True), ("size_one", (1,), 0, False)):
        case(f"sort_{name}", "sort", lambda r: [r.distinct(*shape)], lambda x: jnp.sort(x, axis, descending=descending),
             lambda x: np.flip(np.sort(x, axis), axis) if descending else np.sort(x, axis),
             {"axis": axis, "descending": descending})
    case("sort_ties_i32", "sort", lambda r: [literal([3, 1, 3, -2, 1], "i32")], None, np.sort,
         {"axis": 0, "descending": False})

    def top_k(x, k):  # of equal elements the first comes first
        order = np.argsort(-x, axis=-1, kind="stable")[..., :k]
        return np.take_along_axis(x, order, -1), order

    for name, shape, k in (("vector", (6,), 3), ("rows", (3, 5), 2), ("one", (2, 4), 1), ("all", (4,), 4),
                           ("cube", (2, 2, 3), 2)):
        case(f"top_k_{name}", "top_k", lambda r: [r.distinct(*shape)], lambda x: lax.top_k(x, k), lambda x: top_k(x, k),
             {"k": k}, out=["f32", "i64"])
    case("top_k_ties", "top_k", lambda r: [literal([1, 3, 2, 3, 1])], lambda x: lax.top_k(x, 3), lambda x: top_k(x, 3),
         {"k": 3}, out=["f32", "i64"], grads=[])
    for op in ("argmax", "argmin"):
        for name, shape, axis in (("vector", (7,), 0), ("rows", (3, 4), 1), ("columns", (3, 4), 0),
                                  ("negative", (2, 2, 3), -1),
                                  ("middle", (2, 3, 2), 1), ("size_one", (3, 1), 1)):
            case(f"{op}_{name}", op, lambda r: [r.distinct(*shape)], lambda x: getattr(jnp, op)(x, axis),
                 lambda x: getattr(np, op)(x, axis), {"axis": axis}, out=["i64"])
        case(f"{op}_first_of_equals", op, lambda r: [literal([[1, 2, 2], [0, 0, 1]])], lambda x: getattr(jnp, op)(x, 1),
             lambda x: getattr(np, op)(x, 1), {"axis": 1}, out=["i64"])
        case(f"{op}_i32", op, lambda r: [literal([4, -3, 9, 9, -3], "i32")], lambda x: getattr(jnp, op)(x, 0),
             lambda x: getattr(np, op)(x, 0), {"axis": 0}, out=["i64"])

    def cumsum(np_, x, axis, exclusive, reverse):
        if reverse:
            x = np_.flip(x, axis)
        y = np_.cumsum(x, axis)
        y = y - x if exclusive else y
        return np_.flip(y, axis) if reverse else y

    for exclusive in (False, True):
        for reverse in (False, True):
            for name, shape, axis in (("vector", (5,), 0), ("rows", (2, 3), 1)):
                label = name + "_exclusive" * exclusive + "_reverse" * reverse
                case(f"cumsum_{label}", "cumsum", lambda r: [r.floats(*shape)],
                     lambda x: cumsum(jnp, x, axis, exclusive, reverse),
                     lambda x: cumsum(np, x, axis, exclusive, reverse),
                     {"axis": axis, "exclusive": exclusive, "reverse": reverse})
    for name, shape, axis in (("columns", (3, 2), 0), ("negative", (2, 2, 3), -1), ("middle", (2, 3, 2), 1)):
        case(f"cumsum_{name}", "cumsum", lambda r: [r.floats(*shape)], lambda x: jnp.cumsum(x, axis),
             lambda x: np.cumsum(x, axis), {"axis": axis, "exclusive": False, "reverse": False})
    case("cumsum_i32", "cumsum", lambda r: [literal([3, -1, 4, 1], "i32")], None, lambda x: np.cumsum(x, 0),
         {"axis": 0, "exclusive": False, "reverse": False})

    case("where_same", "where", lambda r: [r.bools(2, 3), r.floats(2, 3), r.floats(2, 3)], jnp.where, np.where)
    case("where_row_condition", "where", lambda r: [r.bools(3), r.floats(2, 3), r.floats(1)], jnp.where, np.where)
    return family
