#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tables against MPI libraries on the pages are those of the raw data. usage: figures.py SOURCE"""
import re
import subprocess
import sys

source = sys.argv[1]
SECTIONS = {"openmpi4": "Open MPI 4", "openmpi6": "Open MPI 6", "mpich5": "MPICH 5", "all rivals": "All rivals together"}
MODES = {"sync": "Common start", "burst": "Back to back", "skew": "Ranks apart", "cold": "Cold"}


def read(page):
    with open(f"{source}/{page}", encoding="utf-8") as file:
        return file.read()


def rows_of(text):
    """{collective: {size: cell}} of the first table in text"""
    lines = re.search(r"^\| \|.*(?:\n\|.*)+", text, re.M).group().split("\n")
    head, _, *rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    return {row[0]: {size: cell for size, cell in zip(head[1:], row[1:]) if cell} for row in rows}


results = read("docs/results.md")
command = re.search(r"^ {4}bench/node/(rivals\.py --read .*)$", results, re.M).group(1).split()
printed = subprocess.run([sys.executable, f"{source}/bench/node/{command[0]}", *command[1:]], cwd=source, capture_output=True, text=True,
                         check=True).stdout
wrong, compared = [], 0


def compare(where, page, data):
    global compared
    for collective, cells in page.items():
        for size, cell in cells.items():
            compared += 1
            true = data.get(collective, {}).get(size)
            if cell != true:
                wrong.append(f"{where}, {collective} {size}: the page says {cell}, the data {true}")


for block in re.split(r"\n(?=\S+(?: rivals)?, \w+, \d+ ranks)", printed):
    found = re.match(r"\s*(\w+(?: rivals)?), (\w+), 16 ranks", block)
    if not found or found.group(1) not in SECTIONS:
        continue
    rival, mode = found.groups()
    section = re.search(rf"^### {SECTIONS[rival]}\n(.*?)^###? ", results, re.M | re.S).group(1)
    if rival == "all rivals":
        compare("README.md", rows_of(read("README.md")[read("README.md").index("8 B | 64 B | 1 KiB") - 4:]), rows_of(block))
    else:
        section = section[section.index(f"**{MODES[mode]}.**"):]
        lost, of, median = re.search(r"(\d+) of (\d+)(?: cells)? lost.*, median ([\d.]+)\.$", section, re.M).groups()
        if (lost, of, median) != re.search(r"^lost (\d+) of (\d+) cells, median ([\d.]+)", block, re.M).groups():
            wrong.append(f"{SECTIONS[rival]}, {mode}: {lost} of {of} lost, median {median} on the page")
    compare(f"results.md, {SECTIONS[rival]}, {mode}", rows_of(section), rows_of(block))

print(f"{compared} cells compared")
for each in wrong:
    print(each)
sys.exit(1 if wrong or compared < 800 else 0)
