"""Writes what examples/14_recursive_network.cpp learns from: logical expressions to examples/data/expressions.txt, each
with the loss that PyTorch has on it in its one pass over them, in double precision; and the weights with which both
begin to examples/data/expressions.safetensors. Needs torch and safetensors.
"""

import pathlib
import random

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

DATA = pathlib.Path(__file__).resolve().parents[2] / "examples" / "data"
WIDTH, LEARNED, HELD_OUT, MOST_LEAVES, RATE = 16, 600, 200, 12, 0.05
BINARY = {"&": lambda a, b: a and b, "|": lambda a, b: a or b, "^": lambda a, b: a != b}


def expression(leaves):
    if random.random() < 0.15:
        return ("!", expression(leaves))
    if leaves == 1:
        return (random.choice("tf"),)
    left = random.randint(1, leaves - 1)
    return (random.choice("&|^"), expression(left), expression(leaves - left))


def text(e):
    if e[0] == "!":
        return "!" + text(e[1])
    return e[0] if len(e) == 1 else f"({text(e[1])}{e[0]}{text(e[2])})"


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()

        def matrix(rows, columns):
            return torch.nn.Parameter(torch.randn(rows, columns) * rows**-0.5)

        self.constants = matrix(2, WIDTH)
        self.no = torch.nn.ParameterList([matrix(WIDTH, WIDTH), torch.nn.Parameter(torch.zeros(1, WIDTH))])
        self.binary = torch.nn.ModuleDict({
            name: torch.nn.ParameterList([matrix(2 * WIDTH, WIDTH), torch.nn.Parameter(torch.zeros(1, WIDTH))])
            for name in ("and", "or", "xor")})
        self.out = matrix(WIDTH, 1)

    def names(self):
        yield "constants", self.constants
        for name, (w, b) in [("not", self.no), *self.binary.items()]:
            yield f"{name}/w", w
            yield f"{name}/b", b
        yield "out", self.out

    def read(self, e, logits, values):
        """The vector of a tree; what it says of every tree inside, and what is true, go to the lists."""
        if e[0] in "tf":
            h, value = self.constants[None, "ft".index(e[0])], e[0] == "t"
        elif e[0] == "!":
            h, value = self.read(e[1], logits, values)
            w, b = self.no
            h, value = torch.tanh(h @ w + b), not value
        else:
            (x, left), (y, right) = self.read(e[1], logits, values), self.read(e[2], logits, values)
            w, b = self.binary[{"&": "and", "|": "or", "^": "xor"}[e[0]]]
            h, value = torch.tanh(torch.cat([x, y], 1) @ w + b), BINARY[e[0]](left, right)
        logits.append(h @ self.out)
        values.append(value)
        return h, value

    def loss(self, e):
        logits, values = [], []
        self.read(e, logits, values)
        truth = torch.tensor(values, dtype=logits[0].dtype)[:, None]
        return F.binary_cross_entropy_with_logits(torch.cat(logits), truth)


def main() -> None:
    random.seed(1)
    torch.manual_seed(1)
    torch.set_num_threads(1)
    all_texts, expressions = set(), []
    while len(expressions) < LEARNED + HELD_OUT:
        e = expression(random.randint(1 if len(expressions) < LEARNED else 4, MOST_LEAVES))
        if text(e) not in all_texts and len(text(e)) > 1:
            all_texts.add(text(e))
            expressions.append(e)
    model = Network()
    save_file({name: p.detach().clone() for name, p in model.names()}, DATA / "expressions.safetensors")
    model = model.double()
    optimizer = torch.optim.Adagrad(model.parameters(), RATE, initial_accumulator_value=0.1, eps=1e-7)
    with open(DATA / "expressions.txt", "w") as out:
        for e in expressions[:LEARNED]:
            optimizer.zero_grad(set_to_none=True)  # who has no part in a tree is left alone
            loss = model.loss(e)
            loss.backward()
            optimizer.step()
            out.write(f"{text(e)} {loss.item():.9g}\n")
        for e in expressions[LEARNED:]:
            out.write(f"{text(e)}\n")

    for epoch in range(5):
        for e in random.sample(expressions[:LEARNED], LEARNED):
            optimizer.zero_grad(set_to_none=True)
            model.loss(e).backward()
            optimizer.step()
        right = 0
        for e in expressions[LEARNED:]:
            logits, values = [], []
            model.read(e, logits, values)
            right += (logits[-1].item() > 0) == values[-1]
        print(f"epoch {epoch}: {right} of {HELD_OUT}")


if __name__ == "__main__":
    main()
