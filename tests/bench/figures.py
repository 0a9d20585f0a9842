#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/results.md has what the scripts of bench/node print of the raw data: all that stands between their command and the next heading. README.md has the first
table. usage: figures.py SOURCE; with CHASQUI_UPDATE=1 it writes the pages anew, and the prose is to be read again."""
import os
import re
import subprocess
import sys

source = sys.argv[1]
update = os.environ.get("CHASQUI_UPDATE", "0") != "0"
wrong, compared = [], 0


def compare(page, text, old, new, what):
    """The text of the page with the new part where the old one is."""
    global compared
    compared += new.count("|")
    if old != new and not update:
        lines = old.split("\n")
        missing = next((line for line in new.split("\n") if line not in lines), "the order differs, or there is more")
        wrong.append(f"{page} has not what {what} prints: {missing}")
    return text.replace(old, new, 1)


def pages():
    """Their names and, checked, their texts."""
    with open(f"{source}/docs/results.md", encoding="utf-8") as file:
        results = file.read()
    with open(f"{source}/README.md", encoding="utf-8") as file:
        readme = file.read()
    commands = re.findall(r"^ {4}(bench/node/(?:rivals|imb)\.py --read .*)$", results, re.M)
    for command in commands:
        script, *words = command.split()
        printed = subprocess.run([sys.executable, f"{source}/{script}", *words], cwd=source, capture_output=True, text=True, check=True).stdout.strip()
        begin = results.index(f"    {command}\n") + 5 + len(command)
        end = results.index("\n#", begin)
        results = results[:begin] + compare("docs/results.md", results[begin:end], results[begin:end], f"\n{printed}\n", command) + results[end:]
        if words[-1].endswith("/rivals.csv"):
            table = re.compile(r"^\| .*(?:\n\|.*)+", re.M)
            readme = compare("README.md", readme, table.search(readme).group(), table.search(printed).group(), command)
    if len(commands) < 6:
        wrong.append(f"docs/results.md has {len(commands)} commands of bench/node that read raw data, not 6")
    return {"docs/results.md": results, "README.md": readme}


texts = pages()
print(f"about {compared} cells compared")
print("\n".join(wrong))
if update:
    for page, text in texts.items():
        with open(f"{source}/{page}", "w", encoding="utf-8") as file:
            file.write(text)
sys.exit(1 if wrong or compared < 400 else 0)
