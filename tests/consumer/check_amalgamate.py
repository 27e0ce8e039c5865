#!/usr/bin/env python3
"""What tools/amalgamate makes of small trees of headers, and which it refuses.

  check_amalgamate.py TOOL
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = ""


class Amalgamate(unittest.TestCase):
    def amalgamate(self, headers: dict[str, str]) -> tuple[str, str]:
        """The code, without comments and blank lines, and what was said."""
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            for path, text in headers.items():
                (root / "include" / path).parent.mkdir(parents=True, exist_ok=True)
                (root / "include" / path).write_text("#pragma once\n" + text)
            done = subprocess.run(
                [TOOL, "--include", root / "include", "-o", root / "single" / "one.hpp"], capture_output=True, text=True
            )
            self.assertEqual(done.returncode, 1 if done.stderr else 0)
            if done.stderr:
                self.assertFalse((root / "single").exists())
                return "", done.stderr
            lines = (root / "single" / "one.hpp").read_text().splitlines()
            self.assertEqual(lines.count("#pragma once"), 1)
            return "\n".join(line for line in lines if line and not line.startswith(("//", "#pragma"))), ""

    def test_each_header_once_in_the_order_of_the_preprocessor(self):
        code, _ = self.amalgamate({
            "flowgraph.hpp": "#include <vector>\n#include <flowgraph/a/a.hpp>\n#include <flowgraph/b.hpp>\nint u;\n",
            "flowgraph/a/a.hpp": '#include <vector>\n#include "c.hpp"\n#include "../b.hpp"\nint a;\n',
            "flowgraph/a/c.hpp": "int c;\n",
            "flowgraph/b.hpp": "int b;\n",
        })
        self.assertEqual(code, "#include <vector>\nint c;\nint b;\nint a;\nint u;")

    def test_what_a_condition_includes_stays_within_it(self):
        code, _ = self.amalgamate({
            "flowgraph.hpp": "#if X\n#include <zlib.h>\n#include <flowgraph/a.hpp>\n#endif\n#include <flowgraph/b.hpp>\n",
            "flowgraph/a.hpp": "#include <flowgraph/b.hpp>\nint a;\n",
            "flowgraph/b.hpp": "int b;\n",
        })
        self.assertEqual(code, "int b;\n#if X\n#include <zlib.h>\nint a;\n#endif")

    def test_what_two_conditions_include_has_a_guard(self):
        code, _ = self.amalgamate({
            "flowgraph.hpp": "#if X\n#include <flowgraph/a.hpp>\n#endif\n#ifdef Y\n#include <flowgraph/a.hpp>\n#endif\n",
            "flowgraph/a.hpp": "int a;\n",
        })
        guard = "FLOWGRAPH_SINGLE_FLOWGRAPH_A_HPP"
        guarded = f"#ifndef {guard}\n#define {guard}\nint a;\n#endif\n"
        self.assertEqual(code, f"#if X\n{guarded}#endif\n#ifdef Y\n{guarded}#endif")

    def test_a_header_that_is_not_there(self):
        _, said = self.amalgamate({"flowgraph.hpp": "#include <flowgraph/a.hpp>\n"})
        self.assertIn("flowgraph.hpp:2: flowgraph has no header flowgraph/a.hpp", said)
        _, said = self.amalgamate({"flowgraph.hpp": '#include "a.hpp"\n'})
        self.assertIn("flowgraph.hpp:2: flowgraph has no header a.hpp", said)

    def test_headers_that_include_each_other(self):
        _, said = self.amalgamate({
            "flowgraph.hpp": "#include <flowgraph/a.hpp>\n",
            "flowgraph/a.hpp": '#include "b.hpp"\n',
            "flowgraph/b.hpp": '#include "a.hpp"\n',
        })
        self.assertIn("include each other: flowgraph.hpp -> flowgraph/a.hpp -> flowgraph/b.hpp -> flowgraph/a.hpp", said)

    def test_a_header_that_ends_with_its_definitions(self):
        code, _ = self.amalgamate({
            "flowgraph.hpp": "#include <flowgraph/a.hpp>\n",
            "flowgraph/a.hpp": 'int f();\n#ifndef X\n#include "a_code.hpp"\n#endif\n',
            "flowgraph/a_code.hpp": '#include "a.hpp"\nint f() { return 1; }\n',
        })
        self.assertEqual(code, "int f();\n#ifndef X\nint f() { return 1; }\n#endif")

    def test_conditions_that_do_not_end(self):
        _, said = self.amalgamate({"flowgraph.hpp": "#if X\n"})
        self.assertIn("flowgraph.hpp: an #if without its #endif", said)
        _, said = self.amalgamate({"flowgraph.hpp": "#endif\n"})
        self.assertIn("flowgraph.hpp:2: an #endif without its #if", said)

    def test_an_include_by_a_macro(self):
        _, said = self.amalgamate({"flowgraph.hpp": "#include NAME\n"})
        self.assertIn('flowgraph.hpp:2: an #include of neither <header> nor "header"', said)


if __name__ == "__main__":
    TOOL = sys.argv.pop(1)
    unittest.main()
