# SPDX-License-Identifier: MIT
"""The programs of README.md, docs/python.md and docs/pytorch.md run, each alone or under its launcher, and print the text below them; ...
stands for anything. usage: pages_test.py CHASQUI"""
import importlib.util
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def check(page):
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        blocks = re.findall(r"```python\n(.*?)```\n\n(?:    chasqui (launch -n 2 --) python3 program.py\n\n)?```text\n(.*?)```", file.read(), re.DOTALL)
    assert blocks, page + " has no programs"
    for program, launcher, wanted in blocks:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(program)
            words = [sys.argv[1]] + launcher.split() if launcher else []
            printed = subprocess.run(words + [sys.executable, path], cwd=folder, stdout=subprocess.PIPE, text=True, check=True).stdout
        pattern = ".*".join(map(re.escape, wanted.split("...")))
        assert re.fullmatch(pattern, printed, re.DOTALL), "{}: printed\n{}\nnot\n{}".format(page, printed, wanted)
    print("ok:", page, len(blocks), "programs")


check("README.md")
check("docs/python.md")
if importlib.util.find_spec("torch") and importlib.util.find_spec("chasqui._torch"):
    check("docs/pytorch.md")
else:
    print("skipped: pytorch.md, no torch")
