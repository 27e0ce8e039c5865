#!/usr/bin/env python3
"""Reads the trace that look_samples wrote: valid JSON in the trace event format, in which no thread does two things at
once.

  check_trace.py trace.json
"""

import collections
import json
import sys

FIELDS = {"op", "shapes", "where", "provider", "bytes", "flops", "waited", "step"}


def main() -> int:
    with open(sys.argv[1], encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    spans, steps, names = collections.defaultdict(list), {}, set()
    for e in events:
        if e["ph"] == "M":
            names.add((e["name"], e["pid"], e["tid"]))
            continue
        assert e["ph"] == "X" and e["ts"] >= 0 and e["dur"] >= 0, e
        begin, end = round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000)
        spans[e["pid"], e["tid"]].append((begin, -end, e["name"]))
        if e["cat"] == "step":
            steps[int(e["name"].removeprefix("step "))] = (begin, end)
    assert len(steps) == 3, steps
    instructions = 0
    for e in events:
        if e["ph"] != "X" or e["cat"] == "step":
            continue
        instructions += 1
        assert set(e["args"]) == FIELDS, e
        assert ".cpp:" in e["args"]["where"] or ".hpp:" in e["args"]["where"], e
        begin, end = steps[e["args"]["step"]]
        assert begin <= round(e["ts"] * 1000) and round((e["ts"] + e["dur"]) * 1000) <= end, e
    assert instructions > 3 * 20, instructions
    assert len({process for name, process, _ in names if name == "process_name"}) == 3, "two devices, and whole steps"
    for row, all_of in spans.items():
        assert ("process_name", row[0], 0) in names and ("thread_name", *row) in names, row
        open_ends = []
        for begin, negative_end, name in sorted(all_of):
            while open_ends and open_ends[-1] <= begin:
                open_ends.pop()
            assert not open_ends or -negative_end <= open_ends[-1], f"{name} overlaps another span of its thread"
            open_ends.append(-negative_end)
    print(f"{instructions} instructions in {len(steps)} steps on {len(spans)} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
