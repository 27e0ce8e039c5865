#!/usr/bin/env python3
"""Installs the library, moves it, and compiles project/ with nothing but what pkg-config says.

  check_pkg_config.py CMAKE BUILD [--launcher CCACHE] --compiler CXX
"""

import argparse
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

PROJECT = pathlib.Path(__file__).resolve().parent / "project"
SKIPPED = 77


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cmake")
    parser.add_argument("build")
    parser.add_argument("--launcher", default="")
    parser.add_argument("--compiler", required=True)
    arguments = parser.parse_args()
    if shutil.which("pkg-config") is None:
        print("no pkg-config; Debian's package of it: pkgconf")
        sys.exit(SKIPPED)
    for library in ("eigen3", "fmt"):
        if subprocess.run(["pkg-config", "--exists", library]).returncode != 0:
            print(f"pkg-config knows no {library}, which was installed in some other way")
            sys.exit(SKIPPED)

    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        subprocess.run([arguments.cmake, "--install", arguments.build, "--prefix", work / "first"], check=True,
                       stdout=subprocess.DEVNULL)  # fmt: skip
        (work / "first").rename(work / "moved")
        files = next((work / "moved").rglob("flowgraph.pc")).parent
        environment = os.environ | {"PKG_CONFIG_PATH": str(files)}

        def pkg_config(*query: str) -> list[str]:
            done = subprocess.run(["pkg-config", "--print-errors", *query], env=environment, check=True, text=True,
                                  capture_output=True)  # fmt: skip
            return shlex.split(done.stdout)

        names = sorted(file.stem for file in files.glob("*.pc"))
        print("installed:", *names)
        if not {"flowgraph", "flowgraph-data", "flowgraph-define"} <= set(names):
            sys.exit("check_pkg_config: a file is missing")
        headers = f"-I{(work / 'moved' / 'include').resolve()}"
        for package in names:
            flags = pkg_config("--cflags", "--libs", package)
            print(f"{package}:", *flags)
            directories = [f"-I{pathlib.Path(f[2:]).resolve()}" for f in flags if f.startswith("-I")]
            if headers not in directories:
                sys.exit(f"check_pkg_config: {package} does not lead to where the headers are now")

        launcher = [arguments.launcher] if arguments.launcher else []
        # The model's own file needs the constexpr half only.
        main = ["flowgraph-data", *(["flowgraph-compiled"] if "flowgraph-compiled" in names else [])]
        objects = []
        for source, packages in (("model", ["flowgraph-define"]), ("main", main)):
            objects.append(str(work / f"{source}.o"))
            command = [arguments.compiler, "-std=c++20", *pkg_config("--cflags", *packages)]
            subprocess.run(launcher + command + ["-c", str(PROJECT / f"{source}.cpp"), "-o", objects[-1]], check=True)
        program = str(work / "program")
        command = [arguments.compiler, *objects, *pkg_config("--libs", *main), "-pthread", "-o", program]
        subprocess.run(command, check=True)
        subprocess.run([program], check=True)


if __name__ == "__main__":
    main()
