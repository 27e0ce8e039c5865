"""One diagnostics case: a file that holds one mistake, and what its comments say about it.

  // expect: <regex>        the first error line matches; for one compiler only: // expect-gcc:, // expect-clang:
  // facts: <regex>         the headline matches this too; may be repeated; also // facts-gcc:, // facts-clang:
  // title: <words>         optional heading in docs/diagnostics.md; otherwise the file's name
  // begin ... // end       the lines that docs/diagnostics.md shows; the mistake stands there
"""

import pathlib
import re

FAMILIES = ("gcc", "clang")
DIRECTIVE = re.compile(r"^//\s*(expect|facts|title)(?:-(gcc|clang))?:\s*(.*?)\s*$")


class Case:
    def __init__(self, path: pathlib.Path):
        self.path = path
        self.name = path.stem
        self.title = self.name.replace("_", " ")
        self.expect: dict[str, list[str]] = {family: [] for family in FAMILIES}
        self.facts: dict[str, list[str]] = {family: [] for family in FAMILIES}
        lines = path.read_text(encoding="utf-8").splitlines()
        for line in lines:
            match = DIRECTIVE.match(line)
            if not match:
                continue
            what, family, text = match.groups()
            if what == "title":
                self.title = text
            else:
                for each in [family] if family else FAMILIES:
                    getattr(self, what)[each].append(text)
        markers = [i for i, line in enumerate(lines, 1) if line.strip() in ("// begin", "// end")]
        kinds = [lines[i - 1].strip() for i in markers]
        self.problem = None
        if kinds != ["// begin", "// end"]:
            self.problem = "needs one '// begin' and one '// end' line around the mistake"
        for family in FAMILIES:
            if len(self.expect[family]) != 1:
                self.problem = f"needs exactly one '// expect:' (or '// expect-{family}:') line"
        self.first, self.last = (markers[0] + 1, markers[1] - 1) if not self.problem else (1, len(lines))
        self.code = "\n".join(lines[self.first - 1 : self.last])

    def golden(self, family: str) -> pathlib.Path:
        return self.path.parent / "golden" / f"{self.name}.{family}.txt"


def all_cases(directory: pathlib.Path) -> list[Case]:
    return [Case(path) for path in sorted(directory.glob("*.cpp"))]
