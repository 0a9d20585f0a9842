# SPDX-License-Identifier: MIT
"""`pip install .` without a network, from the build folder that is there; the installed package plans on its own."""
import importlib.util
import os
import subprocess
import sys
import tempfile

if importlib.util.find_spec("pip") is None:
    print("skipped: no pip (apt install python3-pip)")
    sys.exit(77)
root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
with tempfile.TemporaryDirectory() as folder:
    site = os.path.join(folder, "site")
    subprocess.check_call([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation",
                           "--disable-pip-version-check", "--target", site, "--config-settings", "build=" + sys.argv[1], "."],
                          cwd=root)
    program = "import chasqui; print(chasqui.__file__, chasqui.plan('broadcast', P=8, L=6, o=2, g=4).finish)"
    said = subprocess.check_output([sys.executable, "-c", program], cwd=folder, text=True, env={**os.environ, "PYTHONPATH": site})
    assert said.split() == [os.path.join(site, "chasqui", "__init__.py"), "24"], said
    shown = subprocess.check_output([sys.executable, "-m", "pip", "list", "--path", site, "--disable-pip-version-check"], text=True)
    assert "chasqui" in shown, shown
