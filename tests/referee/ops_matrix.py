"""Matrix ops: products, einsum, factorisations and solvers (these in f64)."""

import jax.numpy as jnp
import numpy as np
import scipy.linalg
from jax import lax

from golden_writer import Family, literal


def matrix() -> Family:
    family = Family("matrix")
    case = family.case

    swap = lambda x, flag: x.swapaxes(-1, -2) if flag else x
    products = [
        ("plain", (2, 3), (3, 4), 0, 0), ("transposed_a", (3, 2), (3, 4), 1, 0), ("transposed_b", (2, 3), (4, 3), 0, 1),
        ("transposed_both", (3, 2), (4, 3), 1, 1), ("row_column", (1, 5), (5, 1), 0, 0),
        ("column_row", (3, 1), (1, 2), 0, 0),
        ("size_one", (1, 1), (1, 1), 0, 0), ("batched", (2, 2, 3), (2, 3, 2), 0, 0),
        ("batched_transposed_a", (2, 3, 2), (2, 3, 2), 1, 0), ("batched_transposed_b", (2, 2, 3), (2, 2, 3), 0, 1),
        ("batched_transposed_both", (2, 3, 2), (2, 2, 3), 1, 1),
        ("two_batch_axes", (2, 1, 1, 2), (2, 1, 2, 3), 0, 0), ("batch_broadcast_size_one", (1, 2, 2), (3, 2, 2), 0, 0),
        ("batch_broadcast_rank", (2, 2), (2, 2, 3), 0, 0),
    ]
    for name, a, b, ta, tb in products:
        f = lambda x, y: swap(x, ta) @ swap(y, tb)
        case(f"matmul_{name}", "matmul", lambda r: [r.floats(*a), r.floats(*b)], f, f,
             {"transpose_a": ta, "transpose_b": tb})
    case("matmul_f64", "matmul", lambda r: [r.floats(2, 3, dtype="f64"), r.floats(3, 2, dtype="f64")], jnp.matmul,
         np.matmul, {"transpose_a": 0, "transpose_b": 0})
    case("matmul_i32", "matmul", lambda r: [r.ints(2, 3, lo=-9, hi=9), r.ints(3, 2, lo=-9, hi=9)], None, np.matmul,
         {"transpose_a": 0, "transpose_b": 0})

    equations = [
        ("matmul", "ij,jk->ik", (2, 3), (3, 2)), ("transposed_output", "ij,jk->ki", (2, 3), (3, 2)),
        ("transposed_operands", "ji,kj->ik", (3, 2), (2, 3)), ("batched", "bij,bjk->bik", (2, 2, 3), (2, 3, 1)),
        ("inner", "i,i->", (5,), (5,)), ("outer", "i,j->ij", (3,), (2,)), ("hadamard", "ij,ij->ij", (2, 3), (2, 3)),
        ("matrix_vector", "ij,j->i", (3, 4), (4,)), ("bilinear", "bi,ijk->bjk", (2, 2), (2, 2, 2)),
        ("attention_scores", "bqhd,bkhd->bhqk", (1, 2, 2, 3), (1, 3, 2, 3)),
        ("attention_values", "bhqk,bkhd->bqhd", (1, 2, 2, 3), (1, 3, 2, 2)),
        ("contract_two", "ijk,jk->i", (2, 2, 3), (2, 3)),
        ("sum_inside_one_operand", "ij,k->ik", (2, 3), (2,)), ("transpose", "ijk->kij", (2, 1, 3)),
        ("row_sums", "ij->i", (2, 3)), ("total", "ij->", (2, 3)), ("trace", "ii->", (3, 3)),
        ("diagonal", "ii->i", (3, 3)),
        ("three_operands", "ij,jk,kl->il", (2, 2), (2, 3), (3, 2)), ("shared_by_three", "i,i,i->i", (3,), (3,), (3,)),
        ("scalar_operand", ",ij->ij", (), (2, 2)), ("size_one", "ij,jk->ik", (1, 3), (3, 1)),
    ]
    for name, equation, *shapes in equations:
        case(f"einsum_{name}", "einsum", lambda r: [r.floats(*s) for s in shapes],
             lambda *xs: jnp.einsum(equation, *xs),
             lambda *xs: np.einsum(equation, *xs), {"equation": equation})

    for label, shape in (("3x3", (3, 3)), ("4x4", (4, 4)), ("1x1", (1, 1)), ("batched", (2, 2, 2))):
        case(f"matrix_inverse_{label}", "matrix_inverse", lambda r: [r.invertible(*shape)], jnp.linalg.inv,
             np.linalg.inv)
        case(f"matrix_determinant_{label}", "matrix_determinant", lambda r: [r.invertible(*shape)], jnp.linalg.det,
             np.linalg.det)
        case(f"cholesky_{label}", "cholesky", lambda r: [r.spd(*shape)], jnp.linalg.cholesky, np.linalg.cholesky)
        for right in (1, 2):
            case(f"solve_{label}_{right}_right", "solve", lambda r: [r.invertible(*shape),
                                                                     r.floats(*shape[:-1], right, dtype="f64")],
                 jnp.linalg.solve, np.linalg.solve)
    # a zero on the diagonal: the factorisation has to exchange rows
    case("matrix_inverse_pivot", "matrix_inverse", lambda r: [literal([[0, 2, 1], [1, 0, 3], [2, 1, 0]], "f64")],
         jnp.linalg.inv, np.linalg.inv)
    case("matrix_determinant_negative", "matrix_determinant", lambda r: [literal([[0, 1], [1, 0.5]], "f64")],
         jnp.linalg.det,
         np.linalg.det)
    case("solve_pivot", "solve", lambda r: [literal([[0, 2, 1], [1, 0, 3], [2, 1, 0]], "f64"),
                                            r.floats(3, 1, dtype="f64")],
         jnp.linalg.solve, np.linalg.solve)
    case("matrix_inverse_f32", "matrix_inverse", lambda r: [r.invertible(3, 3, dtype="f32")], jnp.linalg.inv,
         np.linalg.inv)
    case("solve_f32", "solve", lambda r: [r.invertible(3, 3, dtype="f32"), r.floats(3, 2)], jnp.linalg.solve,
         np.linalg.solve)
    case("cholesky_f32", "cholesky", lambda r: [r.spd(3, 3, dtype="f32")], jnp.linalg.cholesky, np.linalg.cholesky)

    # the other triangle holds numbers that must not be read, and its gradient is zero
    for lower in (1, 0):
        for transpose in (0, 1):
            for label, shape, right in (("3x3", (3, 3), 2), ("batched", (2, 2, 2), 1)):
                if label == "batched" and lower != transpose:
                    continue

                def solve(a, b):
                    pairs = [(a, b)] if a.ndim == 2 else zip(a, b)
                    out = [scipy.linalg.solve_triangular(m, v, lower=bool(lower), trans=transpose) for m, v in pairs]
                    return out[0] if a.ndim == 2 else np.stack(out)

                case(f"triangular_solve_{label}_{'lower' if lower else 'upper'}{'_transposed' * transpose}",
                     "triangular_solve",
                     lambda r: [r.invertible(*shape), r.floats(*shape[:-1], right, dtype="f64")],
                     lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True, lower=bool(lower),
                                                              transpose_a=bool(transpose)),
                     solve, {"lower": lower, "transpose": transpose})

    for n in (3, 1):
        case(f"diag_{n}", "diag", lambda r: [r.floats(n)], jnp.diag, np.diag)
        case(f"diag_part_{n}", "diag_part", lambda r: [r.floats(n, n)], jnp.diag, np.diag)
        case(f"trace_{n}", "trace", lambda r: [r.floats(n, n)], jnp.trace, np.trace)
    return family
