#!/usr/bin/env python3
"""Checks how the headers may include each other.

  check_layers.py <include directory>

1. A header includes headers of its own layer or of an earlier one, never of a later one.
2. The umbrella headers hold #includes only, and no layer includes an umbrella.
3. A third-party library is included only in the layers that own it, and the operating system's headers only in those few
   that call it.
4. A header has at most MAX_LINES lines.
"""

import pathlib
import re
import sys

# The order of the layers: the one place that states it.
LAYERS = ["core", "graph", "plan", "ops", "passes", "language", "functions", "training", "arrays", "kernels", "session", "engine",
          "formats", "data", "checkpoint", "net", "train", "look", "onnx"]

# What an umbrella header may reach.
UMBRELLAS = {
    "flowgraph/define.hpp": LAYERS[: LAYERS.index("training") + 1],
    "flowgraph.hpp": LAYERS[: LAYERS.index("engine") + 1],
    "flowgraph/checkpoint.hpp": ["core", "formats", "checkpoint"],
    "flowgraph/data.hpp": ["core", "formats", "data"],
    "flowgraph/fit.hpp": ["core", "train"],
    "flowgraph/fmt.hpp": ["core", "arrays"],
    "flowgraph/limits.hpp": ["core", "session"],
    "flowgraph/look.hpp": ["core", "look"],
    "flowgraph/summary.hpp": ["core", "look"],
    "flowgraph/onnx.hpp": ["core", "onnx"],
    "flowgraph/distributed.hpp": ["core", "net"],
}

# Who may include what, as a layer or a directory of one; a library that is not listed here may not be included at all.
THIRD_PARTY = {
    "oneapi/dnnl": {"kernels/onednn"},
    "dlpack": {"arrays"},
    "fmt": {"arrays", "kernels", "session", "engine", "net", "formats", "data", "checkpoint", "train", "look"},
    "zlib.h": {"formats"},
    "png.h": {"formats"},
    "jpeglib.h": {"formats"},
    "jerror.h": {"formats"},
    "asio": {"net"},
    "openssl": {"net"},
    "mpi.h": {"net"},
    "nlohmann": {"formats", "net"},
    "protozero": {"net", "look", "onnx"},
}

MAX_LINES = 500

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)")')
# Standard headers have neither a directory nor a suffix: <vector>.
STANDARD = re.compile(r"^[a-z0-9_]+$")
# What an umbrella may hold: blank lines, line comments, #pragma once, #includes.
UMBRELLA_LINE = re.compile(r"^\s*(//.*|#\s*pragma once.*|#\s*include\b.*)?$")
# What the operating system brings, and the headers that call it: one for each thing that the standard library lacks, so
# that another system is a change of these.
SYSTEM = re.compile(r"^(sys/.*|netinet/.*|unistd\.h|fcntl\.h|dirent\.h|sched\.h|pthread\.h|dlfcn\.h|poll\.h|signal\.h|io\.h|windows\.h)$")
CALLS_THE_SYSTEM = {
    "flowgraph/formats/durable_file.hpp",  # syncing files and directories
    "flowgraph/net/socket_facts.hpp",  # users at the other end, files of Unix sockets
    "flowgraph/train/progress.hpp",  # whether there is a terminal
    "flowgraph/kernels/onednn/library.hpp",  # finding OpenMP's calls in the program
}


def layer_of(header: str) -> str | None:
    """The layer of "flowgraph/core/x.hpp", or None for an umbrella."""
    parts = header.split("/")
    return parts[1] if len(parts) > 2 and parts[0] == "flowgraph" else None


def third_party_of(target: str) -> str | None:
    return next((lib for lib in THIRD_PARTY if target == lib or target.startswith(lib + "/")), None)


def check_header(root: pathlib.Path, path: pathlib.Path) -> list[str]:
    header = path.relative_to(root).as_posix()
    layer = layer_of(header)
    lines = path.read_text(encoding="utf-8").splitlines()
    problems = []

    def problem(number: int, text: str) -> None:
        problems.append(f"include/{header}:{number}: {text}")

    if layer is not None and layer not in LAYERS:
        problem(1, f"'{layer}' is not a layer; the layers are {' '.join(LAYERS)}")
        return problems
    if layer is None and header not in UMBRELLAS:
        problem(1, f"a header belongs into a layer; the umbrellas are {' '.join(UMBRELLAS)}")
        return problems
    if len(lines) > MAX_LINES:
        problem(MAX_LINES + 1, f"{len(lines)} lines, at most {MAX_LINES} allowed: a file owns one thing")

    reachable = UMBRELLAS[header] if layer is None else LAYERS[: LAYERS.index("engine" if layer == "session" else layer) + 1]
    for number, line in enumerate(lines, 1):
        if layer is None and not UMBRELLA_LINE.match(line):
            problem(number, "an umbrella header holds #includes only")
        match = INCLUDE.match(line)
        if not match:
            continue
        target = match[1] or match[2]
        if match[2] and (path.parent / target).is_file():
            target = (path.parent / target).resolve().relative_to(root.resolve()).as_posix()
        library = third_party_of(target)
        if (root / target).is_file():
            to = layer_of(target)
            if to is None and layer is not None:
                problem(number, f"layer {layer} includes the umbrella <{target}>; include what is used")
            elif to is not None and to not in reachable:
                problem(number, f"{layer or header} may not include <{target}>; it may include {' '.join(reachable)}")
        elif target.startswith("flowgraph"):
            problem(number, f"there is no <{target}>")
        elif library is not None:
            if not any(header.startswith(f"flowgraph/{owner}/") for owner in THIRD_PARTY[library]):
                owners = " and ".join(sorted(THIRD_PARTY[library]))
                problem(number, f"<{target}> is included only in {owners}")
        elif SYSTEM.match(target):
            if header not in CALLS_THE_SYSTEM:
                problem(number, f"<{target}> is the operating system's; {' and '.join(sorted(CALLS_THE_SYSTEM))} call it")
        elif not STANDARD.match(target):
            problem(number, f"<{target}> belongs to no library that this one depends on")
    return problems


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[1])
    headers = sorted(root.rglob("*.hpp"))
    problems = [text for path in headers for text in check_header(root, path)]
    print("\n".join(problems + [f"{len(headers)} headers, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
