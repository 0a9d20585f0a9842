# SPDX-License-Identifier: MIT
"""The notebooks of examples/ run from the first cell to the last and show pictures; where nbconvert is installed, it renders
them as well."""
import ast
import glob
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def run_cells(notebook):
    """What the cells show as SVG. As a notebook does: the value of a cell's last line is shown."""
    names, pictures = {"__name__": "__main__"}, []
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        body = ast.parse("".join(cell["source"]))
        last = body.body.pop() if body.body and isinstance(body.body[-1], ast.Expr) else None
        exec(compile(body, "cell", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None
        if hasattr(value, "_repr_svg_"):
            pictures.append(value._repr_svg_())
    return pictures


def rendered(path, folder):
    subprocess.check_call([sys.executable, "-m", "nbconvert", "--to", "html", "--execute", "--output-dir", folder, path],
                          stderr=subprocess.DEVNULL)
    with open(os.path.join(folder, os.path.basename(path)[:-5] + "html"), encoding="utf-8") as page:
        return page.read().count("<svg")


notebooks = sorted(glob.glob(os.path.join(ROOT, "examples", "*.ipynb")))
assert notebooks
for path in notebooks:
    with open(path, encoding="utf-8") as file:
        notebook = json.load(file)
    assert all(not cell.get("outputs") for cell in notebook["cells"]), path + ": clear its outputs"
    pictures = len(run_cells(notebook))
    assert pictures >= 2, "{}: {} pictures".format(path, pictures)
    if importlib.util.find_spec("nbconvert") and importlib.util.find_spec("ipykernel"):
        with tempfile.TemporaryDirectory() as folder:
            shown = rendered(path, folder)
        assert shown == pictures, "{}: {} pictures, but {} in the page".format(path, pictures, shown)
    print("ok:", os.path.basename(path), pictures, "pictures")
