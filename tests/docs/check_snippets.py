#!/usr/bin/env python3
"""Compiles the C++ snippets of a Markdown page.

  check_snippets.py [--compiler CXX] [--include DIR]... [--system DIR]... page.md...

A block fenced with exactly ```cpp is one translation unit of its own. If it has no #include, prologue.hpp is included
before it. Any other fence, such as ```cpp no-compile, is left alone. Errors are reported at the line of the page.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

PROLOGUE = pathlib.Path(__file__).resolve().parent / "prologue.hpp"
FENCE = re.compile(r"^(\s*)(```+)(.*)$")
INCLUDE = re.compile(r"^\s*#\s*include\b", re.MULTILINE)


def snippets(page: pathlib.Path) -> list[tuple[int, str]]:
    """(line of the page that the code begins on, code) of each block fenced with ```cpp."""
    found = []
    fence, start, code = None, 0, []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        match = FENCE.match(line)
        if fence is None:
            if match:
                fence, start, code = match, number + 1, []
        elif match and match[2].startswith(fence[2]) and not match[3].strip():
            if fence[3].strip() == "cpp":
                found.append((start, "\n".join(text.removeprefix(fence[1]) for text in code)))
            fence = None
        else:
            code.append(line)
    if fence is not None:
        sys.exit(f"{page}:{start - 1}: this fence is never closed")
    return found


def compile_snippet(command: list[str], page: pathlib.Path, start: int, code: str) -> str:
    """What the compiler printed; empty if the snippet compiles."""
    prologue = "" if INCLUDE.search(code) else f'#include "{PROLOGUE}"\n'
    source = f'{prologue}#line {start} "{page}"\n{code}\n'
    done = subprocess.run(command + ["-x", "c++", "-"], input=source, capture_output=True, text=True)
    return done.stderr or "fails without a message" if done.returncode else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++", metavar="CXX")
    parser.add_argument("--include", action="append", default=[], metavar="DIR")
    parser.add_argument("--system", action="append", default=[], metavar="DIR")
    parser.add_argument("pages", nargs="+", type=pathlib.Path, metavar="page.md")
    args = parser.parse_args()

    command = [args.compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-unused"]
    command += [f"-I{d}" for d in args.include] + [arg for d in args.system if d for arg in ("-isystem", d)]
    work = [(page, start, code) for page in args.pages for start, code in snippets(page)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda w: compile_snippet(command, *w), work))
    for (page, start, _), said in zip(work, results):
        print(f"{'FAILED' if said else 'ok    '} {page}:{start}")
        if said:
            print(said)
    failed = sum(map(bool, results))
    print(f"{len(work)} snippets, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
