"""Runs layers with PyTorch and writes tests/golden/layers.txt. Weights and inputs are a hash of the index
(bench/python/inputs.py); float64. Needs torch and what golden_writer.py needs.
"""

import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from golden_writer import GOLDEN, Array

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "python"))
from inputs import integers, numbers  # noqa: E402


def tensor(shape, salt, scale=1.0):
    return torch.tensor(numbers(shape, salt, scale), dtype=torch.float64)


def convolutional(training, x, running):
    """conv 3x3 same, batch norm, relu, dense: what tests/dsl/layers.cpp describes once for both phases."""
    w = tensor((3, 3, 2, 4), 1, 0.5).permute(3, 2, 0, 1)
    y = F.conv2d(x.permute(0, 3, 1, 2), w, tensor((4,), 2, 0.1), padding=1)
    if training:
        mean, variance = y.mean((0, 2, 3)), y.var((0, 2, 3), unbiased=False)
        for statistic, now in zip(running, (mean, variance)):
            statistic += 0.1 * (now - statistic)  # TensorFlow's: the variance of the batch itself
    else:
        mean, variance = running
    y = F.batch_norm(y, mean, variance, tensor((4,), 3), tensor((4,), 4), False, eps=1e-3)
    y = torch.relu(y).permute(0, 2, 3, 1).flatten(1)
    return y @ tensor((5 * 5 * 4, 3), 5, 0.2) + tensor((3,), 6)


def attention():
    x, memory = tensor((2, 5, 8), 10), tensor((2, 3, 8), 11)
    mask = torch.zeros(5, 3, dtype=torch.float64)
    mask[0, 2] = mask[1, 2] = -1e9
    layer = torch.nn.MultiheadAttention(8, 2, batch_first=True, dtype=torch.float64)
    weights = [tensor((8, 8), 12 + i, 0.5).T for i in range(4)]
    biases = [tensor((8,), 16 + i, 0.1) for i in range(4)]
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.cat(weights[:3]))
        layer.in_proj_bias.copy_(torch.cat(biases[:3]))
        layer.out_proj.weight.copy_(weights[3])
        layer.out_proj.bias.copy_(biases[3])
        return layer(x, memory, memory, attn_mask=mask)[0], layer(x, x, x)[0]


def block():
    """x + dense(layer_norm(x)) of embedded words."""
    x = tensor((7, 6), 20)[torch.tensor(integers((2, 4), 21, 7))]
    y = F.layer_norm(x, (6,), tensor((6,), 22), tensor((6,), 23), 1e-5)
    return x + (y @ tensor((6, 6), 24, 0.5) + tensor((6,), 25))


def main():
    running = [torch.zeros(4, dtype=torch.float64), torch.ones(4, dtype=torch.float64)]
    x = tensor((3, 5, 5, 2), 0)
    trained = [convolutional(True, x, running) for _ in range(3)]
    cases = {
        "convolutional": [trained[-1], convolutional(False, x, running), *running],
        "attention": attention(),
        "block": [block()],
    }
    lines = ["# Written by tests/referee/layers.py: PyTorch, float64."]
    for name, results in cases.items():
        lines += ["", f"case {name}", "op layers", *(f"out {Array('f64', r.numpy()).text()}" for r in results), "end"]
    (GOLDEN / "layers.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
