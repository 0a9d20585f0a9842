#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tables against MPI libraries on the pages are those that the scripts of bench/node make of the raw data. usage: figures.py SOURCE"""
import re
import subprocess
import sys

source = sys.argv[1]


def read(page):
    with open(f"{source}/{page}", encoding="utf-8") as file:
        return file.read()


def tables_of(text):
    return re.findall(r"^\| .*(?:\n\|.*)+", text, re.M)


results = read("docs/results.md")
commands = re.findall(r"^ {4}(bench/node/(?:rivals|imb)\.py --read \S+)$", results, re.M)
wrong, compared = [], 0
for command in commands:
    script, *words = command.split()
    printed = subprocess.run([sys.executable, f"{source}/{script}", *words], cwd=source, capture_output=True, text=True, check=True).stdout
    for table in tables_of(printed):
        compared += table.count("|")
        for page in ["docs/results.md"] + (["README.md"] if "all rivals, sync, 16 ranks\n\n" + table in printed and "rivals.csv" in command else []):
            text = read(page)
            missing = [line for line in table.split("\n") if line not in text.split("\n")]
            if table not in text:
                wrong.append(f"{page} has not what {command} prints; " + (f"the first line that is not there: {missing[0]}" if missing else "the order differs"))

print(f"{len(commands)} commands, about {compared} cells compared")
for each in wrong:
    print(each)
sys.exit(1 if wrong or len(commands) < 3 or compared < 400 else 0)
