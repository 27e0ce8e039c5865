"""Runs PyTorch's recurrent layers and writes tests/golden/recurrent.txt. Weights and inputs are a hash of the index
(bench/python/inputs.py); float64. Needs torch and what golden_writer.py needs.

Of each layer: y and the last states, then the gradients of sum(y * wy) + sum(states * ws) by x, the initial states and
all weights, in the order of state_dict().
"""

import sys
from pathlib import Path

import numpy as np
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from golden_writer import GOLDEN, Array

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "python"))
from inputs import numbers  # noqa: E402

TIME, BATCH, INPUTS, UNITS = 4, 3, 2, 3
LENGTHS = [2, 4, 1]


def tensor(shape, salt, scale=1.0):
    return torch.tensor(numbers(shape, salt, scale), dtype=torch.float64)


def layer(kind, lengths=None, **options):
    net = kind(INPUTS, UNITS, **options).double()
    with torch.no_grad():
        for salt, p in enumerate(net.parameters()):
            p.copy_(tensor(p.shape, 10 + salt, 0.7))
    x = tensor((BATCH, TIME, INPUTS) if net.batch_first else (TIME, BATCH, INPUTS), 0).requires_grad_()
    directions = 2 if net.bidirectional else 1
    states = [tensor((directions, BATCH, UNITS), 1 + k, 0.5).requires_grad_() for k in range(2 if kind is torch.nn.LSTM else 1)]
    fed = tuple(states) if len(states) == 2 else states[0]
    if lengths is None:
        y, last = net(x, fed)
    else:
        packed, last = net(pack_padded_sequence(x, lengths, net.batch_first, enforce_sorted=False), fed)
        y, _ = pad_packed_sequence(packed, net.batch_first, total_length=TIME)
    last = list(last) if len(states) == 2 else [last]
    loss = (y * tensor(y.shape, 5)).sum() + sum((s * tensor(s.shape, 6 + k)).sum() for k, s in enumerate(last))
    return [y, *last, *torch.autograd.grad(loss, [x, *states, *net.parameters()])]


def main():
    lstm, gru = torch.nn.LSTM, torch.nn.GRU
    cases = {
        "lstm": layer(lstm),
        "gru": layer(gru),
        "lstm_masked": layer(lstm, LENGTHS),
        "gru_masked": layer(gru, LENGTHS, batch_first=True),
        "lstm_bidirectional": layer(lstm, LENGTHS, bidirectional=True),
        "gru_bidirectional": layer(gru, LENGTHS, bidirectional=True),
        "lstm_no_bias": layer(lstm, bias=False, batch_first=True),
        "gru_no_bias": layer(gru, bias=False),
    }
    lines = ["# Written by tests/referee/recurrent.py: PyTorch, float64."]
    for name, results in cases.items():
        lines += ["", f"case {name}", "op recurrent"]
        lines += [f"out {Array('f64', r.detach().numpy()).text()}" for r in results] + ["end"]
    (GOLDEN / "recurrent.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
