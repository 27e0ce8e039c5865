"""Runs tf.nn.sampled_softmax_loss on candidates of TensorFlow's own samplers and writes
tests/golden/sampled_softmax.txt. Needs tensorflow and what golden_writer.py needs.

Everything is float64 but how often a class is expected, which TensorFlow's samplers give as float32.
"""

import tensorflow as tf

from golden_writer import GOLDEN, Array, Random

CLASSES, COUNT, UNITS = 20, 8, 3
LABELS = [0, 3, 1, 19, 3, 0]

SEEDS = (9, 5)
SAMPLERS = {
    "log_uniform": tf.random.log_uniform_candidate_sampler,
    "uniform": tf.random.uniform_candidate_sampler,
}


def case(name, sampler, seed) -> str:
    random = Random(name)
    weights, biases = random.floats(CLASSES, UNITS, dtype="f64"), random.floats(CLASSES, dtype="f64")
    inputs, weight = random.floats(len(LABELS), UNITS, dtype="f64"), random.floats(len(LABELS), dtype="f64")
    labels = tf.constant(LABELS, tf.int64)[:, None]
    tf.random.set_seed(seed)
    sampled, own, others = sampler(labels, 1, COUNT, False, CLASSES, seed=seed)
    # The cases are seeded so that there are classes drawn twice, and labels drawn once: of a label that is drawn twice
    # TensorFlow leaves out one only.
    drawn = [list(sampled.numpy()).count(k) for k in range(CLASSES)]
    assert max(drawn) > 1 and {drawn[k] for k in LABELS} == {0, 1}, sampled
    operands = [tf.Variable(a.values) for a in (weights, biases, inputs)]
    with tf.GradientTape() as tape:
        loss = tf.nn.sampled_softmax_loss(
            operands[0], operands[1], labels, operands[2], COUNT, CLASSES,
            sampled_values=(sampled, tf.cast(own, tf.float64), tf.cast(others, tf.float64)))
        total = tf.reduce_sum(loss * weight.values)
    gradients = [tf.convert_to_tensor(g).numpy() for g in tape.gradient(total, operands)]
    lines = [f"case {name}", "op sampled_softmax_loss"]
    lines += [f"in {a.text()}" for a in (weights, biases, inputs, Array("i64", LABELS), Array("i64", sampled.numpy()))]
    lines += [f"out {Array('f64', loss.numpy()).text()}", f"weight {weight.text()}"]
    lines += [f"grad {i} {Array('f64', g).text()}" for i, g in enumerate(gradients)]
    return "\n".join([*lines, "end"])


def main() -> None:
    cases = [case(name, sampler, seed) for (name, sampler), seed in zip(SAMPLERS.items(), SEEDS)]
    head = ("# Written by tests/referee/sampled_softmax.py: do not edit.\n"
            "# in: weights, biases, inputs, labels, candidates (drawn with replacement).\n\n")
    (GOLDEN / "sampled_softmax.txt").write_text(head + "\n\n".join(cases) + "\n")


if __name__ == "__main__":
    main()
