#!/usr/bin/env python3
"""Random ONNX models, run here and by onnxruntime: the same numbers, or a refusal that the documentation has.

  fuzz.py TEST_PROGRAM [PYTHON] [--models N] [--seconds S] [--seed N] [--keep DIRECTORY]

Models of one node with whatever operands and attributes, and chains of a few; extents have numbers or names. --seconds:
goes on with further seeds for so long. --keep: where models that differ are left. FLOWGRAPH_FUZZ_NAMES=1 also lists those
that are refused for names of extents. PYTHON is another interpreter to try,
which has the packages onnx and onnxruntime. Ends with 77, after saying why, where nobody has them.
"""

import argparse
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("python", nargs="?")
    parser.add_argument("--models", type=int, default=250)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path)
    return parser.parse_args()


try:
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import numpy_helper
except ImportError:
    other = arguments().python
    if other is None or not pathlib.Path(other).is_file():
        print("skipped: the Python packages onnx and onnxruntime are not installed")
        sys.exit(77)
    os.execv(other, [other, *[a for a in sys.argv if a != other]])

from fuzz_ops import OPS, Model, Unfit, has_both  # noqa: E402

TOLERANCE = {"float16": 1e-2, "float32": 1e-4, "float64": 1e-8}

# What is not imported, as docs/onnx.md says: these refusals are no differences.
DOCUMENTED = re.compile(
    r"must be known when the model is imported|are not supported|is not supported|can't be imported"
    r"|images of one or two axes are supported|filters of one or two axes"
    r"|has an element type that no tensor here has|which no tensor here has"
    r"|no kernel|expected a floating-point operand|needs images whose extents are numbers"
    r"|only constant padding|only the first of equals|an odd size of at least 1 is supported"
    r"|the padding of a ConvTranspose must be stated|at most 8 axes"
)
# What onnxruntime refuses for reasons of its own: what it has no kernel for is no mistake of the model.
OWN_REASONS = re.compile(r"NOT_IMPLEMENTED|Type Error|Could not find an implementation|Unsupported|not supported|float16|must be non-negative")


VERBOSE = bool(os.environ.get("FLOWGRAPH_FUZZ_NAMES"))


def ort_run(model: onnx.ModelProto, feeds: dict) -> list[np.ndarray]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run([o.name for o in model.graph.output], feeds)


def write(directory: pathlib.Path, made: Model) -> None:
    directory.mkdir()
    onnx.save(made.proto, directory / "model.onnx")
    for k, info in enumerate(made.proto.graph.input):
        tensor = numpy_helper.from_array(made.feeds[info.name], info.name)
        (directory / f"input_{k}.pb").write_bytes(tensor.SerializeToString())


def results(directory: pathlib.Path) -> list[np.ndarray]:
    got = []
    while (path := directory / f"got_{len(got)}.pb").exists():
        tensor = onnx.TensorProto()
        tensor.ParseFromString(path.read_bytes())
        got.append(numpy_helper.to_array(tensor))
    return got


def difference(got: np.ndarray, expected: np.ndarray, made: Model) -> str:
    if got.dtype != expected.dtype or got.shape != expected.shape:
        return f"{got.dtype}{list(got.shape)}, expected {expected.dtype}{list(expected.shape)}"
    if expected.dtype.kind != "f":
        return "" if np.array_equal(got, expected) else f"{got.ravel()[:8]}, expected {expected.ravel()[:8]}"
    a, b = got.astype(np.float64), expected.astype(np.float64)
    tolerance = TOLERANCE[str(expected.dtype)] * made.looser
    scale = max(made.floor, np.abs(b[np.isfinite(b)]).max(initial=0.0) if made.looser > 1 else 0.0)
    with np.errstate(all="ignore"):
        same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= tolerance * np.maximum(np.abs(b), scale))
        same |= has_both(a, b, expected.dtype)
    if same.all():
        return ""
    k = int(np.argmin(same.ravel()))
    return f"{(~same).sum()} of {same.size} differ, the first at {k}: {a.ravel()[k]!r}, expected {b.ravel()[k]!r}"


def judge(made: Model, directory: pathlib.Path) -> tuple[str, str]:
    """A kind, and what is wrong; of kinds that are no mistake, nothing."""
    said = (directory / "done").read_text() if (directory / "done").exists() else ""
    what, _, reason = said.partition(" ")
    try:
        expected = ort_run(made.proto, made.feeds)
        theirs = ""
    except Exception as error:  # onnxruntime has no common class for them
        expected, theirs = [], str(error)
    if what not in ("run", "refused", "failed", "unreadable"):
        return "crashed", "the program ended here"
    if what != "run":
        if theirs or (what == "refused" and DOCUMENTED.search(reason)):
            return "refused by both" if theirs else "refused as documented", ""
        if made.named is not None:  # whether a name and a number are equal, only a run tells
            return "refused by name", reason if VERBOSE else ""
        return "refused here", reason
    if theirs:
        own = OWN_REASONS.search(theirs) or made.lenient
        return ("refused there", "") if own else ("accepted here", theirs.splitlines()[0])
    got = results(directory)
    for k, (a, b) in enumerate(zip(got, expected, strict=True)):
        if problem := difference(a, b, made):
            return "differs", f"output {k}: {problem}"
    return "same", ""


def one_round(program: str, seed: int, count: int, keep: pathlib.Path | None, tally: collections.Counter) -> int:
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        made = {}
        for k in range(count):
            random = np.random.default_rng([seed, k])
            name = f"{seed}_{k:05}"
            op = OPS[k % len(OPS)] if k < 2 * len(OPS) else OPS[random.integers(len(OPS))]
            try:
                made[name] = Model(random, op, 1 if random.random() < 0.75 else int(random.integers(2, 6)))
            except Unfit:
                tally["not made"] += 1
                continue
            write(pathlib.Path(scratch, name), made[name])
        environment = {**os.environ, "FLOWGRAPH_ONNX_MODELS": scratch}
        command = [program, "--test-case=onnx: models of a directory*"]
        for _ in range(20):  # a crash ends the program, and the next one goes on behind it
            if subprocess.run(command, env=environment, capture_output=True).returncode == 0:
                break
        for name, model in made.items():
            directory = pathlib.Path(scratch, name)
            kind, problem = judge(model, directory)
            tally[kind] += 1
            if problem:
                wrong += 1
                print(f"{name} {model.what}: {kind}: {problem}", flush=True)
                if keep:
                    shutil.copytree(directory, keep / name, dirs_exist_ok=True)
    return wrong


def main() -> int:
    a = arguments()
    if a.keep:
        a.keep.mkdir(parents=True, exist_ok=True)
    np.seterr(all="ignore")
    began, seed, wrong = time.monotonic(), a.seed, 0
    tally = collections.Counter()
    while True:
        wrong += one_round(a.program, seed, a.models, a.keep, tally)
        seed += 1
        if time.monotonic() - began >= a.seconds:
            break
    print(", ".join(f"{n} {kind}" for kind, n in tally.most_common()))
    # Most models must be compared: a fuzzer whose models are all refused finds nothing.
    return 1 if wrong or tally["same"] < sum(tally.values()) / 2 else 0


if __name__ == "__main__":
    sys.exit(main())
