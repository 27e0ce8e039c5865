#!/usr/bin/env python3
"""The README's whole program: the block of C++ that has a main.

  readme_program.py extract README.md PROGRAM.cpp    writes it, unless it is there already
  readme_program.py check PROGRAM                    runs it, and looks at what it wrote
"""

import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

from check_snippets import snippets


def extract(page: pathlib.Path, program: pathlib.Path) -> None:
    (code,) = [code + "\n" for _, code in snippets(page) if "int main()" in code]
    if not program.exists() or program.read_text(encoding="utf-8") != code:
        program.write_text(code, encoding="utf-8")


def check(program: pathlib.Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run([program.resolve()], cwd=scratch, capture_output=True, text=True, check=True)
        last = done.stderr.splitlines()[-1]
        accuracy = re.match(r"epoch 20/20: .* validation accuracy ([0-9.]+)", last)
        assert accuracy and float(accuracy[1]) > 0.9, done.stderr
        checkpoint = pathlib.Path(scratch, "circle.safetensors").read_bytes()
        (length,) = struct.unpack_from("<Q", checkpoint)
        assert json.loads(checkpoint[8 : 8 + length])["hidden/w"]["shape"] == [2, 32]
        model = pathlib.Path(scratch, "circle.onnx").read_bytes()
        assert b"hidden/w" in model and b"logits" in model and b"adam" not in model
        assert pathlib.Path(scratch, "circle.html").read_text(encoding="utf-8").endswith("</html>\n")
        print(last)


if __name__ == "__main__":
    if sys.argv[1:2] == ["extract"]:
        extract(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
    else:
        check(pathlib.Path(sys.argv[2]))
