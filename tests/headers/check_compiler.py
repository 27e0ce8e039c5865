#!/usr/bin/env python3
"""A compiler that flowgraph does not serve is told so, by one error, whatever it is that includes flowgraph.

  check_compiler.py [--compiler CXX] [--include DIR]...

Each header that users include is compiled in a file that goes on to use it: as C++17 and C++14, and with the versions
that a compiler says it has set to older ones. g++ needs a second line to stop: it goes on behind an #error.
"""

import argparse
import pathlib
import subprocess
import sys

SENTENCE = "flowgraph needs C++20"
PROGRAM = """#include <{header}>
namespace fg = flowgraph;
inline constexpr auto model = fg::define([](fg::graph& g) {{ g.name("y", g.placeholder<float, 2>("x") + 1.0f); }});
int main() {{ fg::session<model> s; }}
"""


def errors(command: list[str], code: str) -> list[str]:
    done = subprocess.run(command + ["-fsyntax-only", "-x", "c++", "-"], input=code, capture_output=True, text=True)
    return [line for line in done.stderr.splitlines() if "error:" in line]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++", metavar="CXX")
    parser.add_argument("--include", action="append", default=[], metavar="DIR")
    parser.add_argument("--system", action="append", default=[], help="not used: a header is refused before it reads any")
    args = parser.parse_args()

    command = [args.compiler] + [f"-I{d}" for d in args.include]
    clang = "clang" in subprocess.run([args.compiler, "--version"], capture_output=True, text=True, check=True).stdout
    old = ["-Wno-builtin-macro-redefined", "-U__clang_major__", "-D__clang_major__=14"] if clang else ["-U__GNUC__", "-D__GNUC__=11"]
    given = [["-std=c++17"], ["-std=c++14"], ["-std=c++20"] + old]
    first = [pathlib.Path(d) for d in args.include if (pathlib.Path(d) / "flowgraph.hpp").is_file()][0]
    headers = ["flowgraph.hpp"] + sorted(f"flowgraph/{h.name}" for h in (first / "flowgraph").glob("*.hpp"))
    failed = 0
    for header in headers:
        for flags in given:
            said = errors(command + flags, PROGRAM.format(header=header))
            good = 1 <= len(said) <= (1 if clang else 2) and SENTENCE in said[0]
            good = good and all("nothing_more_is_compiled" in line for line in said[1:])
            failed += not good
            if not good:
                print(f"FAILED {header} {' '.join(flags)}: {len(said)} errors", *said[:4], sep="\n  ")
    print(f"{len(headers)} headers, {len(given)} ways to compile them, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
