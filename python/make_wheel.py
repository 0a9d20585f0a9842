# SPDX-License-Identifier: MIT
"""`pip install .` asks here for a wheel (PEP 517): CMake builds the extension modules and libchasqui.so, and this file packs
them with the Python files. `--config-settings build=FOLDER` takes a build folder that is configured already instead of one below build."""

import base64
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
METADATA = """Metadata-Version: 2.1
Name: chasqui
Version: {version}
Summary: Collectives as fast as the machine allows: planned, checked, drawn, played and run
License: MIT
Requires-Python: >=3.8
Requires-Dist: numpy
"""


def version():
    with open(os.path.join(ROOT, "include/chasqui/base/version.hpp"), encoding="utf-8") as header:
        return ".".join(re.findall(r"define CHASQUI_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header.read()))


def outside():
    """The environment of who called pip. Pip hides all packages from a build; CMake looks for torch and its headers among them."""
    variables = dict(os.environ)
    if "pip-build-env" in variables.get("PYTHONPATH", ""):
        del variables["PYTHONPATH"]
        variables.pop("PYTHONNOUSERSITE", None)  # what was installed with --user counts, too
    return variables


def built(settings):
    """Builds what is missing and returns the folder with the whole package."""
    folder = settings.get("build")
    if not folder:  # one for each version of Python, and torch may have come or gone since the last time
        folder = os.path.join(ROOT, "build", "pip-" + sys.implementation.cache_tag)
        subprocess.check_call(["cmake", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", "-DCHASQUI_TESTS=OFF",
                               "-DCHASQUI_BENCHMARKS=OFF", "-DCHASQUI_PYTHON=" + sys.executable, "-UCHASQUI_TORCH*"], env=outside())
    subprocess.check_call(["cmake", "--build", folder, "--target", "python_package", "--parallel"], env=outside())
    return os.path.join(folder, "python", "chasqui")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    package = built(config_settings or {})
    python = "cp{}{}".format(*sys.version_info)
    tag = "-".join([python, python, re.sub("[-.]", "_", sysconfig.get_platform())])
    name = "chasqui-{}".format(version())
    info = name + ".dist-info/"
    files = {"chasqui/" + file: os.path.join(package, file) for file in sorted(os.listdir(package))
             if os.path.isfile(os.path.join(package, file))}
    texts = {
        info + "METADATA": METADATA.format(version=version()),
        info + "WHEEL": "Wheel-Version: 1.0\nGenerator: chasqui\nRoot-Is-Purelib: false\nTag: {}\n".format(tag),
    }
    record = ""
    wheel = "{}-{}.whl".format(name, tag)
    with zipfile.ZipFile(os.path.join(wheel_directory, wheel), "w", zipfile.ZIP_DEFLATED) as archive:
        for target, source in files.items():
            with open(source, "rb") as file:
                texts[target] = file.read()
        for target, text in texts.items():
            data = text.encode() if isinstance(text, str) else text
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += "{},sha256={},{}\n".format(target, digest, len(data))
            archive.writestr(target, data)
        archive.writestr(info + "RECORD", record + info + "RECORD,,\n")
    return wheel
