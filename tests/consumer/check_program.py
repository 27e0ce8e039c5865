#!/usr/bin/env python3
"""Compiles program/ by the compiler's own command line, every warning an error, and runs it.

  check_program.py --compiler CXX [--launcher CCACHE] [--include DIR]... [--system DIR]... [--flag FLAG]...
                   [--header NAME]... [--needs PACKAGES] [--amalgamate TOOL] [--run COMMAND]

--header is one that must compile, too, though the program does not use it. --needs says what to install where the
compiler, or what runs its programs, is missing; the test is skipped then. --amalgamate makes one file of the library's
headers and hides the others. --run is what the program is run by.
"""

import argparse
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(__file__).resolve().parent / "program"
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
SKIPPED = 77


def works(command: list[str], runner: list[str], directory: pathlib.Path) -> bool:
    """Whether an empty program can be compiled and run."""
    source, program = directory / "empty.cpp", directory / "empty"
    source.write_text("#include <vector>\nint main() { return std::vector<int>{}.size() == 0 ? 0 : 1; }\n")
    if any(shutil.which(tool) is None for tool in (command[0], *runner[:1])):
        return False
    done = subprocess.run(command + [str(source), "-o", str(program)], capture_output=True)
    return done.returncode == 0 and subprocess.run(runner + [str(program)], capture_output=True).returncode == 0


def run(command: list[str]) -> None:
    print(shlex.join(command), flush=True)
    if subprocess.run(command).returncode != 0:
        sys.exit(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--launcher", default="")
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--system", action="append", default=[])
    parser.add_argument("--flag", action="append", default=[])
    parser.add_argument("--header", action="append", default=[])
    parser.add_argument("--needs", default="")
    parser.add_argument("--amalgamate", default="")
    parser.add_argument("--run", type=shlex.split, default=[])
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        command = [arguments.compiler, "-std=c++20", "-O0", *arguments.flag]
        if arguments.needs and not works(command, arguments.run, directory):
            print(f"{shlex.join(command)} makes no program that runs here; Debian's packages for it: {arguments.needs}")
            sys.exit(SKIPPED)
        include = arguments.include
        if arguments.amalgamate:
            run([arguments.amalgamate, "-o", str(directory / "flowgraph.hpp")])
            include = [str(directory)]
        searched = [f"-I{d}" for d in include] + [a for d in arguments.system if d for a in ("-isystem", d)]
        launcher = [arguments.launcher] if arguments.launcher else []
        objects = []
        for source in sorted(PROGRAM.glob("*.cpp")):
            objects.append(str(directory / source.stem) + ".o")
            # fmt without its library, which is there for one processor and one standard library only.
            flags = [*WARNINGS, "-DFMT_HEADER_ONLY", *searched, "-c", str(source), "-o", objects[-1]]
            run(launcher + command + flags)
        if arguments.header:
            source = directory / "headers.cpp"
            source.write_text("".join(f"#include <{header}>\n" for header in arguments.header))
            run(command + [*WARNINGS, "-DFMT_HEADER_ONLY", *searched, "-fsyntax-only", str(source)])
        program = str(directory / "program")
        run(command + objects + ["-pthread", "-o", program])
        run(arguments.run + [program])


if __name__ == "__main__":
    main()
