"""Reductions over one, several and all axes, with and without keepdims."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special

from golden_writer import Family, literal

INF = math.inf


def reduction() -> Family:
    family = Family("reduction")
    case = family.case
    ops = [
        ("reduce_sum", jnp.sum, np.sum), ("reduce_mean", jnp.mean, np.mean), ("reduce_max", jnp.max, np.max),
        ("reduce_min", jnp.min, np.min), ("reduce_prod", jnp.prod, np.prod),
        ("reduce_logsumexp", jax.scipy.special.logsumexp, scipy.special.logsumexp),
        ("norm", lambda x, axis, keepdims: jnp.sqrt(jnp.sum(x * x, axis, keepdims=keepdims)),
         lambda x, axis, keepdims: np.sqrt(np.sum(x * x, axis, keepdims=keepdims))),
    ]
    layouts = [
        ("all", (2, 3), (0, 1), 0), ("all_keepdims", (2, 3), (0, 1), 1), ("rows", (2, 3), (1,), 0),
        ("columns", (3, 2), (0,), 0),
        ("columns_keepdims", (3, 2), (0,), 1), ("negative", (2, 2, 3), (-1,), 0), ("middle", (2, 3, 2), (1,), 0),
        ("outer_two", (2, 3, 2), (0, 2), 0), ("outer_two_keepdims", (2, 3, 2), (0, 2), 1), ("vector", (7,), (0,), 0),
        ("size_one", (3, 1), (1,), 0),
    ]
    for op, fn, ref in ops:
        for label, shape, axes, keepdims in layouts:
            case(f"{op}_{label}", op, lambda r: [r.distinct(*shape, step=0.37)],
                 lambda x: fn(x, axis=axes, keepdims=bool(keepdims)),
                 lambda x: ref(x, axis=axes, keepdims=bool(keepdims)),
                 {"axes": axes, "keepdims": keepdims})
    for op, fn, ref in ops[:1] + ops[2:5]:
        case(f"{op}_i32", op, lambda r: [r.ints(2, 4, lo=-5, hi=6)], None, lambda x: ref(x, axis=(1,)),
             {"axes": (1,), "keepdims": 0})
    for op, ref in (("reduce_any", np.any), ("reduce_all", np.all)):
        rows = literal([[0, 0, 0], [0, 1, 0], [1, 1, 1]], "bool")
        for label, axes, keepdims in (("rows", (1,), 0), ("columns_keepdims", (0,), 1), ("all", (0, 1), 0)):
            case(f"{op}_{label}", op, lambda r: [rows], lambda x: getattr(jnp, op[7:])(x, axis=axes,
                                                                                       keepdims=bool(keepdims)),
                 lambda x: ref(x, axis=axes, keepdims=bool(keepdims)), {"axes": axes, "keepdims": keepdims})
    # the gradient of a product is not product / element when an element is zero
    for label, values in (("one_zero", [2, 0, -3, 0.5]), ("two_zeros", [2, 0, 0, 0.5])):
        case(f"reduce_prod_{label}", "reduce_prod", lambda r: [literal(values)], jnp.prod, np.prod,
             {"axes": (0,), "keepdims": 0})
    case("reduce_logsumexp_large", "reduce_logsumexp", lambda r: [literal([[1000, 1001, 999.5],
                                                                           [-1000, -1002, -1001]])],
         lambda x: jax.scipy.special.logsumexp(x, axis=1), lambda x: scipy.special.logsumexp(x, axis=1),
         {"axes": (1,), "keepdims": 0})
    case("reduce_logsumexp_minus_infinity", "reduce_logsumexp", lambda r: [literal([[-INF, 1, 2], [-INF, -INF, -INF]])],
         lambda x: jax.scipy.special.logsumexp(x, axis=1), lambda x: scipy.special.logsumexp(x, axis=1),
         {"axes": (1,), "keepdims": 0}, grads=[])
    for op in ("reduce_max", "reduce_min"):
        f = op[7:]
        case(f"{op}_all_negative", op, lambda r: [literal([-3, -1.5, -2])], getattr(jnp, f), getattr(np, f),
             {"axes": (0,), "keepdims": 0})
        case(f"{op}_infinities", op, lambda r: [literal([[1, INF], [-INF, 2]])], lambda x: getattr(jnp, f)(x, axis=1),
             lambda x: getattr(np, f)(x, axis=1), {"axes": (1,), "keepdims": 0}, grads=[])
    case("reduce_mean_f64", "reduce_mean", lambda r: [r.floats(2, 3, dtype="f64")], lambda x: jnp.mean(x, 1),
         lambda x: np.mean(x, 1),
         {"axes": (1,), "keepdims": 0})
    return family
