"""What every contestant written in Python shares: support/contest.hpp's protocol again, and the sizes of the rows."""

import ctypes
import sys
import time

import numpy as np

from inputs import hash_of, integers, numbers  # noqa: F401, contestants import them from here

MLPS = {  # row: (batch, widths, scale of the weights)
    "mlp_small": (32, (64, 32, 10), 0.1),
    "mlp_large": (128, (784, 1024, 1024, 10), 0.05),
}
CHAINS = {"chain_4k": 4096, "chain_1m": 1 << 20}
MATMULS = {"matmul_256": 256, "matmul_1024": 1024, "matmul_2048": 2048}
IMAGES, FILTERS = (8, 56, 56, 64), (3, 3, 64, 64)  # of the conv rows
ALEXNET_CONVS = (  # filter [height, width, in, out], scale of its numbers, stride, padding, is it pooled
    ((11, 11, 3, 64), 0.09, 4, 2, True),
    ((5, 5, 64, 192), 0.06, 1, 2, True),
    ((3, 3, 192, 384), 0.06, 1, 1, False),
    ((3, 3, 384, 256), 0.04, 1, 1, False),
    ((3, 3, 256, 256), 0.05, 1, 1, True),
)
ALEXNET_DENSE = (((9216, 4096), 0.025), ((4096, 4096), 0.04), ((4096, 1000), 0.04))
RATE = 0.01
LSTM_TIME, LSTM_BATCH, LSTM_UNITS = 32, 16, 256
TREE_LEAVES, TREE_WIDTH, TREE_WORDS, TREE_CLASSES = 16, 32, 100, 5
TURNS = 1_000_000  # of the loop that counts


def mlp_weights(row):
    """w and b of each layer."""
    _, widths, scale = MLPS[row]
    return [(numbers((i, o), 1 + k, scale), np.zeros(o, np.float32)) for k, (i, o) in enumerate(zip(widths, widths[1:]))]


def alexnet_weights():
    convs = [(numbers(shape, 1 + k, scale), np.zeros(shape[3], np.float32))
             for k, (shape, scale, *_) in enumerate(ALEXNET_CONVS)]
    dense = [(numbers(shape, 6 + k, scale), np.zeros(shape[1], np.float32))
             for k, (shape, scale) in enumerate(ALEXNET_DENSE)]
    return convs, dense


def lstm_weights():
    """w_ih, w_hh, b_ih, b_hh, in PyTorch's layout."""
    n = LSTM_UNITS
    return [numbers(shape, 1 + k, 0.06) for k, shape in enumerate(((4 * n, n), (4 * n, n), (4 * n,), (4 * n,)))]


def serve(rows):
    """rows: of each name, a function of the number of threads that prepares it and returns its step."""
    name, threads = sys.argv[1], int(sys.argv[2])
    if name not in rows:
        print("none", flush=True)
        return
    counter = ctypes.CDLL(None)  # the counting allocator, where it is preloaded
    counts = hasattr(counter, "bench_memory_peak")
    if counts:
        counter.bench_memory_peak.restype = ctypes.c_longlong
        counter.bench_memory_begin()
    step = rows[name](threads)
    print(f"ready {float(step()):.9g}", flush=True)
    for line in sys.stdin:
        command, *arguments = line.split()
        if command == "run":
            count = int(arguments[0])
            begin = time.perf_counter_ns()
            for _ in range(count):
                step()
            print(time.perf_counter_ns() - begin, flush=True)
        elif command == "memory":
            print(counter.bench_memory_peak() if counts else -1, flush=True)
        else:
            return
