"""Trains the sequence-to-sequence model with attention of tests/recurrent/seq2seq.cpp with PyTorch, lets it write, and
writes tests/golden/seq2seq.txt. Weights are a hash of the index (bench/python/inputs.py); float64. Needs torch and what
golden_writer.py needs.

out 0: the loss of each step before its update. Of the trained model, for the three sources: out 1, 2 greedily chosen tokens
[MOST, 3] and their numbers before the end; out 3, 4 the three best by beam search for the first source [3, MOST], scores.
"""

import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from golden_writer import GOLDEN, Array

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "python"))
from inputs import numbers  # noqa: E402

BEGIN, END, WORDS, WIDTH, UNITS, BEAM, MOST, STEPS = 0, 1, 8, 4, 6, 3, 7, 40
SOURCES = [[2, 5, 3, 7], [4, 6, 2], [7, 3]]
TARGETS = [s[::-1] + [END] for s in SOURCES]


def tensor(shape, salt, scale=1.0):
    return torch.tensor(numbers(shape, salt, scale), dtype=torch.float64)


def padded(rows):
    """[time, batch], full of END; and the lengths."""
    longest = max(map(len, rows))
    return torch.tensor([r + [END] * (longest - len(r)) for r in rows]).T.contiguous(), torch.tensor([len(r) for r in rows])


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.source = torch.nn.Embedding(WORDS, WIDTH)
        self.target = torch.nn.Embedding(WORDS, WIDTH)
        self.encoder = torch.nn.LSTM(WIDTH, UNITS)
        self.decoder = torch.nn.LSTMCell(WIDTH, UNITS)
        self.out = torch.nn.Linear(2 * UNITS, WORDS)
        self.double()
        with torch.no_grad():
            for salt, p in enumerate(self.parameters()):
                p.copy_(tensor(p.shape, salt, 0.5))

    def encode(self, source, lengths):
        packed, (h, c) = self.encoder(pack_padded_sequence(self.source(source), lengths, enforce_sorted=False))
        memory, _ = pad_packed_sequence(packed)
        inside = torch.arange(len(source))[None, :] < lengths[:, None]  # [batch, time]
        return memory, inside, (h[0], c[0])

    def step(self, tokens, state, memory, inside):
        h, c = self.decoder(self.target(tokens), state)
        scores = torch.einsum("tbu,bu->bt", memory, h).masked_fill(~inside, -1e9)
        context = torch.einsum("bt,tbu->bu", torch.softmax(scores, 1), memory)
        return self.out(torch.cat([h, context], 1)), (h, c)


def loss_of(model, source, lengths, target, target_lengths):
    memory, inside, state = model.encode(source, lengths)
    tokens, losses = torch.full((len(lengths),), BEGIN), []
    for t in range(len(target)):
        logits, state = model.step(tokens, state, memory, inside)
        losses.append(F.cross_entropy(logits, target[t], reduction="none"))
        tokens = target[t]
    counted = torch.arange(len(target))[:, None] < target_lengths[None, :]
    return (torch.stack(losses) * counted).sum() / counted.sum()


def greedy(model, source, lengths):
    memory, inside, state = model.encode(source, lengths)
    tokens, ended, rows = torch.full((len(lengths),), BEGIN), torch.zeros(len(lengths), dtype=torch.bool), []
    for _ in range(MOST):
        logits, state = model.step(tokens, state, memory, inside)
        tokens = torch.where(ended, END, logits.argmax(1))
        ended = ended | (tokens == END)
        rows.append(tokens)
    rows = torch.stack(rows)
    return rows, (rows != END).sum(0)


def beam_search(model, source, length):
    """One hypothesis at a time, in Python's lists."""
    memory, inside, (h, c) = model.encode(source, length)
    beams = [(0.0, [], h, c)]
    for _ in range(MOST):
        if all(tokens and tokens[-1] == END for _, tokens, _, _ in beams):
            break
        grown = []
        for score, tokens, h, c in beams:
            if tokens and tokens[-1] == END:
                grown.append((score, tokens + [END], h, c))
                continue
            logits, (nh, nc) = model.step(torch.tensor([tokens[-1] if tokens else BEGIN]), (h, c), memory, inside)
            for word, p in enumerate(torch.log_softmax(logits, 1)[0].tolist()):
                grown.append((score + p, tokens + [word], nh, nc))
        beams = sorted(grown, key=lambda b: -b[0])[:BEAM]
    scores = [b[0] for b in beams]
    assert min(a - b for a, b in zip(scores, scores[1:])) > 1e-6
    return [(b[1] + [END] * MOST)[:MOST] for b in beams], scores


def main():
    model = Model()
    source, lengths = padded(SOURCES)
    target, target_lengths = padded(TARGETS)
    optimizer = torch.optim.Adam(model.parameters(), 0.05)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = loss_of(model, source, lengths, target, target_lengths)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        tokens, count = greedy(model, source, lengths)
        beams, scores = beam_search(model, source[:, :1], lengths[:1])
    print(f"{losses[0]:.4f} -> {losses[-1]:.4f}\n{tokens.T}\n{beams} {scores}")
    outs = [Array("f64", np.array(losses)), Array("i64", tokens.numpy()), Array("i64", count.numpy()),
            Array("i64", np.array(beams)), Array("f64", np.array(scores))]
    lines = ["# Written by tests/referee/seq2seq.py: PyTorch, float64.", "", "case reversed", "op seq2seq",
             *(f"out {a.text()}" for a in outs), "end"]
    (GOLDEN / "seq2seq.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
