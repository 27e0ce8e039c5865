#!/usr/bin/env python3
"""A model of 100 convolutions with batch norm stays within a compiler's default limits of constant evaluation, and one
beyond them is told so by one error that names the flag.

  check.py [--compiler CXX] [--include DIR]... [--system DIR]...
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
# Limits that so small a model is beyond, so that the test is quick.
FEW = {"clang": ["-fconstexpr-steps=100000"], "gcc": ["-fconstexpr-ops-limit=2000000"]}
FLAG = {"clang": r"fconstexpr_steps", "gcc": r"-fconstexpr-ops-limit="}
MOST_LINES = 40


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--system", action="append", default=[])
    args = parser.parse_args()
    banner = subprocess.run([args.compiler, "--version"], capture_output=True, text=True, check=True).stdout
    family = "clang" if "clang" in banner else "gcc"
    command = [args.compiler, "-std=c++20", "-fsyntax-only", "-DFLOWGRAPH_COMPILED"]
    command += [f"-I{d}" for d in args.include] + [a for d in args.system if d for a in ("-isystem", d)]
    command += ["-fno-caret-diagnostics" if family == "clang" else "-fno-diagnostics-show-caret"]

    def compile_layers(layers: int, *more: str) -> tuple[int, list[str]]:
        done = subprocess.run([*command, *more, f"-DLAYERS={layers}", str(HERE / "convolutions.cpp")],
                              capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
        return done.returncode, done.stderr.splitlines()

    status, printed = compile_layers(100)
    if status:
        print("100 layers must compile with default limits:", *printed, sep="\n")
        return 1
    status, printed = compile_layers(60, *FEW[family])
    errors = [line for line in printed if re.search(r"\berror:", line)]
    problems = []
    if not status:
        problems.append("a model beyond the limits compiles")
    if not errors or not re.search(FLAG[family], errors[0]):
        problems.append(f"the first error does not match {FLAG[family]!r}")
    if len(errors) > 1:
        problems.append("there must be one error")
    if len(printed) > MOST_LINES:
        problems.append(f"{len(printed)} lines, at most {MOST_LINES} may be printed")
    if problems:
        print(*problems, *printed, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
