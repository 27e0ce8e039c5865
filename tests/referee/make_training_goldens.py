#!/usr/bin/env python3
"""Writes tests/golden/digits_mlp.txt (losses of short trainings) and tests/golden/ridge.txt (closed-form weights).

Both read examples/data, so run make_data.py first. JAX gives the gradients of the network, in double precision; NumPy
does the updates and the normal equations; scikit-learn is the second referee of the ridge weights.
"""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from sklearn.linear_model import Ridge

from golden_writer import GOLDEN, Array

DATA = Path(__file__).resolve().parents[2] / "examples" / "data"
STEPS, BATCH, IMAGES, HIDDEN = 20, 32, 160, 32


# ------------------------------------------------------------------------------------------------------ digits_mlp


def loss(parameters, x, y):
    w1, b1, w2, b2 = parameters
    logits = jax.nn.relu(x @ w1 + b1) @ w2 + b2
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1))


def sgd(lr):
    return lambda w, g, state: (w - lr * g, state)


def momentum(lr, m):  # v = m v + g; w -= lr v; v starts at zero
    def update(w, g, v):
        v = m * v + g
        return w - lr * v, v

    return update


def adagrad(lr, epsilon):  # a = a + g^2; w -= lr g / (sqrt(a) + epsilon); a starts at the initial accumulator
    def update(w, g, a):
        a = a + g * g
        return w - lr * g / (np.sqrt(a) + epsilon), a

    return update


def train(initial, x, y, update, state, dtype):
    """The loss of each step's batch before its update, and the parameters after the last."""
    step = jax.jit(jax.value_and_grad(loss))
    parameters = [w.astype(dtype) for w in initial]
    states = [np.full_like(w, state) for w in parameters]
    losses = []
    for i in range(STEPS):
        at = slice(i * BATCH % IMAGES, i * BATCH % IMAGES + BATCH)
        value, gradients = step(parameters, x[at].astype(dtype), y[at])
        losses.append(float(value))
        for k, g in enumerate(gradients):
            parameters[k], states[k] = update(parameters[k], np.asarray(g), states[k])
            assert parameters[k].dtype == dtype
    return np.array(losses), parameters


def digits_mlp() -> None:
    data = np.loadtxt(DATA / "digits.csv", delimiter=",")[:IMAGES]
    x, y = data[:, :64] / 16, data[:, 64].astype(np.int64)
    rng = np.random.default_rng(20161102)
    initial = [
        Array("f32", np.round(rng.uniform(-0.15, 0.15, (64, HIDDEN)), 3)),
        Array("f32", np.round(rng.uniform(-0.05, 0.05, HIDDEN), 3)),
        Array("f32", np.round(rng.uniform(-0.3, 0.3, (HIDDEN, 10)), 3)),
        Array("f32", np.round(rng.uniform(-0.05, 0.05, 10), 3)),
    ]
    lines = [
        "# Written by tests/referee/make_training_goldens.py. The first 160 lines of examples/data/digits.csv, pixels",
        "# divided by 16, in batches of 32 in the order of the file, four times over: 20 steps. The network is",
        "# relu(x w1 + b1) w2 + b2 with mean softmax cross-entropy. out 0: the loss of each step before its update;",
        "# out 1: b2 after the last step. Computed in float64 from float32 initial values.",
        "",
        "case initial_parameters",
        "op w1_b1_w2_b2",
        *(f"out {w.text()}" for w in initial),
        "end",
    ]
    optimizers = [
        ("sgd", {"learning_rate": 0.1}, sgd(0.1), 0.0),
        ("momentum", {"learning_rate": 0.1, "momentum": 0.9}, momentum(0.1, 0.9), 0.0),
        ("adagrad", {"learning_rate": 0.05, "initial_accumulator": 0.1, "epsilon": 0}, adagrad(0.05, 0.0), 0.1),
    ]
    for name, attrs, update, state in optimizers:
        weights = [w.values for w in initial]
        losses, final = train(weights, x, y, update, state, np.float64)
        single, _ = train(weights, x, y, update, state, np.float32)
        apart = np.max(np.abs(single - losses) / losses)
        print(f"{name}: {losses[0]:.4f} -> {losses[-1]:.4f}, float32 within {apart:.1e}")
        lines += ["", f"case {name}", f"op {name}", *(f"attr {k} {v}" for k, v in attrs.items())]
        lines += [f"out {Array('f64', losses).text()}", f"out {Array('f64', final[3]).text()}", "end"]
    (GOLDEN / "digits_mlp.txt").write_text("\n".join(lines) + "\n")


# ----------------------------------------------------------------------------------------------------------- ridge


def ridge() -> None:
    data = np.loadtxt(DATA / "diabetes.csv", delimiter=",", skiprows=1)
    x, target = data[:, :10].astype(np.float32).astype(np.float64), data[:, 10]
    y = target - target.mean()
    lines = [
        "# Written by tests/referee/make_training_goldens.py. examples/data/diabetes.csv, features as they stand, no",
        "# intercept, y = target - mean(target). out 0: the w that minimises |x w - y|^2 + lambda |w|^2, which is",
        "# (xT x + lambda I)^-1 xT y; out 1: that minimum. Computed in float64.",
    ]
    for strength in (0.1, 1.0, 10.0):
        w = np.linalg.solve(x.T @ x + strength * np.eye(10), x.T @ y)
        second = Ridge(alpha=strength, fit_intercept=False, solver="svd").fit(x, y).coef_
        np.testing.assert_allclose(w, second, rtol=1e-9)
        cost = np.sum((x @ w - y) ** 2) + strength * np.sum(w**2)
        lines += ["", f"case ridge_{strength}", "op ridge", f"attr lambda {strength}",
                  f"attr target_mean {target.mean()}"]
        lines += [f"out {Array('f64', w).text()}", f"out {Array('f64', cost).text()}", "end"]
    (GOLDEN / "ridge.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    digits_mlp()
    ridge()
