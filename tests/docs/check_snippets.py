#!/usr/bin/env python3
"""Compiles the C++ snippets of a Markdown page.

  check_snippets.py [--compiler CXX] [--include DIR]... [--system DIR]... page.md...
  check_snippets.py --programs DIR page.md...      writes those with a main, as files to be built and run; prints their names

A block fenced with exactly ```cpp is one translation unit of its own. If it has no #include, prologue.hpp is included
before it, compiled once for all of them. Any other fence, such as ```cpp no-compile, is left alone. Errors are reported
at the line of the page.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PROLOGUE = pathlib.Path(__file__).resolve().parent / "prologue.hpp"
FENCE = re.compile(r"^(\s*)(```+)(.*)$")
MAIN = re.compile(r"^int main\(", re.MULTILINE)
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


def precompile(command: list[str], directory: pathlib.Path) -> pathlib.Path:
    """The prologue, with what the compiler made of it beside it: g++ and clang look for it there."""
    prologue = directory / "precompiled.hpp"
    prologue.write_text(f'#include "{PROLOGUE}"\n', encoding="utf-8")
    subprocess.run(command + ["-x", "c++-header", str(prologue), "-o", f"{prologue}.gch"], check=True)
    return prologue


def compile_snippet(command: list[str], prologue: pathlib.Path, page: pathlib.Path, start: int, code: str) -> str:
    """What the compiler printed; empty if the snippet compiles."""
    source = f'#line {start} "{page}"\n{code}\n'
    given = [] if INCLUDE.search(code) else ["-include", str(prologue)]
    command = command + given + ["-fsyntax-only", "-x", "c++", "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True)
    return done.stderr or "fails without a message" if done.returncode else ""


def write_programs(directory: pathlib.Path, pages: list[pathlib.Path]) -> list[pathlib.Path]:
    directory.mkdir(parents=True, exist_ok=True)
    programs = []
    for page in pages:
        for start, code in snippets(page):
            if not MAIN.search(code):
                continue
            program = directory / f"{page.stem.lower()}_{len(programs)}.cpp"
            given = "" if INCLUDE.search(code) else f'#include "{PROLOGUE}"\n'
            text = f'{given}#line {start} "{page}"\n{code}\n'
            if not program.is_file() or program.read_text(encoding="utf-8") != text:
                program.write_text(text, encoding="utf-8")
            programs.append(program)
    return programs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++", metavar="CXX")
    parser.add_argument("--include", action="append", default=[], metavar="DIR")
    parser.add_argument("--system", action="append", default=[], metavar="DIR")
    parser.add_argument("--programs", type=pathlib.Path, metavar="DIR")
    parser.add_argument("pages", nargs="+", type=pathlib.Path, metavar="page.md")
    args = parser.parse_args()
    if args.programs:
        print(";".join(map(str, write_programs(args.programs, args.pages))), end="")
        return 0

    # g++ forgets in a precompiled header where the library ignores attributes on purpose.
    command = [args.compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-Wno-unused", "-Wno-ignored-attributes"]
    # The other half of the library is compiled by the tests that run it.
    command += ["-DFLOWGRAPH_COMPILED"]
    command += [f"-I{d}" for d in args.include] + [arg for d in args.system if d for arg in ("-isystem", d)]
    work = [(page, start, code) for page in args.pages for start, code in snippets(page)]
    with tempfile.TemporaryDirectory() as directory, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        prologue = precompile(command, pathlib.Path(directory))
        results = list(pool.map(lambda w: compile_snippet(command, prologue, *w), work))
    for (page, start, _), said in zip(work, results):
        print(f"{'FAILED' if said else 'ok    '} {page}:{start}")
        if said:
            print(said)
    failed = sum(map(bool, results))
    print(f"{len(work)} snippets, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
