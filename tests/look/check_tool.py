#!/usr/bin/env python3
"""Looks at models with tools/flowgraph, as a user would: a page of one in a header, an explanation of an ONNX file, and
a sentence for each mistake.

  check_tool.py TOOL HEADER ONNX_FILE COMPILER
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOOL, HEADER, ONNX = map(os.path.abspath, sys.argv[1:4])
COMPILER = sys.argv[4]


def run(*arguments: str, into: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, TOOL, *arguments, "--compiler", COMPILER], cwd=into, capture_output=True, text=True)


def refused(said: str, *arguments: str, into: str) -> None:
    done = run(*arguments, into=into)
    assert done.returncode == 1 and said in done.stderr, (arguments, done)


def main() -> int:
    with tempfile.TemporaryDirectory() as scratch:
        page = pathlib.Path(scratch, "page.html")
        done = run("view", HEADER, "dense", "-o", str(page), "--fetch", "layer/y", "--extent", "batch=32", into=scratch)
        assert done.returncode == 0 and done.stdout.strip() == str(page), done
        data = json.loads(re.search(r'id="data">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)[1])
        assert data["title"] == "dense" and data["plan"]["assumed"] == "", data
        assert "layer/w" in [n["path"] for n in data["nodes"]], data["nodes"]
        assert any(v["bytes"] == 32 * 4 * 4 for v in data["plan"]["values"]), data["plan"]

        # A file that is data runs no code that lies beside it.
        with tempfile.TemporaryDirectory() as beside:
            model = shutil.copy(ONNX, beside)
            for name in ("vector", "string", "flowgraph.hpp"):
                pathlib.Path(beside, name).write_text("#error planted\n")
            done = run("explain", model, into=beside)
        assert done.returncode == 0 and re.match(r"model +\d+ nodes +\d+ parameters", done.stdout), done

        broken = pathlib.Path(scratch, "broken.hpp")
        broken.write_text("#error broken\nconstexpr auto model = fg::define([](fg::graph&) {});\n")
        refused("broken.hpp does not compile", "view", str(broken), into=scratch)
        refused("nothing.hpp: no such file", "view", "nothing.hpp", into=scratch)
        refused("several models: say which one of dense, sum", "view", HEADER, into=scratch)
        refused("names nothing in it", "view", ONNX, "model", into=scratch)
        plain = pathlib.Path(scratch, "plain.hpp")
        plain.write_text("int x;\n")
        refused("plain.hpp has no model", "explain", str(plain), into=scratch)
    print("a page, an explanation, and five mistakes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
