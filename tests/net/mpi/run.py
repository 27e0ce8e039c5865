#!/usr/bin/env python3
"""Runs a program as two ranks on this machine.

  run.py MPIEXEC PROGRAM
"""

import os
import subprocess
import sys
import tempfile

mpiexec, program = sys.argv[1:]
version = subprocess.run([mpiexec, "--version"], capture_output=True, text=True).stdout
command = [mpiexec, "-n", "2"]
with tempfile.TemporaryDirectory() as scratch:
    environment = os.environ.copy()
    if "Open MPI" in version or "OpenRTE" in version:
        # More ranks than processors, as root, on the loopback; what it leaves behind goes with the directory.
        command += ["--oversubscribe", "--allow-run-as-root", "--mca", "oob_tcp_if_include", "lo", "--mca", "btl_tcp_if_include",
                    "lo"]
        environment["TMPDIR"] = scratch
    try:
        done = subprocess.run([*command, program], env=environment, timeout=300)
    except subprocess.TimeoutExpired:
        sys.exit("the ranks did not end within 300 s")
sys.exit(done.returncode)
