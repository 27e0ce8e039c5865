"""Element-wise ops: value, gradient, edges (overflow, NaN, signs), broadcasting, dtypes."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special
from jax import lax

from golden_writer import Array, Family, literal

INF, NAN = math.inf, math.nan
SELU_ALPHA, SELU_SCALE = 1.6732632423543772, 1.0507009873554805


def elementwise() -> Family:
    family = Family("elementwise")
    case = family.case

    any_sign = lambda r: [r.floats(2, 5)]
    positive = lambda r: [r.positive(7)]
    off_zero = lambda r: [r.nonzero(7)]

    # op, inputs, NumPy/SciPy, JAX
    unary = [
        ("neg", any_sign, np.negative, jnp.negative),
        ("abs", off_zero, np.abs, jnp.abs),
        ("exp", any_sign, np.exp, jnp.exp),
        ("log", positive, np.log, jnp.log),
        ("log1p", lambda r: [r.floats(7, lo=-0.9, hi=3)], np.log1p, jnp.log1p),
        ("expm1", any_sign, np.expm1, jnp.expm1),
        ("sqrt", positive, np.sqrt, jnp.sqrt),
        ("rsqrt", positive, lambda x: 1 / np.sqrt(x), lax.rsqrt),
        ("square", any_sign, np.square, jnp.square),
        ("reciprocal", off_zero, np.reciprocal, jnp.reciprocal),
        ("sin", lambda r: [r.floats(7, lo=-7, hi=7)], np.sin, jnp.sin),
        ("cos", lambda r: [r.floats(7, lo=-7, hi=7)], np.cos, jnp.cos),
        ("tan", lambda r: [r.floats(7, lo=-1.2, hi=1.2)], np.tan, jnp.tan),
        ("tanh", lambda r: [r.floats(7, lo=-4, hi=4)], np.tanh, jnp.tanh),
        ("sigmoid", lambda r: [r.floats(7, lo=-6, hi=6)], scipy.special.expit, jax.nn.sigmoid),
        ("relu", off_zero, lambda x: np.maximum(x, 0), jax.nn.relu),
        ("relu6", lambda r: [literal([-3, -0.25, 0.5, 2.75, 5.5, 6.5, 9])], lambda x: np.clip(x, 0, 6), jax.nn.relu6),
        ("selu", off_zero, lambda x: SELU_SCALE * np.where(x > 0, x, SELU_ALPHA * np.expm1(x)), jax.nn.selu),
        ("gelu", lambda r: [r.floats(3, 5, lo=-4, hi=4)],
         lambda x: 0.5 * x * (1 + scipy.special.erf(x / math.sqrt(2))), lambda x: jax.nn.gelu(x, approximate=False)),
        ("silu", lambda r: [r.floats(7, lo=-5, hi=5)], lambda x: x * scipy.special.expit(x), jax.nn.silu),
        ("softplus", lambda r: [r.floats(7, lo=-5, hi=5)], lambda x: np.logaddexp(x, 0), jax.nn.softplus),
        ("erf", lambda r: [r.floats(7, lo=-3, hi=3)], scipy.special.erf, jax.scipy.special.erf),
    ]
    for op, inputs, ref, fn in unary:
        case(op, op, inputs, fn, ref)
    for op, inputs, ref, fn in unary:
        if op in ("exp", "log", "tanh", "sigmoid", "gelu", "softplus", "erf", "selu", "sqrt", "neg"):
            case(f"{op}_f64", op, lambda r: [Array("f64", inputs(r)[0].values[..., :3])], fn, ref)
    for alpha in (0.2, 0.01):
        case(f"leaky_relu_{alpha}", "leaky_relu", off_zero, lambda x: jax.nn.leaky_relu(x, alpha),
             lambda x: np.where(x > 0, x, alpha * x), {"alpha": alpha})
    for alpha in (1.0, 0.5):
        case(f"elu_{alpha}", "elu", off_zero, lambda x: jax.nn.elu(x, alpha),
             lambda x: np.where(x > 0, x, alpha * np.expm1(x)), {"alpha": alpha})

    # piecewise constant: value only
    case("sign", "sign", lambda r: [literal([-2.5, -0.0, 0, 1e-6, 3, INF, -INF])], jnp.sign, np.sign, grads=[])
    case("sign_i32", "sign", lambda r: [literal([-7, 0, 3], "i32")], jnp.sign, np.sign)
    halves = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, -2.7, -2.2, 2.2, 2.7, 3]
    case("floor", "floor", lambda r: [literal(halves)], jnp.floor, np.floor, grads=[])
    case("ceil", "ceil", lambda r: [literal(halves)], jnp.ceil, np.ceil, grads=[])
    case("round_half_to_even", "round", lambda r: [literal(halves)], jnp.round, np.round, grads=[])
    strange = [0, -1.5, NAN, INF, -INF, 3e38]
    case("isnan", "isnan", lambda r: [literal(strange)], jnp.isnan, np.isnan)
    case("isfinite", "isfinite", lambda r: [literal(strange)], jnp.isfinite, np.isfinite)

    # the edges: overflow, saturation, cancellation, NaN. Value only
    edges = [
        ("exp", [0, 88, 89, -80, INF, -INF, NAN]),
        ("log", [0, 1, -1, 1e-30, INF, NAN]),
        ("log1p", [-1, 1e-6, -1e-6, 0, INF]),
        ("expm1", [1e-6, -1e-6, 0, -50, INF, -INF]),
        ("sqrt", [0, 1e-30, 1e30, -1, INF]),
        ("tanh", [-20, 20, 1e-4, INF, -INF, NAN]),
        ("sigmoid", [-30, 30, 0, INF, -INF, NAN]),
        ("softplus", [-30, 50, 0, 100, INF, -INF]),
        ("relu", [-INF, -0.0, 0, INF, NAN]),
        ("gelu", [-8, 8, 0, 30]),
        ("silu", [-30, 30, 0, 80]),
        ("erf", [-6, 6, 1e-5, 0, INF]),
        ("abs", [-0.0, -INF, NAN, 4]),
        ("selu", [-50, 0, 50]),
    ]
    table = {op: (ref, fn) for op, _, ref, fn in unary}
    for op, points in edges:
        ref, fn = table[op]
        case(f"{op}_edges", op, lambda r: [literal(points)], None if op in ("silu", "gelu", "softplus") else fn, ref,
             grads=[])
    case("elu_edges", "elu", lambda r: [literal([-50, -1e-4, 0, 50])], jax.nn.elu,
         lambda x: np.where(x > 0, x, np.expm1(x)), {"alpha": 1.0}, grads=[])

    for op, f in (("neg", np.negative), ("abs", np.abs), ("square", np.square)):
        case(f"{op}_i32", op, lambda r: [r.ints(5, lo=-9, hi=10)], None, f)

    # binary, with NumPy's broadcasting
    shapes = [
        ("same", (2, 3), (2, 3)), ("row", (2, 3), (3,)), ("column", (2, 3), (2, 1)), ("scalar", (5,), ()),
        ("outer", (3, 1), (1, 2)), ("left_smaller", (3,), (2, 1, 3)), ("size_one", (1, 1), (1,)),
        ("middle", (2, 1, 3), (2, 3, 1)),
    ]
    binary = [
        ("add", np.add, jnp.add), ("sub", np.subtract, jnp.subtract), ("mul", np.multiply, jnp.multiply),
        ("div", np.divide, jnp.divide),
    ]
    for op, ref, fn in binary:
        for label, a, b in shapes:
            case(f"{op}_{label}", op, lambda r: [r.nonzero(*a), r.nonzero(*b)], fn, ref)
    for op, ref, fn in (("maximum", np.maximum, jnp.maximum), ("minimum", np.minimum, jnp.minimum)):
        for label, a, b in (shapes[0], shapes[1], shapes[4], shapes[5]):
            # thirds against halves: never equal
            case(f"{op}_{label}", op,
                 lambda r: [r.distinct(*a, step=0.3), Array("f32", r.distinct(*b, step=0.3).values + 0.1)], fn, ref)
        case(f"{op}_nan_propagates", op, lambda r: [literal([1, NAN, 2, NAN]), literal([NAN, 1, 3, NAN])], fn, ref,
             grads=[])
        case(f"{op}_u8", op, lambda r: [literal([0, 255, 7], "u8"), literal([1, 254, 7], "u8")], fn, ref)
    case("pow_same", "pow", lambda r: [r.positive(2, 3), r.floats(2, 3)], jnp.power, np.power)
    case("pow_scalar_exponent", "pow", lambda r: [r.positive(5), literal(2.5)], jnp.power, np.power)
    case("pow_column_row", "pow", lambda r: [r.positive(3, 1), r.floats(2)], jnp.power, np.power)
    case("pow_negative_base", "pow", lambda r: [literal([-2, -0.5, 1.5, 3]), literal([3, 2, 2, -1])], jnp.power,
         np.power, grads=[0])
    case("pow_zero_base", "pow", lambda r: [literal([0, 0, 0]), literal([2, 1, 0])], jnp.power, np.power, grads=[])

    for dtype in ("i32", "i64"):
        for op, ref in (("add", np.add), ("sub", np.subtract), ("mul", np.multiply)):
            case(f"{op}_{dtype}", op, lambda r: [r.ints(2, 3, lo=-99, hi=99, dtype=dtype),
                                                 r.ints(3, lo=-99, hi=99, dtype=dtype)], None, ref)
        # Python: the quotient rounds down, the remainder has the divisor's sign
        signs = lambda r: [literal([7, -7, 7, -7, 6, -6, 0, -1, 1], dtype),
                           literal([3, 3, -3, -3, 3, -3, 5, 4, -4], dtype)]
        case(f"floordiv_{dtype}_signs", "floordiv", signs, jnp.floor_divide, np.floor_divide)
        case(f"mod_{dtype}_signs", "mod", signs, jnp.mod, np.mod)
    case("floordiv_i32_broadcast", "floordiv", lambda r: [r.ints(3, 1, lo=-20, hi=20), literal([4, -3], "i32")],
         jnp.floor_divide, np.floor_divide)
    case("mod_i32_broadcast", "mod", lambda r: [r.ints(3, 1, lo=-20, hi=20), literal([4, -3], "i32")], jnp.mod, np.mod)
    signs = lambda r: [literal([7.5, -7.5, 7.5, -7.5, 0.5, -0.5]), literal([2, 2, -2, -2, 3, 3])]
    case("floordiv_f32_signs", "floordiv", signs, jnp.floor_divide, np.floor_divide, grads=[])
    case("mod_f32_signs", "mod", signs, jnp.mod, np.mod)
    case("mod_f32_column", "mod", lambda r: [r.floats(2, 3, lo=-9, hi=9), literal([[2.25], [-1.75]])], jnp.mod, np.mod)

    # half precision: storage is 16 bits, the arithmetic is that of float
    for dtype in ("f16", "bf16"):
        for op, ref in (("add", np.add), ("mul", np.multiply), ("div", np.divide)):
            case(f"{op}_{dtype}", op, lambda r: [r.nonzero(5, dtype=dtype), r.nonzero(5, dtype=dtype)], None, ref)

    # comparisons and logic
    comparisons = [
        ("equal", np.equal), ("not_equal", np.not_equal), ("less", np.less), ("less_equal", np.less_equal),
        ("greater", np.greater), ("greater_equal", np.greater_equal),
    ]
    for op, ref in comparisons:
        fn = getattr(jnp, op)
        case(f"{op}_f32_row", op, lambda r: [literal([[1, 2, 3], [3, 2, 1]]), literal([2, 2, 2])], fn, ref)
        case(f"{op}_i64", op, lambda r: [r.ints(6, lo=-2, hi=3, dtype="i64"), r.ints(6, lo=-2, hi=3, dtype="i64")],
             fn, ref)
        case(f"{op}_nan", op, lambda r: [literal([NAN, NAN, 1, INF]), literal([NAN, 1, NAN, INF])], fn, ref)
    truth = lambda r: [literal([[0, 0], [1, 1]], "bool"), literal([0, 1], "bool")]
    for op in ("logical_and", "logical_or", "logical_xor"):
        case(op, op, truth, getattr(jnp, op), getattr(np, op))
    case("logical_not", "logical_not", lambda r: [literal([0, 1], "bool")], jnp.logical_not, np.logical_not)

    # select(condition, a, b)
    for label, c, a, b in (("same", (2, 3), (2, 3), (2, 3)), ("condition_column", (2, 1), (2, 3), (2, 3)),
                           ("scalars", (5,), (), ()), ("outer", (3, 1), (1, 2), ())):
        case(f"select_{label}", "select", lambda r: [r.bools(*c), r.floats(*a), r.floats(*b)], jnp.where, np.where)
    case("select_i32", "select", lambda r: [literal([1, 0, 1], "bool"), literal([1, 2, 3], "i32"),
                                            literal([-1, -2, -3], "i32")], jnp.where, np.where)

    for label, lo, hi in (("both", -0.5, 0.75), ("one_sided", 0.0, 100.0)):
        case(f"clip_{label}", "clip", lambda r: [r.distinct(3, 3, step=0.31)], lambda x: jnp.clip(x, lo, hi),
             lambda x: np.clip(x, lo, hi), {"min": lo, "max": hi})
    case("clip_i32", "clip", lambda r: [literal([-9, -2, 0, 3, 9], "i32")], lambda x: jnp.clip(x, -3, 4),
         lambda x: np.clip(x, -3, 4), {"min": -3, "max": 4})

    # cast; floating to integer truncates toward zero
    def cast(source, target, values):
        wide = {"f": np.float64, "b": np.bool_}.get("b" if target == "bool" else target.lstrip("b")[0], np.int64)
        differentiable = source in ("f32", "f64") and target in ("f32", "f64")
        case(f"cast_{source}_to_{target}", "cast", lambda r: [literal(values, source)],
             (lambda x: x * 1.0) if differentiable else None, lambda x: x.astype(wide), {"to": target}, out=[target])

    cast("f32", "i32", [-2.9, -0.5, 0, 0.99, 7.5])
    cast("f32", "i64", [-2.9, -0.5, 0, 0.99, 7.5])
    cast("f32", "u8", [0, 0.99, 200.5, 255])
    cast("f32", "i8", [-128, -1.5, 0, 127])
    cast("f32", "bool", [-1, 0, -0.0, 0.25])
    cast("f32", "f64", [0.1, -2.5, 1 / 3])
    cast("f64", "f32", [0.1, -2.5, 1 / 3])
    cast("i32", "f32", [-3, 0, 16777217, 2147483647])
    cast("i64", "i32", [-3, 0, 2147483647])
    cast("i32", "bool", [-1, 0, 2])
    cast("bool", "f32", [1, 0, 1])
    cast("bool", "i64", [1, 0, 1])
    cast("u8", "f32", [0, 128, 255])
    # ties, the largest finite, overflow, subnormals
    cast("f32", "f16", [0.1, 1 + 2**-11, 1 + 3 * 2**-11, 65504, 65519, 65520, 2**-24, 2**-25, 6.1e-5, -INF])
    cast("f32", "bf16", [0.1, 1 + 2**-8, 1 + 3 * 2**-8, 3.3e38, 3.4e38, -2.5, INF, 1e-30])
    cast("f16", "f32", [0.1, 65504, 2**-24, -INF])
    cast("bf16", "f32", [0.1, 3.3e38, -2.5])
    return family
