"""Builds golden cases: evaluates an op with its referees, holds them against each other, and writes the text format.

Inputs are rounded to the case's dtype and then evaluated in double precision, so an expected float32 number is the
exact result rounded once, not what some float32 kernel happened to compute.
"""

import zlib
from dataclasses import dataclass, field
from pathlib import Path

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_enable_x64", True)

GOLDEN = Path(__file__).resolve().parents[1] / "golden"

NUMPY_TYPE = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "i8": np.int8,
    "u8": np.uint8,
    "i32": np.int32,
    "i64": np.int64,
    "u32": np.uint32,
    "bool": np.bool_,
}
FLOATS = ("f16", "bf16", "f32", "f64")


@dataclass
class Array:
    dtype: str
    values: np.ndarray  # of the wide type: float64, int64 or bool

    def __post_init__(self):
        wide = np.float64 if self.dtype in FLOATS else np.bool_ if self.dtype == "bool" else np.int64
        narrow = np.asarray(self.values)
        if self.dtype == "bf16":
            narrow = narrow.astype(np.float32)
        with np.errstate(over="ignore"):  # a result beyond the dtype is its infinity
            self.values = narrow.astype(NUMPY_TYPE[self.dtype]).astype(wide)

    def text(self) -> str:
        words = [self.dtype, *map(str, self.values.shape), ":"]
        return " ".join(words + [number(v, self.dtype) for v in self.values.ravel()])


def number(v, dtype: str) -> str:
    """The shortest text that reads back as the same number of this dtype."""
    if dtype not in FLOATS:
        return str(int(v))
    if dtype in ("f16", "bf16"):
        return str(np.float32(v)).removesuffix(".0")
    text = str(NUMPY_TYPE[dtype](v)).removesuffix(".0")
    assert np.isnan(v) or NUMPY_TYPE[dtype](float(text)) == NUMPY_TYPE[dtype](v), text
    return text


class Random:
    """Seeded by the case's name: adding a case changes no other."""

    def __init__(self, name: str):
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))

    def floats(self, *shape, lo=-2.0, hi=2.0, dtype="f32") -> Array:
        return Array(dtype, np.round(self.rng.uniform(lo, hi, shape), 3))

    def positive(self, *shape, lo=0.2, hi=3.0, dtype="f32") -> Array:
        return self.floats(*shape, lo=lo, hi=hi, dtype=dtype)

    def nonzero(self, *shape, lo=0.2, hi=2.0, dtype="f32") -> Array:
        """Both signs, away from zero: for divisors and for functions with a kink there."""
        sign = self.rng.choice([-1.0, 1.0], shape)
        return Array(dtype, np.round(sign * self.rng.uniform(lo, hi, shape), 3))

    def distinct(self, *shape, step=0.13, dtype="f32") -> Array:
        """No two elements equal, none zero: an order, a maximum or a kink is never ambiguous."""
        count = int(np.prod(shape))
        grid = (np.arange(count) - count // 2 + 0.5) * step
        return Array(dtype, np.round(self.rng.permutation(grid), 3).reshape(shape))

    def ints(self, *shape, lo, hi, dtype="i32") -> Array:
        return Array(dtype, self.rng.integers(lo, hi, shape))

    def bools(self, *shape) -> Array:
        return Array("bool", self.rng.integers(0, 2, shape))

    def spd(self, *shape, dtype="f64") -> Array:
        """Symmetric positive definite, well conditioned."""
        m = self.rng.uniform(-1, 1, shape)
        return Array(dtype, np.round(m @ np.swapaxes(m, -1, -2) + 1.5 * np.eye(shape[-1]), 3))

    def invertible(self, *shape, dtype="f64") -> Array:
        return Array(dtype, np.round(self.rng.uniform(-1, 1, shape) + 2.0 * np.eye(shape[-1]), 3))


def literal(values, dtype="f32") -> Array:
    return Array(dtype, np.array(values))


@dataclass
class Family:
    """One golden file."""

    name: str
    cases: list = field(default_factory=list)
    names: set = field(default_factory=set)

    def case(self, name, op, inputs, fn, ref=None, attrs=None, out=None, grads=None, weight_output=0):
        """inputs: Random -> [Array].
        fn: the JAX function; its gradient is the expected gradient. None where JAX has no part.
        ref: the NumPy/SciPy function; must agree with fn, and its values are written.
        out: dtypes of the outputs, where they do not follow from the inputs.
        grads: which inputs to differentiate; default all floating ones if the output is floating; [] for none.
        """
        assert name not in self.names, name
        self.names.add(name)
        attrs = attrs or {}
        random = Random(name)
        ins = inputs(random)
        wide = [a.values for a in ins]

        values = None
        if fn is not None:
            values = as_list(fn(*map(jnp.asarray, wide)))
        if ref is not None:
            with np.errstate(all="ignore"):
                expected = as_list(ref(*wide))
            for a, b in zip(values or expected, expected, strict=True):
                assert a.shape == b.shape, (name, a.shape, b.shape)
                np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13, err_msg=name)
            values = expected

        dtypes = out or [out_dtype(v, ins) for v in values]
        outs = [Array(d, v) for d, v in zip(dtypes, values, strict=True)]
        lines = [f"case {name}", f"op {op}"]
        lines += [f"attr {key} {attr_text(value)}" for key, value in attrs.items()]

        floats = [i for i, a in enumerate(ins) if a.dtype in FLOATS]
        if grads is None:
            grads = floats if outs[weight_output].dtype in FLOATS and fn is not None else []
        if grads and weight_output:
            lines.append(f"attr weight_output {weight_output}")
        lines += [f"in {a.text()}" for a in ins]
        lines += [f"out {a.text()}" for a in outs]
        if grads:
            w = random.floats(*outs[weight_output].values.shape, lo=-1, hi=1, dtype=outs[weight_output].dtype)

            def weighted(*xs):
                y = fn(*xs)
                return jnp.sum((y[weight_output] if isinstance(y, (tuple, list)) else y) * w.values)

            g = jax.grad(weighted, argnums=tuple(grads))(*map(jnp.asarray, wide))
            lines.append(f"weight {w.text()}")
            for i, gi in zip(grads, g, strict=True):
                gi = np.asarray(gi)
                assert np.isfinite(gi).all(), (name, i)
                compare_with_differences(name, weighted, wide, i, gi)
                lines.append(f"grad {i} {Array(ins[i].dtype, gi).text()}")
        lines.append("end")
        self.cases.append(lines)

    def write(self, path: Path, comment: str) -> None:
        body = "\n\n".join("\n".join(case) for case in self.cases)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"# {line}\n" for line in comment.splitlines()) + "\n" + body + "\n")
        print(f"{path.name}: {len(self.cases)} cases, {path.stat().st_size} bytes")


def as_list(y) -> list:
    return [np.asarray(v) for v in y] if isinstance(y, (tuple, list)) else [np.asarray(y)]


def out_dtype(v: np.ndarray, ins: list) -> str:
    if v.dtype == np.bool_:
        return "bool"
    kinds = FLOATS if v.dtype.kind == "f" else ("i8", "u8", "i32", "i64", "u32")
    return next(a.dtype for a in ins if a.dtype in kinds)


def attr_text(value) -> str:
    if isinstance(value, (list, tuple)):
        return " ".join(map(attr_text, value)) or "none"
    return str(int(value)) if isinstance(value, bool) else str(value)


def compare_with_differences(name, weighted, xs, i, gradient, step=1e-5) -> None:
    """Central differences in double precision: a referee that shares nothing with reverse mode."""
    evaluate = jax.jit(lambda x: weighted(*[x if k == i else jnp.asarray(v) for k, v in enumerate(xs)]))
    numeric = np.zeros_like(xs[i])
    for at in np.ndindex(xs[i].shape):
        plus, minus = xs[i].copy(), xs[i].copy()
        plus[at] += step
        minus[at] -= step
        numeric[at] = (evaluate(plus) - evaluate(minus)) / (2 * step)
    np.testing.assert_allclose(gradient, numeric, rtol=2e-6, atol=2e-6, err_msg=f"{name}, gradient {i}")
