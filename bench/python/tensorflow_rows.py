"""TensorFlow from Python: a session on a graph, as flowgraph's are. tensorflow_rows.py --graph ROW DIRECTORY writes
the graph and its numbers for the contestant that runs it through the C API."""

import os
import pathlib
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow.compat.v1 as tf

from contest import (ALEXNET_CONVS, CHAINS, FILTERS, IMAGES, LSTM_BATCH, LSTM_TIME, LSTM_UNITS, MATMULS, MLPS, RATE,
                     TURNS, alexnet_weights, integers, lstm_weights, mlp_weights, numbers, serve)

tf.disable_eager_execution()
tf.disable_resource_variables()


class Graph:
    """A graph being built: feeds by name, what is fetched, operations that a step also runs."""

    def __init__(self):
        self.graph = tf.Graph()
        self.feeds, self.fetches, self.operations = {}, [], []
        self.initial = {}

    def fed(self, name, value):
        value = np.asarray(value)
        self.feeds[name] = value
        return tf.placeholder(value.dtype, value.shape, name)

    def variable(self, name, value):
        """Filled by an assignment of a placeholder, so that the graph stays small."""
        value = np.asarray(value, np.float32)
        made = tf.get_variable(name, value.shape, tf.float32, tf.zeros_initializer(), use_resource=False)
        given = tf.placeholder(tf.float32, value.shape, f"{name}_initial")
        self.initial[name] = (tf.assign(made, given, name=f"{name}_assign"), given, value)
        return made

    def finish(self, fetch, *also, train=None):
        self.fetches = [tf.identity(fetch, "y"), *(tf.identity(t, f"also{i}") for i, t in enumerate(also))]
        if train is not None:
            with tf.control_dependencies([tf.train.GradientDescentOptimizer(RATE).minimize(train)]):
                self.operations = [tf.no_op("train")]


def null_step(g):
    g.finish(g.fed("x", np.float32(1)) + g.variable("v", 2))


def dense(h, g, layers, first):
    for k, (w, b) in enumerate(layers):
        h = tf.matmul(h, g.variable(f"w{first + k}", w)) + g.variable(f"b{first + k}", b)
        if k + 1 < len(layers):
            h = tf.nn.relu(h)
    return h


def cross_entropy(logits, y):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))


def mlp(row):
    def build(g):
        batch, widths, _ = MLPS[row]
        x, y = g.fed("x", numbers((batch, widths[0]), 0, 1)), g.fed("labels", integers(batch, 9, 10))
        loss = cross_entropy(dense(x, g, mlp_weights(row), 1), y)
        g.finish(loss, train=loss)

    return build


def chain(n):
    def build(g):
        x, a, b = g.fed("x", numbers(n, 0, 2)), g.variable("a", numbers(n, 1, 1)), g.variable("b", numbers(n, 2, 1))
        g.finish(tf.tanh(x * a + b) * tf.sigmoid(x) + tf.exp(-x * x))

    return build


def matmul(n):
    return lambda g: g.finish(tf.matmul(g.fed("a", numbers((n, n), 0, 1)), g.fed("b", numbers((n, n), 1, 1))))


def conv_forward(g):
    w = g.variable("w", numbers(FILTERS, 1, 0.05))
    g.finish(tf.nn.conv2d(g.fed("x", numbers(IMAGES, 0, 1)), w, 1, "SAME"))


def conv_train(g):
    x, w = g.fed("x", numbers(IMAGES, 0, 1)), g.variable("w", numbers(FILTERS, 1, 0.05))
    loss = tf.nn.l2_loss(tf.nn.conv2d(x, w, 1, "SAME"))
    g.finish(loss, *tf.gradients(loss, [x, w]))


def alexnet(g):
    x, y = g.fed("x", numbers((8, 224, 224, 3), 0, 1)), g.fed("labels", integers(8, 9, 1000))
    convs, layers = alexnet_weights()
    h = x
    for k, ((w, b), (_, _, stride, padding, pooled)) in enumerate(zip(convs, ALEXNET_CONVS)):
        pads = [[0, 0], [padding, padding], [padding, padding], [0, 0]]
        h = tf.nn.relu(tf.nn.conv2d(h, g.variable(f"w{k + 1}", w), stride, pads) + g.variable(f"b{k + 1}", b))
        if pooled:
            h = tf.nn.max_pool2d(h, 3, 2, "VALID")
    loss = cross_entropy(dense(tf.reshape(h, (8, 9216)), g, layers, 6), y)
    g.finish(loss, train=loss)


def queue(g):
    """4,000 elements of 1 KB from 4 producers to 4 consumers, all of them loops in one step: no Python between two
    elements, and no copy of one."""
    x, q = g.fed("x", numbers(256, 0, 1)), tf.FIFOQueue(100, [tf.float32], [(256,)])

    def produce(i):
        with tf.control_dependencies([q.enqueue(x)]):
            return i + 1

    makers = [tf.while_loop(lambda i: i < 1000, produce, [0]) for _ in range(4)]
    takers = [tf.while_loop(lambda i, _: i < 1000, lambda i, total: (i + 1, total + q.dequeue()[-1]), [0, 0.0])
              for _ in range(4)]
    with tf.control_dependencies(makers):
        g.finish(tf.add_n([total for _, total in takers]))


def lstm(g):
    """By scan; the product with the inputs stands before the loop."""
    x, zero = g.fed("x", numbers((LSTM_TIME, LSTM_BATCH, LSTM_UNITS), 0, 1)), tf.zeros((LSTM_BATCH, LSTM_UNITS))
    w_ih, w_hh, b_ih, b_hh = (g.variable(f"w{k}", w) for k, w in enumerate(lstm_weights()))
    projected = tf.matmul(tf.reshape(x, (-1, LSTM_UNITS)), w_ih, transpose_b=True) + (b_ih + b_hh)

    def turn(state, row):
        i, f, new, o = tf.split(row + tf.matmul(state[0], w_hh, transpose_b=True), 4, -1)
        c = tf.sigmoid(f) * state[1] + tf.sigmoid(i) * tf.tanh(new)
        return tf.sigmoid(o) * tf.tanh(c), c

    h, _ = tf.scan(turn, tf.reshape(projected, (LSTM_TIME, LSTM_BATCH, -1)), (zero, zero))
    loss = tf.reduce_mean(tf.square(h))
    g.finish(loss, train=loss)


def while_loop(g):
    n = g.fed("n", np.int64(TURNS))
    g.finish(tf.while_loop(lambda i: i < n, lambda i: i + 1, [tf.constant(0, tf.int64)]))


BUILD = {
    "null_step": null_step,
    **{row: mlp(row) for row in MLPS},
    **{row: chain(n) for row, n in CHAINS.items()},
    **{row: matmul(n) for row, n in MATMULS.items()},
    "conv_forward": conv_forward,
    "conv_train": conv_train,
    "alexnet": alexnet,
    "queue": queue,
    "lstm": lstm,
    "while_loop": while_loop,
}


def built(row):
    g = Graph()
    with g.graph.as_default():
        BUILD[row](g)
    return g


def prepare(row):
    def with_threads(threads):
        g = built(row)
        config = tf.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads)
        s = tf.Session(graph=g.graph, config=config)
        for assign, given, value in g.initial.values():
            s.run(assign, {given: value})
        feeds = {g.graph.get_tensor_by_name(f"{name}:0"): value for name, value in g.feeds.items()}
        fetches = g.fetches + g.operations
        count = len(g.fetches)
        return lambda: sum(float(np.asarray(v).flat[-1]) for v in s.run(fetches, feeds)[:count])

    return with_threads


def write_graph(row, directory):
    """graph.pb; numbers.bin, all arrays one after another; names.txt, as tensorflow_c/rows.cpp reads it."""
    g = built(row)
    arrays = [("feed", name, value) for name, value in g.feeds.items()]
    arrays += [("variable", name, value) for name, (_, _, value) in g.initial.items()]
    lines = [f"{kind} {name} {tf.as_dtype(value.dtype).as_datatype_enum} {value.nbytes} {' '.join(map(str, value.shape))}"
             for kind, name, value in arrays]
    lines += [f"fetch {t.op.name}" for t in g.fetches] + [f"train {o.name}" for o in g.operations]
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "graph.pb").write_bytes(g.graph.as_graph_def().SerializeToString())
    (directory / "numbers.bin").write_bytes(b"".join(value.tobytes() for _, _, value in arrays))
    (directory / "names.txt").write_text("\n".join(lines) + "\n")


if sys.argv[1] == "--graph":
    write_graph(sys.argv[2], pathlib.Path(sys.argv[3]))
else:
    serve({row: prepare(row) for row in BUILD})
