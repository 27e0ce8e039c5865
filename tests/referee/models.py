"""Trains four models with PyTorch and writes tests/golden/models.txt: the losses that flowgraph has to follow from the
same weights and batches. Needs torch and numpy.

Weights and batches are a hash of the index (bench/python/inputs.py), so that the file holds nothing but losses. Computed
in float64; what float32 in PyTorch makes of it is printed, and says how near a float32 library can come.
"""

import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "python"))
from inputs import integers, numbers  # noqa: E402

STEPS, BATCHES = 50, 4  # the batches come round again and again


def parameter(shape, salt, scale, dtype):
    return torch.tensor(numbers(shape, salt, scale), dtype=dtype, requires_grad=True)


def train(step):
    return np.array([step(i % BATCHES) for i in range(STEPS)])


def updated(optimizer, loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def mlp(dtype):
    """20-32-16-5, tanh and relu, Nesterov's momentum."""
    x = torch.tensor(numbers((BATCHES, 16, 20), 0, 1), dtype=dtype)
    y = torch.tensor(integers((BATCHES, 16), 1, 5))
    w1, b1 = parameter((20, 32), 2, 0.3, dtype), parameter(32, 3, 0.1, dtype)
    w2, b2 = parameter((32, 16), 4, 0.3, dtype), parameter(16, 5, 0.1, dtype)
    w3, b3 = parameter((16, 5), 6, 0.3, dtype), parameter(5, 7, 0.1, dtype)
    optimizer = torch.optim.SGD([w1, b1, w2, b2, w3, b3], 0.05, momentum=0.9, nesterov=True)

    def step(i):
        h = torch.relu(torch.tanh(x[i] @ w1 + b1) @ w2 + b2)
        return updated(optimizer, F.cross_entropy(h @ w3 + b3, y[i]))

    return [train(step), b3.detach().numpy()]


def cnn(dtype):
    """Two convolutions with batch normalisation by the batch's statistics, pooling, gradient descent; then the loss of
    the first batch by the running statistics, whose variance PyTorch divides by n - 1."""
    x = torch.tensor(numbers((BATCHES, 8, 10, 10, 3), 0, 1), dtype=dtype).permute(0, 1, 4, 2, 3)
    y = torch.tensor(integers((BATCHES, 8), 1, 4))

    def filters(shape, salt, scale):  # [height, width, in, out] here, [out, in, height, width] there
        return torch.tensor(numbers(shape, salt, scale), dtype=dtype).permute(3, 2, 0, 1).contiguous().requires_grad_()

    def norm(channels, salt):
        n = torch.nn.BatchNorm2d(channels, eps=1e-3, momentum=0.1, dtype=dtype)
        with torch.no_grad():
            n.weight.copy_(1 + torch.tensor(numbers(channels, salt, 0.2)))
            n.bias.copy_(torch.tensor(numbers(channels, salt + 1, 0.2)))
        return n

    w1, w2 = filters((3, 3, 3, 8), 2, 0.3), filters((3, 3, 8, 12), 3, 0.2)
    n1, n2 = norm(8, 4), norm(12, 6)
    w3, b3 = parameter((12, 4), 8, 0.5, dtype), parameter(4, 9, 0.1, dtype)
    optimizer = torch.optim.SGD([w1, w2, w3, b3, *n1.parameters(), *n2.parameters()], 0.1)

    def loss_of(i):
        h = F.max_pool2d(torch.relu(n1(F.conv2d(x[i], w1, padding=1))), 2)
        h = F.dropout(torch.relu(n2(F.conv2d(h, w2))), 0.0)
        return F.cross_entropy(h.mean((2, 3)) @ w3 + b3, y[i])

    losses = train(lambda i: updated(optimizer, loss_of(i)))
    n1.eval(), n2.eval()
    return [losses, loss_of(0).detach().numpy(), n1.running_mean.numpy(), n1.running_var.numpy()]


def embedding(dtype):
    """The mean of six rows of a table of 60, a linear layer, Adagrad; the table's gradients are sparse. The last row is
    never looked up."""
    ids = torch.tensor(integers((BATCHES, 16, 6), 0, 59))
    y = torch.tensor(integers((BATCHES, 16), 1, 3))
    table = parameter((60, 8), 2, 0.5, dtype)
    w, b = parameter((8, 3), 3, 0.5, dtype), parameter(3, 4, 0.1, dtype)
    optimizer = torch.optim.Adagrad([table, w, b], 0.5, initial_accumulator_value=0.1, eps=1e-7)

    def step(i):
        h = F.embedding(ids[i], table, sparse=True).mean(1)
        return updated(optimizer, F.cross_entropy(h @ w + b, y[i]))

    return [train(step), table.detach().numpy()[[0, 59]]]


def characters(dtype):
    """An LSTM that reads examples/data/genesis.txt and guesses the next character, Adam. Of batch k, row b: the 24
    characters behind number (4 k + b) 24, and the one that follows each."""
    text = (ROOT / "examples" / "data" / "genesis.txt").read_bytes()
    all = torch.tensor([[list(text[(4 * k + b) * 24:][:25]) for b in range(4)] for k in range(BATCHES)])
    table = parameter((128, 8), 2, 0.5, dtype)
    net = torch.nn.LSTM(8, 24, batch_first=True, dtype=dtype)
    with torch.no_grad():
        for k, p in enumerate(net.parameters()):
            p.copy_(torch.tensor(numbers(p.shape, 3 + k, 0.2)))
    w, b = parameter((24, 128), 7, 0.2, dtype), parameter(128, 8, 0.1, dtype)
    optimizer = torch.optim.Adam([table, *net.parameters(), w, b], 0.01)

    def step(i):
        h, _ = net(F.embedding(all[i, :, :-1], table))
        return updated(optimizer, F.cross_entropy((h @ w + b).reshape(-1, 128), all[i, :, 1:].reshape(-1)))

    return [train(step)]


def main() -> None:
    lines = ["# Written by tests/referee/models.py with PyTorch, in float64. out 0: the loss of each of 50 steps before its",
             "# update; then what models.py returns of the model afterwards."]
    for model in (mlp, cnn, embedding, characters):
        exact, single = model(torch.float64), model(torch.float32)
        apart = max(np.max(np.abs(a - b) / np.maximum(np.abs(a), 0.1)) for a, b in zip(exact, single))
        print(f"{model.__name__}: {exact[0][0]:.4f} -> {exact[0][-1]:.4f}, float32 within {apart:.1e}")
        lines += ["", f"case {model.__name__}", "op losses"]
        for out in exact:
            values = " ".join(repr(float(v)) for v in np.asarray(out).ravel())
            lines.append(f"out f64 {' '.join(map(str, np.shape(out)))}{' ' if np.ndim(out) else ''}: {values}")
        lines.append("end")
    (ROOT / "tests" / "golden" / "models.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
