# SPDX-License-Identifier: MIT
"""scripts/paper makes one document of the theory pages. Usage: document.py TREE OUT.html

Every number, picture and table of the pages is in it, every link leads somewhere, and no Markdown is left over."""
import re
import subprocess
import sys

tree, out = sys.argv[1:]
subprocess.run([sys.executable, f"{tree}/scripts/paper", out], check=True)
with open(out, encoding="utf-8") as file:
    document = file.read()

faults = []


def expect(truth, words):
    if not truth:
        faults.append(words)


names = set(re.findall(r'<h\d id="([^"]+)"', document))
pictures = tables = 0
for page in ["trees", "exchange", "items", "streams", "clusters", "adversary", "errata", "papers"]:
    with open(f"{tree}/docs/{page}.md", encoding="utf-8") as file:
        text = file.read()
    # How programs run on lanes is no theory, and left out.
    text = re.sub(r"^## Running on lanes\n.*?(?=^### )", "", text, flags=re.M | re.S)
    pictures += len(re.findall(r"^!\[", text, re.M))
    plain = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)  # a command may print a table
    tables += len(re.findall(r"^\| ---", plain, re.M))
    expect(page in names, f"{page}.md is not in the document")
    for kind, number in re.findall(r"^### (Definition|Theorem|Lemma|Corollary|Computed evidence|Erratum) (\d+): ", text, re.M):
        name = f"{page}-{kind.lower().replace(' ', '-')}-{number}"
        expect(name in names, f"{page}.md, {kind} {number}: no heading {name}")
expect(pictures >= 10 and document.count("<figure") == pictures, f"{document.count('<figure')} pictures, not {pictures}")
expect(document.count("<table") >= tables, f"{document.count('<table')} tables, not {tables}")
for target in set(re.findall(r'href="#([^"]+)"', document)):
    expect(target in names, f"a link leads to {target}, which is not there")
prose = re.sub(r"<pre>.*?</pre>|<svg.*?</svg>|<style>.*?</style>", "", document, flags=re.S)
for mark in ["`", "](", "**", "\0", "_{", "^{"]:
    at = prose.find(mark)
    expect(at < 0, f"{mark!r} is left over in: {prose[max(0, at - 60):at + 60]!r}")
formulas = re.findall(r'<span class="m">', document)
expect(len(formulas) > 500, f"only {len(formulas)} formulas")
sys.exit("\n".join(faults) or 0)
