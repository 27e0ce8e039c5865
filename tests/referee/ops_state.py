"""Ops that change a variable."""

import numpy as np

from golden_writer import Family, literal


def state() -> Family:
    """In: the variable's value, then the op's inputs. Out: the variable's value afterwards."""
    family = Family("state")
    case = family.case
    pair = lambda r: [r.floats(2, 3), r.floats(2, 3)]
    for op, ref in (("assign", lambda v, x: x), ("assign_add", np.add), ("assign_sub", np.subtract)):
        case(op, op, pair, None, ref)
        case(f"{op}_i64_scalar", op, lambda r: [literal(40, "i64"), literal(2, "i64")], None, ref)

    def scatter(ufunc):
        def f(v, i, u):
            v = v.copy()
            ufunc.at(v, i, u)
            return v
        return f

    def update(v, i, u):
        v = v.copy()
        v[i] = u
        return v

    layouts = [("rows", (4, 2), [3, 0]), ("elements", (5,), [1, 4, 0]), ("all_rows", (2, 3), [1, 0]),
               ("one", (3, 1), [2])]
    repeated = [("repeated_rows", (3, 2), [1, 1, 2]), ("repeated_elements", (4,), [3, 3, 3])]
    for op, ref, shapes in (("scatter_add", scatter(np.add), layouts + repeated),
                            ("scatter_sub", scatter(np.subtract), layouts + repeated),
                            ("scatter_update", update, layouts)):
        for label, shape, indices in shapes:
            case(f"{op}_{label}", op, lambda r: [r.floats(*shape), literal(indices, "i64"),
                                                 r.floats(len(indices), *shape[1:])],
                 None, ref)
    return family
