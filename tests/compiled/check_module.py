#!/usr/bin/env python3
"""Compiles the module flowgraph and a program of two files that import it, links them with the archive, and runs it.

  check_module.py INCLUDE ARCHIVE [LIBRARY...]

Ends with status 77 where no compiler is known to have modules.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

COMPILER = "clang++-19"

MODEL = """
#include <cstdint>
#include <vector>
import flowgraph;
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};
inline constexpr auto line = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 2>("x");
  auto y = g.placeholder<float, batch, 1>("y");
  auto w = g.variable<float, 2, 1>("w");
  auto loss = g.name("loss", reduce_mean(square(matmul(x, w) - y)));
  g.name("train", fg::gradient_descent(0.1).minimize(loss));
});
"""

MAIN = MODEL + """
#include <chrono>
float later(fg::session<line>& s);

int main() {
  fg::session<line> s;
  const std::vector<float> x{1, 0, 0, 1, 1, 1}, y{2, 3, 5};
  for (int i = 0; i < 500; ++i)
    s.run<"train">(fg::within(std::chrono::seconds(10)), fg::feed<"x">(x), fg::feed<"y">(y));
  const auto w = s.get<"w">();
  return w(0, 0) > 1.99f && w(0, 0) < 2.01f && w(1, 0) > 2.99f && w(1, 0) < 3.01f && later(s) < 1e-3f ? 0 : 1;
}
"""

OTHER = MODEL + """
float later(fg::session<line>& s) {
  return s.run<"loss">(fg::feed<"x">(std::vector<float>{2, 2}), fg::feed<"y">(std::vector<float>{10}));
}
"""


def main() -> int:
    include, libraries = sys.argv[1], sys.argv[2:]
    if shutil.which(COMPILER) is None:
        print(f"no {COMPILER}: apt-get install clang-19")
        return 77
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        command = [COMPILER, "-std=c++20", "-DFLOWGRAPH_COMPILED", f"-I{include}"]
        module = work / "flowgraph.pcm"
        quiet = "-Wno-include-angled-in-module-purview"
        subprocess.run([*command, quiet, "--precompile", f"{include}/flowgraph.cppm", "-o", str(module)], check=True)
        subprocess.run([*command, "-c", str(module), "-o", str(work / "module.o")], check=True)
        objects = [str(work / "module.o")]
        for name, text in (("main", MAIN), ("other", OTHER)):
            (work / f"{name}.cpp").write_text(text, encoding="utf-8")
            objects.append(str(work / f"{name}.o"))
            subprocess.run([*command, "-Wall", "-Wextra", "-Werror", f"-fmodule-file=flowgraph={module}", "-c",
                            str(work / f"{name}.cpp"), "-o", objects[-1]], check=True)  # fmt: skip
        program = str(work / "program")
        subprocess.run([COMPILER, *objects, *libraries, "-ldl", "-pthread", "-o", program], check=True)
        subprocess.run([program], check=True)
    print("a program that imports flowgraph")
    return 0


if __name__ == "__main__":
    sys.exit(main())
