#!/usr/bin/env python3
"""Runs a program with the kernels of one instruction set.

  run.py --isa NAME ISA_PROGRAM PROGRAM [ARGUMENT...]   by the environment variable FLOWGRAPH_ISA
  run.py --cpu MODEL=NAME ISA_PROGRAM PROGRAM [...]     on an emulated processor, which must make NAME the choice
  run.py --refused NAME ISA_PROGRAM                     the variable's value must be refused

ISA_PROGRAM prints what is chosen. Status 77, with a reason, where this machine can't do it.
"""

import argparse
import os
import shutil
import subprocess
import sys


def skip(why: str) -> None:
    print(why)
    sys.exit(77)


def chosen(command: list[str], isa: str | None) -> tuple[int, str]:
    environment = {name: value for name, value in os.environ.items() if name != "FLOWGRAPH_ISA"}
    if isa is not None:
        environment["FLOWGRAPH_ISA"] = isa
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    return done.returncode, (done.stdout or done.stderr).strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("isa_program")
    parser.add_argument("--isa")
    parser.add_argument("--cpu")
    parser.add_argument("--refused")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    args = parser.parse_args()

    if args.refused:
        status, said = chosen([args.isa_program], args.refused)
        print(said)
        return 0 if status == 3 and args.refused in said and "x86-64" in said else 1

    if args.isa:
        status, said = chosen([args.isa_program], args.isa)
        if status == 3 and f"FLOWGRAPH_ISA is {args.isa};" in said:
            skip(said)
        if said != args.isa:
            print(f"asked for {args.isa}, got {said}")
            return 1
        return subprocess.run(args.command, env={**os.environ, "FLOWGRAPH_ISA": args.isa}).returncode

    model, name = args.cpu.split("=")
    emulator = shutil.which("qemu-x86_64") or skip("no qemu-x86_64 here (Debian: qemu-user)")
    emulated = [emulator, "-cpu", model]
    status, said = chosen([*emulated, args.isa_program], None)
    if "doesn't support requested feature" in said and name not in said.splitlines():
        skip(f"this qemu-x86_64 does not emulate {model} fully")
    if status or said.splitlines()[-1] != name:
        print(f"on {model}: status {status}: {said}")
        return 1
    status, said = chosen([*emulated, args.isa_program], "x86-64-v4")
    if status != 3 or "FLOWGRAPH_ISA is x86-64-v4;" not in said:
        print(f"on {model}, asked for x86-64-v4: status {status}: {said}")
        return 1
    return subprocess.run([*emulated, *args.command]).returncode


if __name__ == "__main__":
    sys.exit(main())
