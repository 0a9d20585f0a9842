# SPDX-License-Identifier: MIT
"""The sides of a comparison with MPI libraries: what is set for each of a rival's settings, how Chasqui comes under a program, a limit of time, and what
was measured as a file."""
import csv
import datetime
import os
import subprocess
import sys
import time

COMPOSED = {"MPIR_CVAR_BCAST_COMPOSITION": "2", "MPIR_CVAR_REDUCE_COMPOSITION": "2", "MPIR_CVAR_ALLREDUCE_COMPOSITION": "3",
            "MPIR_CVAR_BCAST_INTRANODE_BUFFER_TOTAL_SIZE": "262144",
            "MPIR_CVAR_REDUCE_INTRANODE_BUFFER_TOTAL_SIZE": "262144"}
# What is set in the environment of every rank; CMA is Open MPI's default, whatever the machine's own environment says.
SETTINGS = {
    "openmpi4": {
        "default": {"OMPI_MCA_btl_vader_single_copy_mechanism": "cma"},
        "no cma": {"OMPI_MCA_btl_vader_single_copy_mechanism": "none"},
        "coll sm": {"OMPI_MCA_btl_vader_single_copy_mechanism": "cma", "OMPI_MCA_coll_sm_priority": "100"},
    },
    "openmpi": {
        "default": {},
        "xhc": {"OMPI_MCA_coll_xhc_priority": "100", "OMPI_MCA_coll_xhc_cico_max": "1048576"},
        "acoll": {"OMPI_MCA_coll_acoll_priority": "100"},
    },
    "mpich": {
        "default": {},
        "composed": COMPOSED,
        "release_gather": {**COMPOSED, **{f"MPIR_CVAR_{kind}_POSIX_INTRA_ALGORITHM": "release_gather"
                                          for kind in ("BCAST", "REDUCE", "ALLREDUCE", "BARRIER")}},
    },
}


def settings_of(rival, only=""):
    """{setting: variables}. Without a name at the beginning that is known: exits. only: names, separated by commas."""
    for begin in ("openmpi4", "openmpi", "mpich"):
        if rival.startswith(begin):
            return {name: variables for name, variables in SETTINGS[begin].items() if not only or name in only.split(",")}
    sys.exit(f"{rival}: a rival's name begins with openmpi4, openmpi or mpich")


def version_here():
    """What is measured, as far as this folder knows."""
    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run(["git", "-C", here, "describe", "--always", "--dirty"], capture_output=True, text=True)
    return done.stdout.strip()


def today():
    return datetime.date.today().isoformat()


def preloaded(libraries):
    """Chasqui as a program gets it by hand: launcher and variables as they are, this in front of the program."""
    return {"LD_PRELOAD": ":".join(os.path.abspath(library) for library in libraries if library)}


def by_chasqui_run(chasqui, way):
    """Chasqui as `chasqui run` starts it: in front of the launcher."""
    return [os.path.abspath(chasqui), "run", "--by", way, "--"]


def way_of(errors):
    """How `chasqui run` says that Chasqui joined: component, drop-in library; empty without its report."""
    for line in errors.splitlines():
        if line.startswith("chasqui run: by its "):
            return "component" if "component" in line else "drop-in library"
    return ""


def start(launch, variables, program, front=(), preload=None, patience=600):
    """Runs the program on all ranks; what it said. The launcher reads settings of Open MPI too, so they are in its environment as well."""
    given = {**variables, **(preload or {})}
    command = [*front, *launch.split(), "env", *(f"{name}={value}" for name, value in given.items()), *program]
    try:
        done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, timeout=patience)
    except subprocess.TimeoutExpired:
        print(f"{' '.join(command)}: not at its end after {patience:g} s", file=sys.stderr)
        return subprocess.CompletedProcess(command, 1, "", "")
    if done.returncode != 0:
        print(f"{' '.join(command)}: exit status {done.returncode}: {done.stderr.strip()[-400:]}", file=sys.stderr)
    return done


class Limit:
    """Seconds in all: but for the first, nothing begins that would end later, by what the same took before, or else the longest of others."""

    def __init__(self, seconds):
        self.seconds, self.begun, self.took, self.left_out = seconds, time.monotonic(), {}, []

    def allows(self, what):
        expected = self.took.get(what, max(self.took.values(), default=0))
        allowed = self.seconds is None or not self.took or time.monotonic() - self.begun + expected <= self.seconds
        if not allowed:
            self.left_out.append(what)
        return allowed

    def timed(self, what, function):
        begin = time.monotonic()
        result = function()
        self.took[what] = time.monotonic() - begin
        return result

    def say(self):
        print(f"{time.monotonic() - self.begun:.0f} s; left out for lack of time: "
              f"{len(self.left_out)}{': ' if self.left_out else ''}{', '.join(' '.join(map(str, what)) for what in self.left_out)}", file=sys.stderr)


def kept(rows, file):
    """The same rows, written to the file one by one."""
    with open(file, "w", newline="") as out:
        writer = None
        for row in rows:
            if writer is None:
                writer = csv.DictWriter(out, row.keys(), lineterminator="\n")
                writer.writeheader()
            writer.writerow(row)
            out.flush()
            yield row
