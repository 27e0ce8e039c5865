"""NumPy on the OpenBLAS of its package. Its element-wise ops run on one thread."""

import numpy as np

from contest import CHAINS, MATMULS, numbers, serve


def chain(n):
    def prepare(threads):
        x, a, b = numbers(n, 0, 2), numbers(n, 1, 1), numbers(n, 2, 1)
        return lambda: (np.tanh(x * a + b) * (1 / (1 + np.exp(-x))) + np.exp(-x * x))[-1]

    return prepare


def matmul(n):
    def prepare(threads):
        a, b = numbers((n, n), 0, 1), numbers((n, n), 1, 1)
        return lambda: (a @ b)[-1, -1]

    return prepare


serve({**{row: chain(n) for row, n in CHAINS.items()}, **{row: matmul(n) for row, n in MATMULS.items()}})
