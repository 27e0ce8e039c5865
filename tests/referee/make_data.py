#!/usr/bin/env python3
"""Writes examples/data/digits.csv and examples/data/diabetes.csv from the copies that scikit-learn ships.

No network is needed once scikit-learn is installed. The output is the same on every run.
"""

from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes, load_digits

DATA = Path(__file__).resolve().parents[2] / "examples" / "data"


def write_digits() -> None:
    digits = load_digits()
    pixels = digits.data.astype(int)
    assert pixels.shape == (1797, 64) and pixels.min() == 0 and pixels.max() == 16
    with open(DATA / "digits.csv", "w", newline="\n") as out:
        for image, label in zip(pixels, digits.target):
            out.write(",".join(str(v) for v in [*image, label]) + "\n")


def write_diabetes() -> None:
    diabetes = load_diabetes(scaled=True)
    assert diabetes.data.shape == (442, 10)
    with open(DATA / "diabetes.csv", "w", newline="\n") as out:
        out.write(",".join([*diabetes.feature_names, "target"]) + "\n")
        for row, target in zip(diabetes.data.astype(np.float32), diabetes.target):
            assert target == int(target)
            # str() of a float32 is the shortest text that reads back as the same float32
            out.write(",".join([*(str(v) for v in row), str(int(target))]) + "\n")


if __name__ == "__main__":
    DATA.mkdir(parents=True, exist_ok=True)
    write_digits()
    write_diabetes()
