#!/usr/bin/env python3
"""Compiles files that hold one mistake each, and checks what the compiler says about it.

  check.py [--compiler CXX]... [--include DIR]... [--system DIR]... [--update] [file.cpp]...

Without files all cases of this folder are checked; without compilers g++ and clang++-16 are used. For each:
  - the compilation fails, with exactly one error;
  - the first error line matches `// expect:`, and the headline matches each `// facts:`;
  - no more than MAX_LINES_BEFORE lines stand before the error;
  - a line of the case between `// begin` and `// end` is pointed at;
  - with the compilers that the goldens are made of, the headline equals golden/<case>.<gcc|clang>.txt byte for byte.
    Other versions word things differently: there the regular expressions decide alone.
`--update` writes the goldens instead of comparing; everything else is still checked.

The headline is what a user reads first. It is the error line; from clang also the first note that points into the
user's file; from g++ also the instantiation that the error stands in, with its template arguments, the line of the
user's file that asked for it, and the note that shows the asserted condition. Facts must stand in the error line of
clang, and anywhere in the headline of g++. Paths are cut to file names, line numbers of library headers are left out, and
so are those that g++ gives to all parameters of type auto that it has read, so that a golden changes only when the words or
the user's line do.

diagnostic_case.py says how a case is written.
"""

import argparse
import concurrent.futures
import difflib
import os
import pathlib
import re
import subprocess
import sys

from diagnostic_case import Case, all_cases

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN_VERSION = {"gcc": 12, "clang": 16}
MAX_LINES_BEFORE = 12

# A line that says something about a place, as opposed to "In file included from ..." and the count of errors.
SAID = re.compile(r"^(?P<file>[^\s:][^:]*):(?:(?P<line>\d+):)?(?:(?P<column>\d+):)?\s+(?P<text>\S.*)$")


class Compiler:
    def __init__(self, command: str):
        self.command = command
        banner = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
        self.family = "clang" if "clang" in banner else "gcc"
        full = subprocess.run([command, "-dumpversion"], capture_output=True, text=True, check=True).stdout.strip()
        self.version = int(full.split(".")[0])
        self.has_goldens = self.version == GOLDEN_VERSION[self.family]

    def __str__(self) -> str:
        return f"{self.family} {self.version}"

    def diagnose(self, path: pathlib.Path, include: list[str], system: list[str]) -> tuple[int, list[str]]:
        """The exit status and the lines printed, in plain ASCII quotes and without colours."""
        no_echo = "-fno-caret-diagnostics" if self.family == "clang" else "-fno-diagnostics-show-caret"
        command = [self.command, "-std=c++20", "-fsyntax-only", "-fdiagnostics-color=never", no_echo]
        command += [f"-I{d}" for d in include] + [arg for d in system for arg in ("-isystem", d)] + [str(path)]
        plain = {**os.environ, "LC_ALL": "C"}
        done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", env=plain)
        return done.returncode, done.stderr.splitlines()


class Line:
    """One line that the compiler said: where, and what."""

    def __init__(self, match: re.Match, case: Case):
        self.file = os.path.basename(match["file"])
        self.number = int(match["line"] or 0)
        self.column = match["column"]
        self.text = match["text"]
        self.in_case = self.file == case.path.name
        self.is_error = self.text.startswith(("error:", "fatal error:"))
        self.is_note = self.text.startswith("note:")
        self.is_instantiation = self.text.startswith(("In instantiation of", "In substitution of"))

    def __str__(self) -> str:
        place = self.file
        if self.in_case and self.number:
            place += f":{self.number}" + (f":{self.column}" if self.column else "")
        text = re.sub(r"\bauto:\d+", "auto", self.text)
        return re.sub(r"(?:/[^\s/:'\"]+)+/([^\s/:'\"]+\.[ch]pp)(?::\d+(?::\d+)?)?", r"\1", f"{place}: {text}")


def headline_of(said: list[Line], error: int, family: str) -> list[Line]:
    """The lines a user reads first, in the order they were printed. error: the index of the first error in said."""
    after = said[error + 1 :]
    if family == "clang":
        return [said[error]] + next(([line] for line in after if line.in_case and line.is_note), [])
    before = said[:error]
    start = max((i for i, line in enumerate(before) if line.is_instantiation), default=len(before))
    instantiation = before[start : start + 1]
    asked = next(([line] for line in before[start + 1 :] if line.in_case and line.text.startswith("required from")), [])
    note = after[:1] if after and after[0].is_note else []
    return instantiation + asked + [said[error]] + note


def check(case: Case, compiler: Compiler, include: list[str], system: list[str], update: bool) -> list[str]:
    """The problems found with this case, as lines of text; empty if there are none."""
    if case.problem:
        return [case.problem]
    status, printed = compiler.diagnose(case.path, include, system)
    if status == 0:
        return ["compiles, but must not"]
    said = [Line(match, case) for match in map(SAID.match, printed) if match]
    errors = [i for i, line in enumerate(said) if line.is_error]
    if not errors:
        return ["fails without an error line:"] + printed

    headline = headline_of(said, errors[0], compiler.family)
    text = "".join(f"{line}\n" for line in headline)
    error_line = str(said[errors[0]])
    facts_in = error_line if compiler.family == "clang" else text
    problems = []
    if len(errors) > 1:
        problems += [f"{len(errors)} errors, but one mistake is one error:"] + [f"  {said[i]}" for i in errors]
    if not re.search(case.expect[compiler.family][0], error_line):
        problems += [f"the first error does not match {case.expect[compiler.family][0]!r}:", f"  {error_line}"]
    for fact in case.facts[compiler.family]:
        if not re.search(fact, facts_in):
            problems += [f"the headline does not show {fact!r}:"] + [f"  {line}" for line in facts_in.splitlines()]
    before = next(i for i, line in enumerate(printed) if (m := SAID.match(line)) and Line(m, case).is_error)
    if before > MAX_LINES_BEFORE:
        problems += [f"{before} lines stand before the error, at most {MAX_LINES_BEFORE} may:"] + printed[:before]
    if not any(line.in_case and case.first <= line.number <= case.last for line in said):
        problems += ["no line between '// begin' and '// end' is pointed at:"] + printed
    if not compiler.has_goldens:
        return problems

    golden = case.golden(compiler.family)
    if update:
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text, encoding="utf-8")
    else:
        wanted = golden.read_text(encoding="utf-8") if golden.is_file() else ""
        if wanted != text:
            problems += [f"differs from golden/{golden.name}; if the new words are better, run check.py --update:"]
            problems += difflib.unified_diff(wanted.splitlines(), text.splitlines(), "golden", "printed", lineterm="")
    return problems


def default_system_directories() -> list[str]:
    return [d for d in ("/usr/include/eigen3", "/usr/local/include/eigen3") if os.path.isdir(d)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", action="append", metavar="CXX")
    parser.add_argument("--include", action="append", metavar="DIR", help="default: the library's include/")
    parser.add_argument("--system", action="append", metavar="DIR", help="default: where Eigen is usually installed")
    parser.add_argument("--update", action="store_true", help="write the goldens")
    parser.add_argument("files", nargs="*", type=pathlib.Path, metavar="file.cpp")
    args = parser.parse_args()

    include = args.include or [str(HERE.parent.parent / "include")]
    system = [d for d in args.system if d] if args.system is not None else default_system_directories()
    cases = [Case(path.resolve()) for path in args.files] or all_cases(HERE)
    compilers = [Compiler(command) for command in args.compiler or ["g++", "clang++-16"]]
    for compiler in compilers:
        if not compiler.has_goldens:
            wanted = GOLDEN_VERSION[compiler.family]
            print(f"{compiler}: goldens are of {compiler.family} {wanted}, so only the regular expressions are checked")

    work = [(case, compiler) for case in cases for compiler in compilers]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda w: check(*w, include, system, args.update), work))
    failed = 0
    for (case, compiler), problems in zip(work, results):
        failed += bool(problems)
        print(f"{'FAILED' if problems else 'ok    '} {case.name} ({compiler})")
        for line in problems:
            print(f"    {line}")
    print(f"{len(work) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
