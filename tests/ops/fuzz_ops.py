"""What fuzz.py draws: for each op random operands and attributes, and what NumPy makes of them."""

import math
from dataclasses import dataclass, field

import numpy as np

FLOATS = ("f16", "f32", "f64")
INTS = ("i8", "u8", "i32", "i64")
TYPES = {"bool": np.bool_, "i8": np.int8, "u8": np.uint8, "i32": np.int32, "i64": np.int64,
         "f16": np.float16, "f32": np.float32, "f64": np.float64}
NAMES = {np.dtype(v): k for k, v in TYPES.items()}
MAX_RANK = 8


@dataclass
class Case:
    op: str
    inputs: list
    expected: list | None = None  # None: the step is refused
    words: list = field(default_factory=list)
    declared: tuple | None = None  # type and extents of the result, where the op is asked for them
    looser: float = 1.0
    named: bool = True  # extents may have names


class Draw:
    def __init__(self, seed: int):
        self.r = np.random.default_rng(seed)

    def one(self, *of):
        return of[self.r.integers(len(of))]

    def chance(self, p: float) -> bool:
        return bool(self.r.random() < p)

    def number(self, lo: int, hi: int) -> int:
        return int(self.r.integers(lo, hi + 1))

    def extent(self) -> int:
        return self.one(0, 1, 1, 2, 3, 4, 5, 7, self.number(1, 40))

    def shape(self, least: int = 0, most: int = 4) -> tuple:
        shape = [self.extent() for _ in range(self.number(least, most))]
        while math.prod(max(n, 1) for n in shape) > 5000:
            shape[shape.index(max(shape))] = self.number(0, 3)
        return tuple(shape)

    def plain(self, t: str, shape: tuple):
        """Numbers of moderate size: what is added up in any order."""
        if t == "bool":
            return self.r.integers(0, 2, shape).astype(np.bool_)
        if t in INTS:
            return self.r.integers(0 if t == "u8" else -100, 100, shape).astype(TYPES[t])
        return np.round(self.r.uniform(-2, 2, shape), 3).astype(TYPES[t])

    def edges(self, t: str, shape: tuple):
        """Numbers of all sizes, and those that are special."""
        if t == "bool":
            return self.plain(t, shape)
        kind = TYPES[t]
        if t in INTS:
            info = np.iinfo(kind)
            special = [0, 1, 2, info.max, info.min, info.max - 1, info.min + 1, info.max // 2]
            if t == "i64":
                special += [2**53 + 1, -(2**53) - 1, 2**31, -(2**31) - 1]
            wide = self.r.integers(info.min, info.max, shape, dtype=kind, endpoint=True)
        else:
            info = np.finfo(kind)
            special = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, np.inf, -np.inf, np.nan, info.max, info.min,
                       info.tiny, info.smallest_subnormal, info.eps, 88.7, -88.7, 709.7, 1e-3, 30.0, -30.0, 3.0]
            wide = (self.r.standard_normal(shape) * 10.0 ** self.r.integers(-3, 4, shape)).astype(kind)
        with np.errstate(over="ignore"):
            chosen = np.array(special).astype(kind) if t in FLOATS else np.array(special, dtype=kind)
        return np.where(self.r.random(shape) < 0.4, self.r.choice(chosen, shape), wide).astype(kind)

    def values(self, t: str, shape: tuple):
        return self.edges(t, shape) if self.chance(0.5) else self.plain(t, shape)

    def broadcast(self, shape: tuple) -> tuple:
        """A shape that broadcasts to this one."""
        cut = shape[self.number(0, len(shape)):] if self.chance(0.3) else shape
        return tuple(1 if self.chance(0.25) else n for n in cut)


def wide(x):
    return x.astype(np.float32) if x.dtype == np.float16 else x


def as_type(x, dtype):
    with np.errstate(all="ignore"):
        return np.asarray(x).astype(dtype)


def double(word: float) -> int:
    return int(np.array(word, np.float64).view(np.int64))


def word(x) -> int:
    """A number of an element type as a word of the graph."""
    return double(float(x)) if np.asarray(x).dtype.kind == "f" else int(x)


def mask(axes) -> int:
    return sum(1 << a for a in axes)


# Element by element.

def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


UNARY = {"neg": (np.negative, "all"), "abs": (np.abs, "all"), "square": (np.square, "all"),
         "sign": (lambda x: np.where(np.isnan(x), x, np.sign(x)) if x.dtype.kind == "f" else np.sign(x), "all"),
         "relu": (lambda x: np.maximum(x, 0), "all"), "exp": (np.exp, "f"), "log": (np.log, "f"), "log1p": (np.log1p, "f"),
         "expm1": (np.expm1, "f"), "sqrt": (np.sqrt, "f"), "rsqrt": (lambda x: 1 / np.sqrt(x), "f"),
         "reciprocal": (lambda x: 1 / x, "f"), "sin": (np.sin, "f"), "cos": (np.cos, "f"), "tan": (np.tan, "f"),
         "tanh": (np.tanh, "f"), "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), "f"), "softplus": (softplus, "f"),
         "floor": (np.floor, "f"), "ceil": (np.ceil, "f"), "round": (np.rint, "f"), "isnan": (np.isnan, "f"),
         "isfinite": (np.isfinite, "f"), "logical_not": (np.logical_not, "b")}


def unary(d: Draw, op: str) -> Case:
    f, kinds = UNARY[op]
    t = "bool" if kinds == "b" else d.one(*FLOATS) if kinds == "f" else d.one(*FLOATS, *INTS)
    x = d.values(t, d.shape())
    if op in ("sin", "cos", "tan") and t != "f64":
        x = np.clip(x, -60000, 60000)
    y = f(wide(x))
    looser = 10 if op in ("tan", "softplus", "sigmoid", "log1p", "expm1", "tanh") else 4
    return Case(op, [x], [y if y.dtype == np.bool_ else as_type(y, x.dtype)], looser=looser)


def nan_of_either(f):
    return lambda a, b: np.where(np.isnan(a), a, np.where(np.isnan(b), b, f(a, b))) if a.dtype.kind == "f" else f(a, b)


BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "floordiv": np.floor_divide,
          "mod": np.mod, "pow": np.power, "maximum": nan_of_either(np.maximum), "minimum": nan_of_either(np.minimum),
          "equal": np.equal, "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal,
          "greater": np.greater, "greater_equal": np.greater_equal, "logical_and": np.logical_and,
          "logical_or": np.logical_or, "logical_xor": np.logical_xor}


def binary(d: Draw, op: str) -> Case:
    t = "bool" if op.startswith("logical") else d.one(*FLOATS) if op in ("div", "pow") else d.one(*FLOATS, *INTS)
    shape = d.shape()
    a, b = d.values(t, d.broadcast(shape)), d.values(t, d.broadcast(shape))
    if op in ("floordiv", "mod"):
        if t in FLOATS:
            a, b = d.plain(t, a.shape), d.plain(t, b.shape)
            b = np.where(b == 0, TYPES[t](1), b)
        elif not d.chance(0.1):
            b = np.where(b == 0, TYPES[t](1), b)
        elif np.any(np.broadcast_arrays(a, b)[1] == 0):
            return Case(op, [a, b])
    y = BINARY[op](wide(a), wide(b))
    return Case(op, [a, b], [y if y.dtype == np.bool_ else as_type(y, a.dtype)], looser=20 if op in ("pow", "mod") else 1)


def select(d: Draw) -> Case:
    t, shape = d.one(*TYPES), d.shape()
    c, a, b = (d.values(k, d.broadcast(shape)) for k in ("bool", t, t))
    return Case("select", [c, a, b], [np.where(c, a, b)])


def saturated(x, dtype):
    if x.dtype.kind != "f" or dtype.kind not in "iu":
        return as_type(x, dtype)
    info, y = np.iinfo(dtype), x.astype(np.float64)
    # The greatest of 64 bits is no double: what reaches 2^63 is beyond.
    inside = (y > float(info.min)) & (y < float(info.max))
    return np.where(np.isnan(y), 0, np.where(y <= float(info.min), info.min, np.where(
        inside, np.trunc(np.where(inside, y, 0)).astype(np.int64), info.max))).astype(dtype)


def cast(d: Draw) -> Case:
    a, b = d.one(*TYPES), d.one(*TYPES)
    x = d.values(a, d.shape())
    return Case("cast", [x], [saturated(x, np.dtype(TYPES[b]))], declared=(b, ()))


# Where elements are.

def broadcast_to(d: Draw) -> Case:
    shape = d.shape()
    x = d.values(d.one(*TYPES), d.broadcast(shape))
    return Case("broadcast_to", [x], [np.broadcast_to(x, shape)], declared=(NAMES[x.dtype], shape))


def reshape(d: Draw) -> Case:
    x = d.values(d.one(*TYPES), d.shape())
    shape = list(x.shape)
    d.r.shuffle(shape)
    if len(shape) > 1 and d.chance(0.5):
        shape = [shape[0] * shape[1], *shape[2:]]
    if d.chance(0.3):
        shape.insert(d.number(0, len(shape)), 1)
    return Case("reshape", [x], [x.reshape(shape)], declared=(NAMES[x.dtype], tuple(shape)), named=False)


def transpose(d: Draw) -> Case:
    x = d.values(d.one(*TYPES), d.shape(0, 6))
    axes = [int(a) for a in d.r.permutation(x.ndim)]
    return Case("transpose", [x], [x.transpose(axes)], [sum(a << (4 * i) for i, a in enumerate(axes))])


def concat(d: Draw) -> Case:
    t, shape = d.one(*TYPES), d.shape(1)
    axis = d.number(0, len(shape) - 1)
    parts = [d.values(t, (*shape[:axis], d.extent(), *shape[axis + 1:])) for _ in range(d.number(1, 8))]
    return Case("concat", parts, [np.concatenate(parts, axis)], [axis])


def split(d: Draw) -> Case:
    shape = d.shape(1)
    axis, sizes = d.number(0, len(shape) - 1), [d.number(0, 5) for _ in range(d.number(2, 8))]
    x = d.values(d.one(*TYPES), (*shape[:axis], sum(sizes), *shape[axis + 1:]))
    return Case("split", [x], np.split(x, np.cumsum(sizes)[:-1], axis), [axis, len(sizes), *sizes, *[0] * (8 - len(sizes))],
                named=False)


def padded(words) -> list:
    return [*words, *[0] * (MAX_RANK - len(words))]


def slice_(d: Draw) -> Case:
    x = d.values(d.one(*TYPES), d.shape())
    size = tuple(d.number(0, n) for n in x.shape)
    begin = [d.number(0, n - s) for n, s in zip(x.shape, size)]
    cut = tuple(slice(b, b + s) for b, s in zip(begin, size))
    if x.ndim and d.chance(0.1):
        begin[0] = x.shape[0] - size[0] + 1
        return Case("slice", [x], None, padded(begin), (NAMES[x.dtype], size))
    return Case("slice", [x], [x[cut]], padded(begin), (NAMES[x.dtype], size))


def pad(d: Draw) -> Case:
    x = d.values(d.one(*TYPES), d.shape())
    pads = [(d.number(0, 3), d.number(0, 3)) for _ in x.shape]
    value = d.values(NAMES[x.dtype], ())
    shape = tuple((n, sum(p)) for n, p in zip(x.shape, pads))
    return Case("pad", [x], [np.pad(x, pads, constant_values=value) if pads else x],
                [*padded([p[0] for p in pads]), word(value)], (NAMES[x.dtype], shape))


EDGE = 2**63 - 1


def strides(d: Draw, shape: tuple):
    begin, end, stride, cut = [], [], [], []
    for n in shape:
        s = d.one(1, 1, 2, 3, -1, -2)
        b, e = d.one(EDGE, d.number(-n - 1, n + 1)), d.one(EDGE, d.number(-n - 1, n + 1))
        begin.append(b), end.append(e), stride.append(s)
        cut.append(slice(None if b == EDGE else b, None if e == EDGE else e, s))
    return [*padded(begin), *padded(end), *stride, *[1] * (MAX_RANK - len(shape))], tuple(cut)


def strided_slice(d: Draw) -> Case:
    x = d.values(d.one(*TYPES), d.shape())
    words, cut = strides(d, x.shape)
    return Case("strided_slice", [x], [x[cut]], words, named=False)


def strided_slice_gradient(d: Draw) -> Case:
    shape = d.shape()
    words, cut = strides(d, shape)
    y = np.zeros(shape, TYPES[d.one(*FLOATS)])
    dy = d.values(NAMES[y.dtype], y[cut].shape)
    y[cut] = dy
    return Case("strided_slice_gradient", [dy], [y], words, (NAMES[y.dtype], shape), named=False)


def tile(d: Draw) -> Case:
    x = d.values(d.one(*TYPES), d.shape(0, 3))
    counts = [d.number(1, 3) for _ in x.shape]
    return Case("tile", [x], [np.tile(x, counts)], padded(counts))


def reverse(d: Draw) -> Case:
    x = d.values(d.one(*TYPES), d.shape())
    axes = [a for a in range(x.ndim) if d.chance(0.5)]
    return Case("reverse", [x], [np.flip(x, axes)], [mask(axes)])


# Reductions and order.

REDUCTIONS = {"reduce_sum": np.sum, "reduce_prod": np.prod, "reduce_max": np.max, "reduce_min": np.min,
              "reduce_any": np.any, "reduce_all": np.all}


def reduction(d: Draw, op: str) -> Case:
    extreme = op in ("reduce_max", "reduce_min")
    t = "bool" if op in ("reduce_any", "reduce_all") else d.one(*FLOATS, *INTS)
    x = d.values(t, d.shape()) if extreme or t not in FLOATS else d.plain(t, d.shape())
    if op == "reduce_prod" and t in FLOATS:
        x = np.sign(x) * (0.7 + np.abs(x) / 4)
        x = x.astype(TYPES[t])
    axes, keep = tuple(a for a in range(x.ndim) if d.chance(0.5)), d.chance(0.5)
    more = {}
    if extreme:
        least = -np.inf if t in FLOATS else np.iinfo(TYPES[t]).min
        most = np.inf if t in FLOATS else np.iinfo(TYPES[t]).max
        more["initial"] = least if op == "reduce_max" else most
    elif t in INTS:
        more["dtype"] = TYPES[t]
    y = REDUCTIONS[op](x.astype(np.float64) if t in FLOATS else x, axis=axes, keepdims=keep, **more)
    return Case(op, [x], [as_type(y, x.dtype)], [mask(axes), int(keep)], looser=100)


def along(x, axis):
    greatest = np.max(x, axis, keepdims=True, initial=-np.inf)
    greatest = np.where(np.isfinite(greatest), greatest, 0)
    e = np.exp(x - greatest)
    return greatest, e, np.sum(e, axis, keepdims=True)


def softmax(d: Draw, op: str) -> Case:
    t, shape = d.one(*FLOATS), d.shape(1)
    x, axis = d.plain(t, shape) * d.one(1, 30), d.number(0, len(shape) - 1)
    x = x.astype(TYPES[t])
    greatest, e, total = along(x.astype(np.float64), axis)
    y = e / total if op == "softmax" else x.astype(np.float64) - greatest - np.log(total)
    return Case(op, [x], [as_type(y, x.dtype)], [axis], looser=20)


def extreme_position(d: Draw, op: str) -> Case:
    x = d.values(d.one(*TYPES), d.shape(1))
    axis = d.number(0, x.ndim - 1)
    f = np.argmax if op == "argmax" else np.argmin
    y = f(x, axis) if x.shape[axis] else np.zeros([n for i, n in enumerate(x.shape) if i != axis])
    return Case(op, [x], [np.asarray(y, np.int64)], [axis])


def order(x, descending: bool):
    """Along the last axis: stable, NaN last."""
    key = x.astype(np.int64) if x.dtype.kind in "bui" else x
    if descending:
        # The bits of an integer in the other order: the least one has no negative.
        return np.argsort(~key if key.dtype.kind == "i" else -key, -1, kind="stable")
    return np.argsort(key, -1, kind="stable")


def argsort(d: Draw) -> Case:
    x = d.values(d.one(*TYPES), d.shape(1))
    axis, descending = d.number(0, x.ndim - 1), d.chance(0.5)
    y = np.moveaxis(order(np.moveaxis(x, axis, -1), descending), -1, axis)
    return Case("argsort", [x], [y.astype(np.int64)], [axis, int(descending)])


def top_k(d: Draw) -> Case:
    x, k = d.values(d.one(*TYPES), d.shape(1)), d.number(1, 6)
    if k > x.shape[-1]:
        return Case("top_k", [x], None, [k])
    at = order(x, True)[..., :k]
    return Case("top_k", [x], [np.take_along_axis(x, at, -1), at.astype(np.int64)], [k])


def cumsum(d: Draw) -> Case:
    t = d.one(*FLOATS, *INTS)
    x = d.plain(t, d.shape(1)) if t in FLOATS else d.values(t, d.shape(1))
    axis, exclusive, backwards = d.number(0, x.ndim - 1), d.chance(0.5), d.chance(0.5)
    y = np.flip(x, axis) if backwards else x
    total = np.cumsum(y.astype(np.float64) if t in FLOATS else y, axis, dtype=None if t in FLOATS else TYPES[t])
    if exclusive:
        first = np.zeros((*x.shape[:axis], min(1, x.shape[axis]), *x.shape[axis + 1:]), total.dtype)
        total = np.concatenate([first, np.delete(total, -1, axis) if x.shape[axis] else total], axis)
    y = np.flip(total, axis) if backwards else total
    return Case("cumsum", [x], [as_type(y, x.dtype)], [axis, int(exclusive), int(backwards)], looser=100)


# Elements by position.

def indices(d: Draw, shape: tuple, n: int, least: int = 0):
    """Of an axis of n elements; now and then one that it does not have."""
    i = d.r.integers(least, max(n, least + 1), shape)
    if i.size and d.chance(0.05):
        i.ravel()[d.number(0, i.size - 1)] = d.one(n, least - 1, -(2**31) if least else 2**31 - 1)
    ok = bool(np.all((i >= least) & (i < n)))
    return i.astype(TYPES[d.one("i32", "i64")]), ok


def gather(d: Draw) -> Case:
    x = d.values(d.one(*TYPES), d.shape(1, 3))
    axis = d.number(0, x.ndim - 1)
    i, ok = indices(d, d.shape(0, 2), x.shape[axis])
    y = np.take(x, i, axis) if ok and x.shape[axis] else np.zeros((*x.shape[:axis], *i.shape, *x.shape[axis + 1:]), x.dtype)
    return Case("gather", [x, i], [y] if ok or y.size == 0 and i.size == 0 else None if y.size else "either", [axis])


def added(shape: tuple, at, rows):
    y = np.zeros(shape, np.float64 if rows.dtype.kind == "f" else rows.dtype)
    np.add.at(y, at, rows)
    return as_type(y, rows.dtype)


def gather_gradient(d: Draw) -> Case:
    shape = d.shape(1, 3)
    axis = d.number(0, len(shape) - 1)
    i, ok = indices(d, d.shape(0, 2), shape[axis])
    dy = d.plain(d.one(*FLOATS, *INTS), (*shape[:axis], *i.shape, *shape[axis + 1:]))
    y = None
    if ok:
        y = [added(shape, (slice(None),) * axis + (i,), dy)]
    return Case("gather_gradient", [i, dy], y if ok or dy.size else "either", [axis], (NAMES[dy.dtype], shape), 20)


def nd(d: Draw, shape: tuple):
    depth = d.number(1, len(shape))
    at = d.shape(0, 2)
    i, ok = np.zeros((*at, depth), np.int64), True
    for k in range(depth):
        i[..., k], fine = indices(d, at, shape[k])
        ok = ok and fine
    return i.astype(TYPES[d.one("i32", "i64")]), ok, depth


def gather_nd(d: Draw) -> Case:
    x = d.values(d.one(*TYPES), d.shape(1, 3))
    i, ok, depth = nd(d, x.shape)
    y = x[tuple(i[..., k] for k in range(depth))] if ok else None
    empty = math.prod((*i.shape[:-1], *x.shape[depth:])) == 0
    return Case("gather_nd", [x, i], [y] if ok else "either" if empty else None, named=False)


def scatter_nd(d: Draw) -> Case:
    shape = d.shape(1, 3)
    i, ok, depth = nd(d, shape)
    rows = d.plain(d.one(*FLOATS, *INTS), (*i.shape[:-1], *shape[depth:]))
    y = [added(shape, tuple(i[..., k] for k in range(depth)), rows)] if ok else None
    return Case("scatter_nd", [i, rows], y if ok or rows.size else "either", declared=(NAMES[rows.dtype], shape), looser=20,
                named=False)


def take_along_axis(d: Draw) -> Case:
    x = d.values(d.one(*TYPES), d.shape(1, 3))
    axis = d.number(0, x.ndim - 1)
    i, ok = indices(d, (*x.shape[:axis], d.extent(), *x.shape[axis + 1:]), x.shape[axis])
    return Case("take_along_axis", [x, i], [np.take_along_axis(x, i.astype(np.int64), axis)] if ok else None, [axis])


def take_along_axis_gradient(d: Draw) -> Case:
    shape = d.shape(1, 3)
    axis = d.number(0, len(shape) - 1)
    i, ok = indices(d, (*shape[:axis], d.extent(), *shape[axis + 1:]), shape[axis])
    dy = d.plain(d.one(*FLOATS, *INTS), i.shape)
    at = list(np.indices(i.shape, sparse=True))
    at[axis] = i
    y = [added(shape, tuple(at), dy)] if ok else None
    return Case("take_along_axis_gradient", [i, dy], y, [axis], (NAMES[dy.dtype], shape), 20)


def lookup(d: Draw, op: str) -> Case:
    table = d.values(d.one(*TYPES), d.shape(1, 3))
    i, ok = indices(d, d.shape(0, 2), table.shape[0], -1 if op == "lookup_some" else 0)
    width = table.shape[1:]
    if not ok:
        return Case(op, [table, i])
    some = i >= 0
    y = np.zeros((*i.shape, *width), table.dtype)
    y[some] = table[i[some]]
    return Case(op, [table, i], [y])


def rows_added(d: Draw, op: str) -> Case:
    """Rows at indices, -1 for none where the op has that."""
    shape = d.shape(1, 3)
    some = op == "segment_sum" or (op == "indexed_slices" and d.chance(0.5))
    i, ok = indices(d, d.shape(1, 2), shape[0], -1 if some else 0)
    t = d.one(*FLOATS, *INTS) if op == "segment_sum" else d.one(*FLOATS)
    x = d.plain(t, (*i.shape, *shape[1:]))
    there = i >= 0
    y = [added(shape, i[there], x[there])] if ok else None
    words = [1] if op == "indexed_slices" and some else []
    return Case(op, [i, x], y, words, (t, shape), looser=20)


def sum_duplicates(d: Draw) -> Case:
    i, _ = indices(d, d.shape(1, 1), 6, -1)
    i = np.clip(i, -1, 5)
    x = d.plain(d.one(*FLOATS), (*i.shape, *d.shape(0, 2)))
    y, first = np.zeros(x.shape, np.float64), {}
    for k, at in enumerate(i):
        if at >= 0:
            y[first.setdefault(int(at), k)] += x[k]
    return Case("sum_duplicates", [i, x], [as_type(y, x.dtype)], looser=20)


def part_positions(d: Draw) -> Case:
    parts = d.number(1, 4)
    i, ok = indices(d, (d.extent(),), parts)
    part = d.number(0, parts - 1)
    there = np.flatnonzero(i == part)
    y = np.concatenate([there, np.full(len(i) - len(there), -1)]).astype(np.int64)
    return Case("part_positions", [i], [y] if ok else None, [part, parts])


def dynamic_stitch(d: Draw) -> Case:
    n, width, t = d.extent(), d.shape(0, 2), d.one(*TYPES)
    free, inputs, twice = [int(k) for k in d.r.permutation(n)], [], d.chance(0.1)
    y = np.zeros((n, *width), TYPES[t])
    for _ in range(d.number(1, 4)):
        p = np.array([free.pop() if free and d.chance(0.6) else -1 for _ in range(d.extent())], np.int64)
        rows = d.values(t, (len(p), *width))
        y[p[p >= 0]] = rows[p >= 0]
        inputs += [p, rows]
    used = inputs[0][inputs[0] >= 0]
    if twice and len(used) and np.any(inputs[0] < 0):
        inputs[0][np.flatnonzero(inputs[0] < 0)[0]] = used[0]
        return Case("dynamic_stitch", inputs, None, declared=(t, (n, *width)))
    return Case("dynamic_stitch", inputs, [y], declared=(t, (n, *width)))


def rows_set(d: Draw, op: str) -> Case:
    t = d.one(*TYPES) if op == "set_rows" else d.one(*FLOATS)
    x = d.plain(t, d.shape(1, 3))
    i, ok = indices(d, d.shape(0, 1), x.shape[0])
    rows = d.plain(t, (*i.shape, *x.shape[1:]))
    y = x.astype(np.float64) if op == "add_rows" else x.copy()
    if ok and op == "add_rows":
        np.add.at(y, i, rows)
    elif ok:
        for k in np.ndindex(i.shape):
            y[i[k]] = rows[k]
    return Case(op, [x, i, rows], [as_type(y, x.dtype)] if ok else None, looser=20)


# Out of nothing.

def one_hot(d: Draw) -> Case:
    i, depth = d.r.integers(-2, 7, d.shape(0, 3)).astype(TYPES[d.one("i32", "i64")]), d.number(0, 6)
    t = d.one(*TYPES)
    on, off = d.values(t, ()), d.values(t, ())
    y = np.where(np.arange(depth) == i[..., None], on, off).astype(TYPES[t])
    return Case("one_hot", [i], [y], [word(on), word(off)], (t, (*i.shape, depth)))


def range_(d: Draw) -> Case:
    t, n = d.one(*FLOATS, *INTS), d.extent()
    if t in FLOATS:
        start, step = d.plain("f64", ()), d.plain("f64", ())
        y = start + np.arange(n) * step
    else:
        start, step = d.values(t, ()), d.plain("i8", ())
        y = np.array([(int(start) + k * int(step)) & (2**64 - 1) for k in range(n)], np.uint64)
    return Case("range", [], [as_type(y, TYPES[t])], [word(start), word(step)], (t, (n,)), named=False)


def shape(d: Draw) -> Case:
    x = d.values(d.one(*TYPES), d.shape())
    return Case("shape", [x], [np.array(x.shape, np.int64)])


# Matrices and images.

def matmul(d: Draw) -> Case:
    t = d.one(*FLOATS, *INTS)
    m, k, n = (d.one(0, 1, 2, 5, 9, d.number(1, 40)) for _ in range(3))
    lead = d.shape(0, 2) if max(m, k, n) < 12 else ()
    ta, tb = d.chance(0.4), d.chance(0.4)
    a = d.plain(t, (*d.broadcast(lead), *((k, m) if ta else (m, k))))
    b = d.plain(t, (*d.broadcast(lead), *((n, k) if tb else (k, n))))
    exact = np.float64 if t in FLOATS else TYPES[t]
    left, right = (np.swapaxes(x, -1, -2) if s else x for x, s in ((a.astype(exact), ta), (b.astype(exact), tb)))
    return Case("matmul", [a, b], [as_type(np.matmul(left, right), a.dtype)], [int(ta), int(tb)], looser=100)


def band_part(d: Draw) -> Case:
    x = d.values(d.one(*TYPES), (*d.shape(0, 2), d.extent(), d.extent()))
    low, high = d.number(-1, 4), d.number(-1, 4)
    i, j = np.indices(x.shape[-2:])
    keep = ((low < 0) | (i - j <= low)) & ((high < 0) | (j - i <= high))
    return Case("band_part", [x], [np.where(keep, x, np.zeros((), x.dtype))], [low, high])


def diag(d: Draw) -> Case:
    x = d.values(d.one(*TYPES), (*d.shape(0, 2), d.extent()))
    y = np.zeros((*x.shape, x.shape[-1]), x.dtype)
    at = np.arange(x.shape[-1])
    y[..., at, at] = x
    return Case("diag", [x], [y])


def diag_part(d: Draw) -> Case:
    n = d.extent()
    x = d.values(d.one(*TYPES), (*d.shape(0, 2), n, n))
    return Case("diag_part", [x], [np.diagonal(x, 0, -2, -1)])


def window(d: Draw, same: bool, n: int, size: int, stride: int, dilation: int):
    """Padding in front, and the number of places."""
    span = (size - 1) * dilation + 1
    if not same:
        before, after = d.number(0, min(2, size - 1)), d.number(0, min(2, size - 1))
        return before, after, (n + before + after - span) // stride + 1 if n + before + after >= span else -1
    out = -(-n // stride)
    total = max((out - 1) * stride + span - n, 0)
    return total // 2, total - total // 2, out


def images(d: Draw, op: str) -> Case:
    t, same, channels_first = d.one(*FLOATS), d.chance(0.4), d.chance(0.3)
    n, h, w, c = d.one(0, 1, 2), d.number(0, 9), d.number(0, 9), d.one(1, 2, 3, 8)
    size, stride = (d.number(1, 3), d.number(1, 3)), (d.number(1, 3), d.number(1, 3))
    dilation = (d.number(1, 2), d.number(1, 2)) if op == "conv2d" else (1, 1)
    places = [window(d, same, e, *rest) for e, rest in zip((h, w), zip(size, stride, dilation))]
    x = d.plain(t, (n, h, w, c))
    padding = [1 if same else 2, *([0] * 4 if same else [places[0][0], places[0][1], places[1][0], places[1][1]])]
    fed = np.ascontiguousarray(x.transpose(0, 3, 1, 2)) if channels_first else x
    if op == "conv2d":
        groups = d.one(*[g for g in (1, 2, c) if c % g == 0])
        outs = groups * d.number(1, 3)
        f = d.plain(t, (*size, c // groups, outs))
        case = Case(op, [fed, f], None, [*stride, *dilation, *padding, groups, int(channels_first)], looser=100, named=False)
    else:
        groups, outs = c, c
        case = Case(op, [fed], None, [*size, *stride, *padding, int(channels_first)], looser=20)
    if places[0][2] < 0 or places[1][2] < 0:
        return case
    (top, _, rows), (left, _, columns) = places
    y = np.zeros((n, rows, columns, outs), np.float64)
    xs = x.astype(np.float64)
    for i in range(rows):
        for j in range(columns):
            seen = [(u, v, i * stride[0] + u * dilation[0] - top, j * stride[1] + v * dilation[1] - left)
                    for u in range(size[0]) for v in range(size[1])]
            seen = [s for s in seen if 0 <= s[2] < h and 0 <= s[3] < w]
            if op == "conv2d":
                for u, v, p, q in seen:
                    for k in range(outs):
                        group, width = k // (outs // groups), c // groups
                        y[:, i, j, k] += xs[:, p, q, group * width:(group + 1) * width] @ f[u, v, :, k].astype(np.float64)
            elif seen:
                taps = np.stack([xs[:, p, q] for _, _, p, q in seen])
                y[:, i, j] = taps.max(0) if op == "max_pool" else taps.mean(0)
            else:
                return Case("shape", [x], [np.array(x.shape, np.int64)])  # a window of padding alone has no value
    y = y.transpose(0, 3, 1, 2) if channels_first else y
    case.expected = [as_type(y, x.dtype)]
    return case


OPS = {
    **{op: (lambda d, op=op: unary(d, op)) for op in UNARY},
    **{op: (lambda d, op=op: binary(d, op)) for op in BINARY},
    **{op: (lambda d, op=op: reduction(d, op)) for op in REDUCTIONS},
    **{op: (lambda d, op=op: softmax(d, op)) for op in ("softmax", "log_softmax")},
    **{op: (lambda d, op=op: extreme_position(d, op)) for op in ("argmax", "argmin")},
    **{op: (lambda d, op=op: lookup(d, op)) for op in ("embedding_lookup", "lookup_some")},
    **{op: (lambda d, op=op: rows_added(d, op)) for op in ("indexed_slices", "segment_sum")},
    **{op: (lambda d, op=op: rows_set(d, op)) for op in ("set_rows", "add_rows")},
    **{op: (lambda d, op=op: images(d, op)) for op in ("conv2d", "max_pool", "avg_pool")},
    **{f.__name__.rstrip("_"): f for f in (
        select, cast, broadcast_to, reshape, transpose, concat, split, slice_, pad, strided_slice, strided_slice_gradient,
        tile, reverse, argsort, top_k, cumsum, gather, gather_gradient, gather_nd, scatter_nd, take_along_axis,
        take_along_axis_gradient, sum_duplicates, part_positions, dynamic_stitch, one_hot, range_, shape, matmul, band_part,
        diag, diag_part)},
}
