#!/usr/bin/env python3
"""No linker can mix kernels of two instruction sets: holds their objects to that.

  check_objects.py --nm NM --objdump OBJDUMP --compiler CXX X86_64.o V3.o V4.o

Each defines one function for others and, beside it, only data by which exceptions are recognised. Registers that an
instruction set lacks occur in none of its functions but those that are chosen at run time; those that it adds do occur.
"""

import argparse
import re
import subprocess
import sys
import tempfile

# [[gnu::target]] and a look at the processor: kernels/cpu/register_tiles.hpp.
CHOSEN_AT_RUN_TIME = re.compile(r"compute_(narrow|wide)_tile|transpose_wide_8x8")


def lines(*command: str):
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as process:
        yield from process.stdout
    if process.returncode:
        sys.exit(f"this failed: {' '.join(command)}")


def check(args: argparse.Namespace, linked: str, mistakes: list[str]) -> None:
    names = ("x86_64", "x86_64_v3", "x86_64_v4")
    wide = ({"ymm", "zmm"}, {"zmm"}, set())
    for name, lacks, added, path in zip(names, wide, (set(), {"ymm"}, {"zmm"}), args.objects):
        visible = [line.split()[-1] for line in lines(args.nm, "--defined-only", "--extern-only", path)]
        functions = [symbol for symbol in visible if not re.match("_ZT[IS]", symbol)]
        if len(functions) != 1 or not functions[0].endswith(f"kernels_{name}Ev"):
            mistakes.append(f"{path} must define kernels_{name} alone, but has {functions[:9]}")
        function, count, seen, wrong = "", 0, set(), set()
        # Linked, its thousands of sections are one: objdump reads it in seconds and not in minutes.
        subprocess.run([args.compiler, "-shared", "-o", linked, path], check=True)
        for line in lines(args.objdump, "--disassemble", "--no-show-raw-insn", "--section=.text", linked):
            if line.endswith(">:\n"):
                function = line[line.index("<") + 1 : -3]
                count += 1
                continue
            for register in ("ymm", "zmm"):
                if "%" + register in line:
                    seen.add(register)
                    if register in lacks and not CHOSEN_AT_RUN_TIME.search(function):
                        wrong.add(function)
        if wrong:
            mistakes.append(f"{path}: functions with registers that {name} lacks: {sorted(wrong)[:9]}")
        if not added <= seen:
            mistakes.append(f"{path}: no function uses {added}: was it compiled for {name}?")
        print(f"{path}: {count} functions, {len(functions)} of them visible; wide registers: {sorted(seen)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nm", required=True)
    parser.add_argument("--objdump", required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("objects", nargs=3)
    args = parser.parse_args()
    mistakes = []
    with tempfile.TemporaryDirectory() as directory:
        check(args, f"{directory}/linked.so", mistakes)
    print("\n".join(mistakes))
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
