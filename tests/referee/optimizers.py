"""Trains a small linear model with the optimizers, schedules and clippings of PyTorch (ftrl and lion: TensorFlow) and
writes tests/golden/optimizers_torch.txt or optimizers_tensorflow.txt, as its argument says: the two do not load into one
process. Needs what golden_writer.py needs beside them.

The weights and the four batches are a hash of the index (bench/python/inputs.py). Everything is float64.
"""

import sys
from pathlib import Path

import numpy as np

from golden_writer import GOLDEN, Array

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "python"))
from inputs import integers, numbers  # noqa: E402

STEPS, BATCHES, ROWS, IN, OUT = 100, 4, 8, 6, 2
X = numbers((BATCHES, ROWS, IN), 0, 1).astype(np.float64)
Y = numbers((BATCHES, ROWS, OUT), 1, 2).astype(np.float64)
W = numbers((IN, OUT), 2, 0.5).astype(np.float64)
TABLE = numbers((5, 2), 3, 1).astype(np.float64)
INDICES = integers((BATCHES, ROWS), 4, 4)  # the last row is never looked up, some come twice


def with_torch(make, schedule=None, clip=None, accumulate=1):
    w = torch.tensor(W, requires_grad=True)
    optimizer = make([w])
    scheduler = schedule(optimizer) if schedule else None
    losses = []
    for i in range(STEPS):
        optimizer.zero_grad()
        for part in range(accumulate):
            k = (i * accumulate + part) % BATCHES
            loss = torch.mean((torch.tensor(X[k]) @ w - torch.tensor(Y[k])) ** 2)
            (loss / accumulate).backward()
        losses.append(loss.item())  # of the last part
        if clip:
            clip([w])
        optimizer.step()
        if scheduler:
            scheduler.step()
    return losses, w.detach().numpy()


def with_tensorflow(optimizer):
    w = tf.Variable(W)
    losses = []
    for i in range(STEPS):
        k = i % BATCHES
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.constant(X[k]) @ w - tf.constant(Y[k])) ** 2)
        optimizer.apply_gradients([(tape.gradient(loss, w), w)])
        losses.append(float(loss))
    return losses, w.numpy()


def with_table(make, sparse):
    """The embedding of the rows' indices, squared and summed."""
    table = torch.tensor(TABLE, requires_grad=True)
    optimizer = make([table])
    losses = []
    for i in range(STEPS):
        optimizer.zero_grad()
        rows = torch.nn.functional.embedding(torch.tensor(INDICES[i % BATCHES]), table, sparse=sparse)
        loss = torch.mean((rows - torch.tensor(Y[i % BATCHES])) ** 2)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, table.detach().numpy()


def torch_cases():
    o = torch.optim
    sgd = lambda p: o.SGD(p, 0.1)  # noqa: E731
    schedulers = o.lr_scheduler
    return {
        "gradient_descent": with_torch(sgd),
        "momentum": with_torch(lambda p: o.SGD(p, 0.05, momentum=0.9)),
        "nesterov": with_torch(lambda p: o.SGD(p, 0.05, momentum=0.9, nesterov=True)),
        "adagrad": with_torch(lambda p: o.Adagrad(p, 0.1, initial_accumulator_value=0.1, eps=1e-7)),
        "adadelta": with_torch(lambda p: o.Adadelta(p, 1.0, rho=0.9, eps=1e-6)),
        "rmsprop": with_torch(lambda p: o.RMSprop(p, 0.01)),
        "rmsprop_centered": with_torch(lambda p: o.RMSprop(p, 0.01, alpha=0.9, momentum=0.5, centered=True)),
        "adam": with_torch(lambda p: o.Adam(p, 0.01)),
        "adam_parameters": with_torch(lambda p: o.Adam(p, 0.05, betas=(0.8, 0.95), eps=1e-3)),
        "adamw": with_torch(lambda p: o.AdamW(p, 0.01, weight_decay=0.1)),
        "weight_decay": with_torch(lambda p: o.SGD(p, 0.1, weight_decay=0.05)),
        "clip_by_value": with_torch(sgd, clip=lambda p: torch.nn.utils.clip_grad_value_(p, 0.1)),
        "clip_by_norm": with_torch(sgd, clip=lambda p: torch.nn.utils.clip_grad_norm_(p, 0.2)),
        "accumulated": with_torch(sgd, accumulate=BATCHES),
        "step_decay": with_torch(sgd, lambda x: schedulers.StepLR(x, 30, 0.5)),
        "exponential_decay": with_torch(sgd, lambda x: schedulers.ExponentialLR(x, 0.97)),
        "cosine_decay": with_torch(sgd, lambda x: schedulers.CosineAnnealingLR(x, 100, 0.01)),
        "piecewise_constant": with_torch(
            sgd, lambda x: schedulers.LambdaLR(x, lambda t: 1.0 if t < 20 else 0.5 if t < 60 else 0.1)),
        "warm_up": with_torch(sgd, lambda x: schedulers.LinearLR(x, 1 / 10, 1.0, 9)),
        "sparse_gradient_descent": with_table(lambda p: o.SGD(p, 0.5), True),
        "sparse_adagrad": with_table(lambda p: o.Adagrad(p, 0.1, eps=1e-10), True),
        "sparse_adam": with_table(lambda p: o.SparseAdam(p, 0.01), True),
    }


def tensorflow_cases():
    keras = tf.keras.optimizers
    return {
        "ftrl": with_tensorflow(keras.Ftrl(0.5, initial_accumulator_value=0.1)),
        "ftrl_regularised": with_tensorflow(
            keras.Ftrl(0.5, initial_accumulator_value=0.1, l1_regularization_strength=0.5,
                       l2_regularization_strength=0.1)),
        "lion": with_tensorflow(keras.Lion(0.01)),
        "lion_decay": with_tensorflow(keras.Lion(0.01, beta_1=0.8, beta_2=0.95, weight_decay=0.1)),
    }


def main():
    name = sys.argv[1]
    lines = [
        "# Written by tests/referee/optimizers.py, in float64. out 0: the loss of each of 100 steps before its update;",
        "# out 1: the weights after the last.",
    ]
    for case, (losses, weights) in {"torch": torch_cases, "tensorflow": tensorflow_cases}[name]().items():
        print(f"{case}: {losses[0]:.4f} -> {losses[-1]:.4f}")
        lines += ["", f"case {case}", "op training", f"out {Array('f64', np.array(losses)).text()}",
                  f"out {Array('f64', weights).text()}", "end"]
    (GOLDEN / f"optimizers_{name}.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    if sys.argv[1:] == ["torch"]:
        import torch
    elif sys.argv[1:] == ["tensorflow"]:
        import tensorflow as tf
    else:
        sys.exit(__doc__)
    main()
