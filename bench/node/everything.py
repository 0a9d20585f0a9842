#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""All the raw data behind docs/results.md, "Measured on one node", of 16 ranks and fewer, within a limit of time: the sections below by rivals.py, then IMB where IMB-MPI1 is in the rival's
folder, and regret. What there is no time for is left out, and said.

  bench/node/everything.py RAW SECONDS --rival 'openmpi4=OUT=mpirun --bind-to core -np {ranks}' [--rival mpich5=…] [--only rivals,cold]

RAW becomes the folder that bench/data is: rivals.csv, … imb.csv, regret_NAME.txt. A section's file is written anew. Afterwards
CHASQUI_UPDATE=1 tests/bench/figures.py . puts the tables of bench/data into the pages.
"""
import argparse
import os
import subprocess
import sys
import time

from sides import settings_of

HERE = os.path.dirname(os.path.abspath(__file__))
SHORT = "8,64,1024,4096,16384,65536,262144"
# Name, share of the time, options of rivals.py. The shares are estimates of what three runs take.
SECTIONS = [
    ("rivals", 38, ["--modes", "sync,skew,burst", "--sizes", SHORT]),
    ("cold", 19, ["--modes", "cold", "--sizes", "8,1024,4096,65536"]),
    ("root0", 5, ["--modes", "sync", "--root", "0", "--kinds", "broadcast,reduce,gather,scatter", "--sizes", SHORT]),
    ("apart", 5, ["--modes", "skew=1,skew=5,skew=100", "--kinds", "barrier,broadcast,allreduce,reduce", "--sizes", "8,1024,4096"]),
    ("long", 6, ["--modes", "sync", "--sizes", "1048576", "--runs", "1"]),
    ("ranks", 6, ["--modes", "sync", "--sizes", "8,1024,16384", "--ranks", "2,3,5,8,12", "--runs", "1"]),
    ("imb", 17, []),
    ("regret", 4, []),
]


def rivals(raw, name, seconds, words, options):
    command = [f"{HERE}/rivals.py", "--delivered", "--seconds", options.seconds, "--within", f"{seconds:.0f}", "--patience", "120", "--csv",
               os.path.join(raw, "rivals.csv" if name == "rivals" else f"rivals_{name}.csv"), *words]
    if options.run:
        command += ["--run", "bin/chasqui", "--by", options.by]
    for rival in options.rival:
        command += ["--rival", rival]
    return command


def imb(raw, seconds, options):
    command = [f"{HERE}/imb.py", "--within", f"{seconds:.0f}", "--patience", "120", "--csv", os.path.join(raw, "imb.csv")] + (["--run", "--by", options.by] if options.run else [])
    chasqui = "bin/chasqui" if options.run else "libchasqui-mpi.so"
    for name, folder, launch in (each.split("=", 2) for each in options.rival):
        if os.path.exists(f"{folder}/IMB-MPI1"):
            command += ["--rival", f"{name}={folder}/IMB-MPI1={folder}/{chasqui}={launch.format(ranks=16)}"]
    return command


def regret(raw, seconds, options):
    """A launch of each side for each rival, as far as the time lasts."""
    begun = time.monotonic()
    for name, folder, launch in (each.split("=", 2) for each in options.rival):
        if not os.path.exists(f"{folder}/regret") or time.monotonic() - begun > seconds:
            print(f"regret, {name}: no {folder}/regret, or no time", file=sys.stderr)
            continue
        command = [f"{HERE}/regret.sh", os.path.abspath(f"{folder}/libchasqui-mpi.so"), f"{folder}/regret", "1", "1", *launch.format(ranks=16).split()]
        variables = next(iter(settings_of(name).values()))
        with open(os.path.join(raw, f"regret_{name}.txt"), "w") as out:
            subprocess.run(command, env={**os.environ, **variables}, stdout=out, timeout=max(60, seconds * 3), check=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("raw", help="a folder")
    parser.add_argument("within", type=float, help="seconds in all")
    parser.add_argument("--rival", action="append", required=True, help="NAME=FOLDER OF build.sh=LAUNCHER WITH {ranks}")
    parser.add_argument("--only", default="", help="sections, separated by commas: " + ", ".join(name for name, _, _ in SECTIONS))
    parser.add_argument("--seconds", default="0.012", help="for each row of each run, of rivals.py")
    parser.add_argument("--run", action="store_true", help="by chasqui run, not by LD_PRELOAD")
    parser.add_argument("--by", default="auto", help="of chasqui run")
    options = parser.parse_args()
    os.makedirs(options.raw, exist_ok=True)
    wanted = [section for section in SECTIONS if not options.only or section[0] in options.only.split(",")]
    end = time.monotonic() + options.within
    for i, (name, share, words) in enumerate(wanted):
        # What a section leaves is the others'.
        seconds = (end - time.monotonic()) * share / sum(its_share for _, its_share, _ in wanted[i:])
        begun = time.monotonic()
        if name == "regret":
            regret(options.raw, seconds, options)
        else:
            command = imb(options.raw, seconds, options) if name == "imb" else rivals(options.raw, name, seconds, words, options)
            if "--rival" in command:
                with open(os.path.join(options.raw, f"{name}.txt"), "w") as out:
                    subprocess.run([sys.executable, *command], stdout=out, check=False)
        print(f"{name}: {time.monotonic() - begun:.0f} of {seconds:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
