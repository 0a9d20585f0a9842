# SPDX-License-Identifier: MIT
"""The benchmarks of the Python package run, on small messages."""
import importlib.util
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
programs = ["bench/python/numpy_allreduce.py"]
if importlib.util.find_spec("torch") and importlib.util.find_spec("chasqui._torch"):
    programs.append("bench/python/torch_allreduce.py")
for program in programs:
    printed = subprocess.check_output(
        [sys.executable, os.path.join(ROOT, program), "--bytes", "64,4096", "--rounds", "1", "--calls", "3"], text=True)
    rows = [line.split() for line in printed.splitlines()[1:]]
    assert len(rows) in (2, 4) and all(float(row[-1]) >= 0 for row in rows), printed
    print(printed)
