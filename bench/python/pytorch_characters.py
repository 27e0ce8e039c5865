"""bench/flowgraph/characters.cpp with PyTorch: TEXT STEPS THREADS."""

import pathlib
import sys
import time

import torch
import torch.nn.functional as F

from inputs import numbers

LETTERS, WIDTH, UNITS, LENGTH, ROWS = 128, 64, 256, 64, 32


def main():
    text = torch.frombuffer(bytearray(pathlib.Path(sys.argv[1]).read_bytes()), dtype=torch.uint8).long()
    steps = int(sys.argv[2])
    torch.set_num_threads(int(sys.argv[3]))
    part = len(text) // ROWS
    streams = text[: part * ROWS].reshape(ROWS, part).T.contiguous()  # [letters, rows]
    table = torch.nn.Embedding(LETTERS, WIDTH)
    net = torch.nn.LSTM(WIDTH, UNITS)
    out = torch.nn.Linear(UNITS, LETTERS)
    with torch.no_grad():
        for k, p in enumerate([table.weight, *net.parameters()]):
            p.copy_(torch.from_numpy(numbers(tuple(p.shape), 1 + k, 0.5 if k == 0 else 0.06)))
        out.weight.copy_(torch.from_numpy(numbers((UNITS, LETTERS), 6, 0.06)).T)
        out.bias.zero_()
    optimizer = torch.optim.Adam([*table.parameters(), *net.parameters(), *out.parameters()], 0.002)
    losses = []
    begin = time.perf_counter()
    for step in range(steps):
        x = streams[step * LENGTH:][:LENGTH]
        y = text[(torch.arange(ROWS) * part)[None, :] + torch.arange(step * LENGTH + 1, (step + 1) * LENGTH + 1)[:, None]]
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(out(net(table(x))[0]).reshape(-1, LETTERS), y.reshape(-1))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    seconds = time.perf_counter() - begin
    print("\n".join(f"{l:.7g}" for l in losses))
    print(f"{seconds:.3f}")


main()
