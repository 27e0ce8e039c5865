#!/usr/bin/env python3
"""Writes tests/golden/ops/*.txt: what every op must compute, by NumPy and SciPy (values) and JAX (values, gradients).

Where both referees know an op they must agree before a case is written, and every gradient must agree with central
differences. Names of families on the command line write only those.
"""

import sys

from golden_writer import GOLDEN
from ops_array import array
from ops_elementwise import elementwise
from ops_layout import layout
from ops_matrix import matrix
from ops_neural import neural
from ops_random import random
from ops_reduction import reduction
from ops_state import state
from ops_types import types

COMMENT = "Written by tests/referee/make_op_goldens.py; tests/referee/README.md has the format and the attributes."

if __name__ == "__main__":
    families = {f.__name__: f for f in (elementwise, array, matrix, reduction, neural, layout, state, random, types)}
    for name in sys.argv[1:] or families:
        families[name]().write(GOLDEN / "ops" / f"{name}.txt", COMMENT)
