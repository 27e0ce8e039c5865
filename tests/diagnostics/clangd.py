#!/usr/bin/env python3
"""Opens cases in clangd and checks that the editor marks the user's line.

  clangd.py [--compiler CXX] [--include DIR]... [--system DIR]... file.cpp...

For each case clangd reports exactly one error, and it lies between `// begin` and `// end`. Exits with 77 (skipped) where
there is no clangd of version 16 or later.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MIN_VERSION = 16
ERROR = re.compile(r"^E\[.*\] \[\S+\] Line (\d+): (.*)$")


def find_clangd() -> str | None:
    for name in [f"clangd-{n}" for n in range(MIN_VERSION, 41)] + ["clangd"]:
        if path := shutil.which(name):
            said = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
            version = re.search(r"clangd version (\d+)", said)
            if version and int(version[1]) >= MIN_VERSION:
                return path
    return None


def check(clangd: str, case: pathlib.Path, flags: list[str]) -> str | None:
    """What is wrong with a case, or None."""
    lines = case.read_text(encoding="utf-8").splitlines()
    stripped = [line.strip() for line in lines]
    begin, end = stripped.index("// begin") + 1, stripped.index("// end") + 1
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / case.name
        copy.write_text("\n".join(lines) + "\n", encoding="utf-8")
        (copy.parent / "compile_flags.txt").write_text("\n".join(flags) + "\n", encoding="utf-8")
        said = subprocess.run([clangd, f"--check={copy}"], capture_output=True, text=True, check=False).stderr
    errors = [m.groups() for m in map(ERROR.match, said.splitlines()) if m]
    if len(errors) != 1:
        return f"{len(errors)} errors are marked: {errors}"
    line = int(errors[0][0])
    return None if begin <= line <= end else f"line {line} is marked, the mistake stands in {begin} to {end}"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", help="not used: clangd is its own compiler")
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--system", action="append", default=[])
    parser.add_argument("cases", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    clangd = find_clangd()
    if clangd is None:
        print(f"no clangd of version {MIN_VERSION} or later")
        return 77
    flags = ["-std=c++20"]
    flags += [f"-I{pathlib.Path(d).resolve()}" for d in arguments.include if d]
    flags += [f"-isystem{pathlib.Path(d).resolve()}" for d in arguments.system if d]
    failures = 0
    for case in arguments.cases:
        problem = check(clangd, case, flags)
        failures += problem is not None
        print(f"{'FAILED' if problem else 'ok    '} {case.stem}{': ' + problem if problem else ''}")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
