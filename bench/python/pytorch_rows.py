"""PyTorch from Python: eager, images in channels-last order."""

import itertools

import torch
import torch.nn.functional as F

from contest import (ALEXNET_CONVS, CHAINS, FILTERS, IMAGES, LSTM_BATCH, LSTM_TIME, LSTM_UNITS, MATMULS, MLPS, RATE,
                     TREE_CLASSES, TREE_LEAVES, TREE_WIDTH, TREE_WORDS, alexnet_weights, hash_of, integers, lstm_weights,
                     mlp_weights, numbers, serve)


def tensor(array, grad=False):
    return torch.from_numpy(array).requires_grad_(grad)


def image(array):
    """[batch, height, width, channels] as PyTorch's channels-last images, without a copy."""
    return torch.from_numpy(array).permute(0, 3, 1, 2)


def filters(array, grad=True):
    return torch.from_numpy(array).permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last).requires_grad_(grad)


def on(prepare):
    def with_threads(threads):
        torch.set_num_threads(threads)
        return prepare()

    return with_threads


@on
def null_step():
    x, v = torch.tensor(1.0), torch.tensor(2.0)
    return lambda: x + v


def training(parameters, loss_of):
    optimizer = torch.optim.SGD(parameters, RATE)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def mlp(row):
    @on
    def prepare():
        batch, widths, _ = MLPS[row]
        x, y = tensor(numbers((batch, widths[0]), 0, 1)), tensor(integers(batch, 9, 10))
        layers = [(tensor(w, True), tensor(b, True)) for w, b in mlp_weights(row)]

        def loss_of():
            h = x
            for k, (w, b) in enumerate(layers):
                h = torch.addmm(b, h, w)
                if k + 1 < len(layers):
                    h = torch.relu(h)
            return F.cross_entropy(h, y)

        return training([p for layer in layers for p in layer], loss_of)

    return prepare


def chain(n):
    @on
    def prepare():
        x, a, b = tensor(numbers(n, 0, 2)), tensor(numbers(n, 1, 1)), tensor(numbers(n, 2, 1))
        return lambda: (torch.tanh(x * a + b) * torch.sigmoid(x) + torch.exp(-x * x))[-1]

    return prepare


def matmul(n):
    @on
    def prepare():
        a, b = tensor(numbers((n, n), 0, 1)), tensor(numbers((n, n), 1, 1))
        return lambda: torch.mm(a, b)[-1, -1]

    return prepare


@on
def conv_forward():
    x, w = image(numbers(IMAGES, 0, 1)), filters(numbers(FILTERS, 1, 0.05), False)
    return lambda: F.conv2d(x, w, padding=1)[-1, -1, -1, -1]


@on
def conv_train():
    x, w = image(numbers(IMAGES, 0, 1)).requires_grad_(), filters(numbers(FILTERS, 1, 0.05))

    def step():
        y = F.conv2d(x, w, padding=1)
        loss = (y * y).sum() * 0.5
        dx, dw = torch.autograd.grad(loss, (x, w))
        return loss.detach() + dx[-1, -1, -1, -1] + dw[-1, -1, -1, -1]

    return step


@on
def alexnet():
    x, y = image(numbers((8, 224, 224, 3), 0, 1)), tensor(integers(8, 9, 1000))
    convs, dense = alexnet_weights()
    convs = [(filters(w), tensor(b, True)) for w, b in convs]
    dense = [(tensor(w, True), tensor(b, True)) for w, b in dense]

    def loss_of():
        h = x
        for (w, b), (_, _, stride, padding, pooled) in zip(convs, ALEXNET_CONVS):
            h = torch.relu(F.conv2d(h, w, b, stride=stride, padding=padding))
            if pooled:
                h = F.max_pool2d(h, 3, 2)
        h = h.permute(0, 2, 3, 1).reshape(8, -1)
        for k, (w, b) in enumerate(dense):
            h = torch.addmm(b, h, w)
            if k < 2:
                h = torch.relu(h)
        return F.cross_entropy(h, y)

    return training([p for layer in convs + dense for p in layer], loss_of)


@on
def lstm():
    x = tensor(numbers((LSTM_TIME, LSTM_BATCH, LSTM_UNITS), 0, 1))
    net = torch.nn.LSTM(LSTM_UNITS, LSTM_UNITS)
    with torch.no_grad():
        for p, w in zip(net.parameters(), lstm_weights()):
            p.copy_(torch.from_numpy(w))
    return training(list(net.parameters()), lambda: net(x)[0].square().mean())


def trees(shapes):
    """A recursive network on trees of 16 leaves, as flowgraph/tree.cpp has them."""

    @on
    def prepare():
        table, w = tensor(numbers((TREE_WORDS, TREE_WIDTH), 1, 0.5), True), tensor(
            numbers((2 * TREE_WIDTH, TREE_WIDTH), 2, 0.2), True)
        b, out = torch.zeros(TREE_WIDTH, requires_grad=True), tensor(numbers((TREE_WIDTH, TREE_CLASSES), 3, 0.2), True)
        turns = itertools.count()

        def loss_of():
            turn = next(turns)
            ids = tensor(integers(TREE_LEAVES, 10 + turn, TREE_WORDS))
            nodes = list(F.embedding(ids, table).split(1))
            hashes = hash_of(TREE_LEAVES, 100 + turn % shapes)
            for k in range(TREE_LEAVES - 1):
                at = int(hashes[k]) % (len(nodes) - 1)
                nodes[at:at + 2] = [torch.tanh(torch.addmm(b, torch.cat(nodes[at:at + 2], 1), w))]
            return F.cross_entropy(torch.mm(nodes[0], out), torch.tensor([turn % TREE_CLASSES]))

        return training([table, w, b, out], loss_of)

    return prepare


serve({
    "null_step": null_step,
    **{row: mlp(row) for row in MLPS},
    **{row: chain(n) for row, n in CHAINS.items()},
    **{row: matmul(n) for row, n in MATMULS.items()},
    "conv_forward": conv_forward,
    "conv_train": conv_train,
    "alexnet": alexnet,
    "lstm": lstm,
    "tree_new": trees(1 << 32),
    "tree_met": trees(8),
})
