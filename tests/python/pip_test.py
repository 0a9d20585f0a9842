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

# CMake sees the packages of the Python that asks for the wheel, torch among them, although pip hides them: a CMake that only looks.
with tempfile.TemporaryDirectory() as folder:
    cmake = os.path.join(folder, "cmake")
    with open(cmake, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n"
                   f"'{sys.executable}' -c 'import importlib.util as u; print(u.find_spec(\"numpy\") is not None)' > '{folder}/found'\n"
                   f"echo \"$@\" > '{folder}/asked'\n"
                   f"echo \"${{PYTHONNOUSERSITE-seen}}\" > '{folder}/user'\n"
                   "exit 1\n")
    os.chmod(cmake, 0o755)
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONNOUSERSITE"}
    failed = subprocess.run([sys.executable, "-m", "pip", "wheel", "--no-index", "--no-deps", "--disable-pip-version-check", "--wheel-dir", folder, "."],
                            cwd=root, env={**usual, "PATH": folder + os.pathsep + os.environ["PATH"]}, capture_output=True)
    assert failed.returncode != 0
    with open(os.path.join(folder, "asked"), encoding="utf-8") as file:
        asked = file.read()
        assert sys.implementation.cache_tag in asked and "-DCHASQUI_PYTHON=" in asked, asked
    with open(os.path.join(folder, "found"), encoding="utf-8") as file:
        assert (file.read().strip() == "True") == (importlib.util.find_spec("numpy") is not None)
    with open(os.path.join(folder, "user"), encoding="utf-8") as file:
        assert file.read().strip() == "seen"
