#!/usr/bin/env python3
"""Random nodes, run here and by NumPy: the same numbers, or a refusal where NumPy has one.

  fuzz.py TEST_PROGRAM [PYTHON] [--nodes N] [--seconds S] [--seed N] [--ops NAME,...] [--keep FILE]

Operands have extents of 0, 1 and more, with numbers or names, all element types, and numbers of all sizes, infinite and
none at all; some are fed, some part of the graph. --seconds: goes on with further seeds for so long. --keep: where cases
that differ are left, for FLOWGRAPH_FUZZ_CASES of test_ops. PYTHON is another interpreter to try, which has numpy. Ends with
77, after saying why, where nobody has it. What is drawn is in fuzz_ops.py.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("python", nargs="?")
    parser.add_argument("--nodes", type=int, default=3000)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ops", default="")
    parser.add_argument("--keep", type=pathlib.Path)
    return parser.parse_args()


try:
    import numpy as np
except ImportError:
    other = arguments().python
    if other is None or not pathlib.Path(other).is_file():
        print("skipped: the Python package numpy is not installed, so no op is compared with NumPy here")
        sys.exit(77)
    os.execv(other, [other, *[a for a in sys.argv if a != other]])

from fuzz_ops import NAMES, OPS, TYPES, Case, Draw  # noqa: E402

TOLERANCE = {"f16": 2e-3, "f32": 2e-6, "f64": 1e-14}


def array_text(a: np.ndarray) -> str:
    return np.ascontiguousarray(a).tobytes().hex() or "-"


def names_of(d: Draw, case: Case) -> dict:
    """Which extents have names: equal ones the same."""
    if not case.named or not d.chance(0.4):
        return {}
    extents = {n for a in case.inputs for n in a.shape if n != 1}
    return {n: f"n{n}" for n in extents if d.chance(0.7)}


def shape_text(shape, names: dict) -> str:
    # An extent that is made of another one: what pad and slice are asked for.
    words = [names.get(n, str(n)) if not isinstance(n, tuple) else f"{names[n[0]]}+{n[1]}" if n[0] in names and n[1] else
             names.get(n[0], str(n[0] + n[1])) if not n[1] else str(sum(n)) for n in shape]
    return " ".join([str(len(words)), *words])


def case_text(d: Draw, case: Case) -> str:
    names = names_of(d, case)
    bound = set()  # by a feed: every name must be
    lines = []
    for a in case.inputs:
        fed = d.chance(0.8) or any(n in names for n in a.shape) or a.size == 0
        if fed:
            bound |= set(a.shape)
        lines.append(" ".join([NAMES[a.dtype], "fed" if fed else "part", shape_text(a.shape, names), array_text(a),
                               *map(str, a.shape)]))
    declared = case.declared or ("none", ())
    here = {n: t for n, t in names.items() if n in bound}
    return "\n".join([" ".join([case.op, str(len(case.words)), *map(str, case.words), declared[0],
                                shape_text(declared[1], here), str(len(case.inputs))]), *lines])


def read_results(path: pathlib.Path) -> list:
    results, lines = [], iter(path.read_text().splitlines())
    for line in lines:
        kind, _, rest = line.partition(" ")
        if kind == "refused":
            results.append(rest)
            continue
        arrays = []
        for _ in range(int(rest)):
            t, rank, *more = next(lines, "").split(" ")
            dims = tuple(map(int, more[:int(rank)]))
            data = "" if more[-1] == "-" else more[-1]
            arrays.append(np.frombuffer(bytes.fromhex(data), TYPES[t]).reshape(dims))
        results.append(arrays)
    return results


def difference(got: np.ndarray, expected: np.ndarray, looser: float) -> str:
    expected = np.asarray(expected)
    if got.dtype != expected.dtype or got.shape != expected.shape:
        return f"{got.dtype}{list(got.shape)}, expected {expected.dtype}{list(expected.shape)}"
    if expected.dtype.kind != "f":
        same = got == expected
    else:
        a, b = got.astype(np.float64), expected.astype(np.float64)
        finite = np.abs(b[np.isfinite(b)])
        scale = finite.max(initial=0.0) if looser >= 20 else 0.0  # sums: what was added counts
        tolerance, least = TOLERANCE[NAMES[expected.dtype]] * looser, np.finfo(expected.dtype).tiny
        with np.errstate(all="ignore"):
            same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= tolerance * np.maximum(np.abs(b), scale))
            same |= (np.abs(a) <= least * 1.001) & (np.abs(b) <= least * 1.001)  # what is denormal may be 0
            # Beside the end of the range one may be infinite.
            most = float(np.finfo(expected.dtype).max)
            same |= (np.abs(a) >= most * 0.999) & (np.abs(b) >= most * 0.999) & (np.sign(a) == np.sign(b))
    if np.all(same):
        return ""
    k = int(np.argmin(same.ravel()))
    return f"{(~same).sum()} of {same.size} differ, the first at {k}: {got.ravel()[k]!r}, expected {expected.ravel()[k]!r}"


def judge(case: Case, got) -> str:
    if case.expected == "either":
        return ""
    if isinstance(got, str):
        return "" if case.expected is None else f"refused: {got}"
    if case.expected is None:
        return "not refused"
    if len(got) != len(case.expected):
        return f"{len(got)} results, expected {len(case.expected)}"
    return next((f"result {k}: {wrong}" for k, (a, b) in enumerate(zip(got, case.expected))
                 if (wrong := difference(a, b, case.looser))), "")


def run(program: str, texts: list) -> list:
    """What comes of each; a text where the program ended."""
    results = []
    with tempfile.TemporaryDirectory() as directory:
        cases, out = pathlib.Path(directory, "cases"), pathlib.Path(directory, "results")
        while len(results) < len(texts):
            cases.write_text("\n".join(texts[len(results):]) + "\n")
            out.write_text("")
            done = subprocess.run([program, "-tc=fuzz: nodes from a file"], capture_output=True, text=True,
                                  env={**os.environ, "FLOWGRAPH_FUZZ_CASES": str(cases), "FLOWGRAPH_FUZZ_RESULTS": str(out)})
            results += read_results(out)
            if len(results) < len(texts):
                results.append(f"the program ended with {done.returncode}: {(done.stdout + done.stderr)[-500:]}")
            elif done.returncode != 0:
                print(done.stdout + done.stderr)
    return results


def main() -> int:
    a = arguments()
    chosen = a.ops.split(",") if a.ops else list(OPS)
    ran, refused, wrong, kept, end = 0, 0, [], [], time.monotonic() + a.seconds
    seed = a.seed
    while ran == 0 or time.monotonic() < end:
        d = Draw(seed)
        with np.errstate(all="ignore"):
            cases = [OPS[d.one(*chosen)](d) for _ in range(a.nodes)]
        texts = [case_text(d, c) for c in cases]
        for case, text, got in zip(cases, texts, run(a.program, texts), strict=True):
            ran += 1
            refused += case.expected is None
            if problem := judge(case, got):
                wrong.append(case.op)
                kept.append(text)
                if len(wrong) <= 40:
                    shapes = [f"{NAMES[x.dtype]}{list(x.shape)}" for x in case.inputs]
                    print(f"seed {seed}: {case.op}({', '.join(shapes)}) {case.words} -> {case.declared}: {problem}")
        seed += 1
    if a.keep and kept:
        a.keep.write_text("\n".join(kept) + "\n")
    print(f"{ran} nodes of {len(chosen)} ops, {refused} to be refused, {len(wrong)} wrong"
          + (f": {', '.join(sorted(set(wrong)))}" if wrong else ""))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
