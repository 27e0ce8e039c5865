#!/usr/bin/env python3
"""Writes tests/golden/print.txt: arrays, and how NumPy prints them.

Each case is three parts: a line "array dtype extents : values", where "range a b" stands for a, a+b, a+2b, ...; the
printed lines, each behind "| "; and a line "end".
"""

from pathlib import Path

import numpy as np

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "print.txt"
TYPES = {
    "f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "u8": np.uint8, "i32": np.int32,
    "i64": np.int64, "bool": np.bool_,
}  # fmt: skip
FLOATS = ("f16", "f32", "f64")
inf, nan = np.inf, np.nan


def cases():
    """(dtypes, shape, values); values as a list, or (start, step)."""
    yield FLOATS, (3,), [1, 2, 3]
    yield FLOATS, (2, 2), [1, 2, 3, 4.25]
    yield FLOATS, (4,), [0.1, -0.25, 100, 0]
    yield FLOATS, (3,), [1 / 3, 2 / 3, 10.5]
    yield FLOATS, (3,), [1e-5, 1.25e-3, 1]
    yield FLOATS, (2,), [1e-4, 0.09]
    yield FLOATS, (2,), [0.5, 500.5]
    yield FLOATS, (2,), [0.5, 501]
    yield FLOATS, (3,), [999, 1000, 998]
    yield FLOATS, (4,), [nan, inf, -inf, 1.5]
    yield FLOATS, (2,), [nan, inf]
    yield FLOATS, (2,), [nan, -inf]
    yield FLOATS, (3,), [-0.0, 0.0, 1e-3]
    yield FLOATS, (1, 1), [3.140625]
    yield FLOATS, (3,), [nan, 1e-7, 0.5]
    yield ("f32", "f64"), (2,), [1e5, 999999]
    yield ("f32", "f64"), (2,), [1e6, 2e6]
    yield ("f32", "f64"), (2,), [99999999, 1e8]
    yield ("f32", "f64"), (3,), [123456.789, 123000, 200000]
    yield ("f32", "f64"), (3,), [1e30, -1e-30, 0]
    yield ("f32", "f64"), (2,), [1e-5, 1.2345678e-3]
    yield ("f32", "f64"), (2,), [1.23456789012, 2.00000001]
    yield ("f64",), (3,), [-0.0, 1e100, 1]
    yield ("f64",), (2,), [1.5e-300, 2]
    yield FLOATS, (2, 1, 3), [0.5, 1, 1.5, -2, 2.5, 3]
    yield FLOATS, (30,), (0, 0.25)
    yield FLOATS, (2, 20), (-5, 0.5)
    yield ("f32", "f64"), (1001,), (0, 1)
    yield ("f32", "f64"), (40, 30), (0, 0.5)
    yield ("f32",), (11, 10, 12), (-7, 0.125)
    yield FLOATS, (1000,), (0, 0.0625)
    yield ("i32", "i64"), (3,), [1, 20, -300]
    yield ("i8", "u8"), (2, 3), [1, 2, 3, 100, 50, 6]
    yield ("i8",), (3,), [-128, 0, 127]
    yield ("i32", "i64"), (2, 1, 2), [1, 2, 3, 4]
    yield ("i64",), (2000,), (0, 1)
    yield ("i32",), (7, 200), (0, 1)
    yield ("i32",), (40,), (1000, 1)
    yield ("i32",), (3, 2, 25), (100, 1)
    yield ("bool",), (3,), [1, 0, 1]
    yield ("bool",), (2, 2), [1, 1, 1, 1]
    for value in (0, 1, -1.5, 0.1, 1e-4, 9e-5, 1e-5, 999, 1000, 1024.5, nan, -inf):
        yield FLOATS, (), [value]
    for value in (1e5, 999999, 1e6, 123456789, 1e15, 1e16, 1e-30):
        yield ("f32", "f64"), (), [value]
    yield ("i32", "i8"), (), [-7]
    yield ("bool",), (), [1]
    for dtype in ("f32", "i32"):
        yield (dtype,), (0,), []
        yield (dtype,), (0, 3), []


def main():
    lines = ["# How NumPy " + np.__version__ + " prints. Made by tests/referee/make_print_goldens.py."]
    for dtypes, shape, values in cases():
        for dtype in dtypes:
            if isinstance(values, tuple):
                numbers = values[0] + values[1] * np.arange(np.prod(shape, dtype=int))
                text = f"range {values[0]} {values[1]}"
            else:
                numbers = np.array(values)
                text = " ".join(repr(float(v)) for v in values)
            array = numbers.astype(TYPES[dtype]).reshape(shape)
            lines.append(f"array {dtype} {' '.join(map(str, shape))} : {text}".replace("  ", " "))
            lines += ["| " + line for line in str(array).split("\n")] + ["end"]
    GOLDEN.write_text("\n".join(lines) + "\n")
    print(GOLDEN.name, sum(line == "end" for line in lines), "cases")


if __name__ == "__main__":
    main()
