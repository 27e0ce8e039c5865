"""JAX: every step is one jitted function; parameters are donated. XLA takes its threads from the processors that the
process may use."""

import os
import sys

os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(sys.argv[2])])

import jax
import jax.numpy as jnp
from jax import lax

from contest import (ALEXNET_CONVS, CHAINS, FILTERS, IMAGES, LSTM_BATCH, LSTM_TIME, LSTM_UNITS, MATMULS, MLPS, RATE,
                     TURNS, alexnet_weights, integers, lstm_weights, mlp_weights, numbers, serve)


def conv(x, w, stride=1, padding=1):
    return lax.conv_general_dilated(x, w, (stride, stride), [(padding, padding)] * 2,
                                    dimension_numbers=("NHWC", "HWIO", "NHWC"))


def cross_entropy(logits, y):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1))


def training(parameters, loss_of):
    state = jax.device_put(parameters)

    def update(parameters):
        loss, gradients = jax.value_and_grad(loss_of)(parameters)
        return loss, jax.tree.map(lambda w, g: w - RATE * g, parameters, gradients)

    update = jax.jit(update, donate_argnums=0)

    def step():
        nonlocal state
        loss, state = update(state)
        jax.block_until_ready(state)
        return loss

    return step


def null_step(threads):
    v = jnp.float32(2)
    f = jax.jit(lambda x: x + v)
    return lambda: f(1.0).block_until_ready()


def mlp(row):
    def prepare(threads):
        batch, widths, _ = MLPS[row]
        x, y = jnp.asarray(numbers((batch, widths[0]), 0, 1)), jnp.asarray(integers(batch, 9, 10))

        def loss_of(layers):
            h = x
            for k, (w, b) in enumerate(layers):
                h = h @ w + b
                if k + 1 < len(layers):
                    h = jax.nn.relu(h)
            return cross_entropy(h, y)

        return training(mlp_weights(row), loss_of)

    return prepare


def chain(n):
    def prepare(threads):
        x, a, b = (jnp.asarray(numbers(n, k, s)) for k, s in ((0, 2), (1, 1), (2, 1)))
        f = jax.jit(lambda x, a, b: jnp.tanh(x * a + b) * jax.nn.sigmoid(x) + jnp.exp(-x * x))

        def step():
            y = f(x, a, b).block_until_ready()
            return y

        return lambda: last(step())

    return prepare


def matmul(n):
    def prepare(threads):
        a, b = jnp.asarray(numbers((n, n), 0, 1)), jnp.asarray(numbers((n, n), 1, 1))
        f = jax.jit(jnp.matmul)
        return lambda: last(f(a, b).block_until_ready())

    return prepare


def conv_forward(threads):
    x, w = jnp.asarray(numbers(IMAGES, 0, 1)), jnp.asarray(numbers(FILTERS, 1, 0.05))
    f = jax.jit(conv)
    return lambda: last(f(x, w).block_until_ready())


def conv_train(threads):
    x, w = jnp.asarray(numbers(IMAGES, 0, 1)), jnp.asarray(numbers(FILTERS, 1, 0.05))
    f = jax.jit(jax.value_and_grad(lambda x, w: jnp.sum(conv(x, w) ** 2) / 2, (0, 1)))

    def step():
        loss, (dx, dw) = jax.block_until_ready(f(x, w))
        return float(loss) + last(dx) + last(dw)

    return step


def last(array):
    """The last element, without a copy of the array or another dispatch to XLA."""
    return memoryview(array).cast("B").cast("f")[-1]


def alexnet(threads):
    x, y = jnp.asarray(numbers((8, 224, 224, 3), 0, 1)), jnp.asarray(integers(8, 9, 1000))

    def loss_of(parameters):
        convs, dense = parameters
        h = x
        for (w, b), (_, _, stride, padding, pooled) in zip(convs, ALEXNET_CONVS):
            h = jax.nn.relu(conv(h, w, stride, padding) + b)
            if pooled:
                h = lax.reduce_window(h, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "VALID")
        h = h.reshape(8, -1)
        for k, (w, b) in enumerate(dense):
            h = h @ w + b
            if k < 2:
                h = jax.nn.relu(h)
        return cross_entropy(h, y)

    return training(alexnet_weights(), loss_of)


def lstm(threads):
    """By scan; the product with the inputs stands before the loop."""
    x = jnp.asarray(numbers((LSTM_TIME, LSTM_BATCH, LSTM_UNITS), 0, 1))

    def loss_of(weights):
        w_ih, w_hh, b_ih, b_hh = weights

        def turn(state, projected):
            h, c = state
            i, f, g, o = jnp.split(projected + h @ w_hh.T, 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zero = jnp.zeros((LSTM_BATCH, LSTM_UNITS))
        return jnp.mean(lax.scan(turn, (zero, zero), x @ w_ih.T + (b_ih + b_hh))[1] ** 2)

    return training(lstm_weights(), loss_of)


def while_loop(threads):
    count = jax.jit(lambda n: lax.while_loop(lambda i: i < n, lambda i: i + 1, 0))
    return lambda: int(count(TURNS))


serve({
    "null_step": null_step,
    **{row: mlp(row) for row in MLPS},
    **{row: chain(n) for row, n in CHAINS.items()},
    **{row: matmul(n) for row, n in MATMULS.items()},
    "conv_forward": conv_forward,
    "conv_train": conv_train,
    "alexnet": alexnet,
    "lstm": lstm,
    "while_loop": while_loop,
})
