#!/usr/bin/env python3
"""Checks what a user's file reads where the other half of the library is compiled elsewhere.

  check_seam.py --compiler CXX --include DIR [--system DIR]...

With FLOWGRAPH_COMPILED no public header reaches a library that only the other half calls, a header that defines the other
half, the engine, or kernels, but for what binds kernels of the user's own ops. A file that optimises for a processor with AVX2
compiles the element-wise regions of its models as well, and reads the kernels' lanes for it: not looked at here.

A program that builds and differentiates its graph when it runs has no code of the gradient or of ops' rules in its file either
(FLOWGRAPH_CONSTEXPR in core/other_half.hpp).
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PUBLIC = ["flowgraph.hpp", "flowgraph/define.hpp", "flowgraph/checkpoint.hpp", "flowgraph/data.hpp", "flowgraph/fit.hpp",
          "flowgraph/look.hpp", "flowgraph/onnx.hpp", "flowgraph/summary.hpp", "flowgraph/distributed.hpp"]

# Kernels of a user's own ops are code of the user's file.
OF_USERS_OPS = re.compile(r"/flowgraph/kernels/cpu/(binding|number_tile|math|round_to_odd|in_float|scratch)\.hpp$")

FORBIDDEN = re.compile(
    r"/(Eigen|fmt|nlohmann|protozero|oneapi|asio|openssl)/|/(zlib|zconf|png|pngconf|jpeglib|jerror)\.h$"
    r"|/(filesystem|fstream|iostream|thread|mutex|condition_variable|future|regex|random|deque|set|unordered_set)$"
    r"|/flowgraph/engine/|/flowgraph/kernels/cpu/|/flowgraph/.*_code\.hpp$"
)

# What builds a graph when it runs, the program that bench/compile times, and what is to be compiled elsewhere.
BUILDS_A_GRAPH = pathlib.Path(__file__).resolve().parents[2] / "bench" / "compile_models" / "dynamic.cpp"
ELSEWHERE = re.compile(r"flowgraph::passes::|flowgraph::ops::matmul::(infer|gradient|simplify)\(|::extent_polynomial::parse\(")

# "... /usr/include/x.h": as many dots as files stand above it.
READ = re.compile(r"^(\.+) (.+)$")


def faults_of(header: str, command: list[str]) -> list[str]:
    done = subprocess.run([*command, "-"], input=f"#include <{header}>\n", capture_output=True, text=True)
    if done.returncode != 0:
        return [f"<{header}> does not compile:\n{done.stderr}"]
    faults, above = [], []
    for line in done.stderr.splitlines():
        match = READ.match(line)
        if not match:
            continue
        depth, path = len(match[1]), match[2]
        above = above[: depth - 1] + [path]
        standard = [p for p in above[:-1] if "/flowgraph" not in p]  # what a standard header includes is its own affair
        if FORBIDDEN.search(path) and not standard and not OF_USERS_OPS.search(path):
            faults.append(f"<{header}> reads {path}:\n  " + "\n  ".join(above))
    return faults


def code_faults(command: list[str]) -> list[str]:
    """What BUILDS_A_GRAPH brings into its object, at either level."""
    if not shutil.which("nm"):
        return []
    faults = []
    with tempfile.TemporaryDirectory() as directory:
        compiled = f"{directory}/object.o"
        for level in ("-O0", "-O2"):
            done = subprocess.run([*command, level, "-c", str(BUILDS_A_GRAPH), "-o", compiled], capture_output=True, text=True)
            if done.returncode != 0:
                faults.append(f"{BUILDS_A_GRAPH.name} does not compile at {level}:\n{done.stderr}")
                continue
            defined = subprocess.run(["nm", "-C", "--defined-only", compiled], capture_output=True, text=True, check=True)
            named = [line for line in defined.stdout.splitlines() if ELSEWHERE.search(line)]
            faults += [f"{BUILDS_A_GRAPH.name} at {level} has its own {line[19:]}" for line in named]
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--system", action="append", default=[])
    args = parser.parse_args()
    found = [f"-I{d}" for d in args.include] + [word for d in args.system if d for word in ("-isystem", d)]
    command = [args.compiler, "-std=c++20", "-DFLOWGRAPH_COMPILED", *found]
    faults = [fault for header in PUBLIC for fault in faults_of(header, [*command, "-fsyntax-only", "-H", "-x", "c++"])]
    faults += code_faults(command)
    print("\n".join(faults + [f"{len(PUBLIC)} headers, {len(faults)} problems"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
