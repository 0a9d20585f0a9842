#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The fair comparison on one node: plain MPI calls (node_bench) as each MPI library does them, with its own defaults and with
every setting of sides.py, against the same calls under Chasqui. A cell is native / ours with the library's fastest setting for that cell, the mean of the
runs (cells.py): below 1 Chasqui loses. With several rivals the tables have the least cell of all; the list below them has the least and the most of
the runs wherever one is below 1, --each has them everywhere.

  MPICXX=mpicxx bench/node/build.sh OUT                                          # for each MPI library
  bench/node/rivals.py --rival 'openmpi4=OUT=mpirun --bind-to core -np {ranks}' [--rival mpich=…] [--csv file]
  bench/node/rivals.py … --run bin/chasqui                                       # as a user starts it: chasqui run -- mpirun …
  bench/node/rivals.py --read file [--each] [--interface]                        # the tables of raw data
"""
import argparse
import csv
import os
import sys
import tempfile

from cells import Sample, cell_of
from sides import Limit, by_chasqui_run, kept, preloaded, settings_of, start, today, version_here, way_of
from tables import Mode, show


def mode_of(mode, ranks):
    apart = mode.partition("=")[2] or "20"
    names = {"sync": "A common start", "burst": "Calls without a pause", "cold": "Buffers in no cache", "skew": f"Ranks up to {apart} µs apart"}
    return Mode(f"{names[mode.partition('=')[0]]} (`{mode}`), {ranks} ranks", f"`{mode}`, {ranks} ranks")


def run(folder, launch, variables, options, ranks):
    """The rows of one run of node_bench, and how Chasqui was there; no rows where the library cannot do it."""
    with tempfile.TemporaryDirectory() as scratch:
        table = os.path.join(scratch, "rows.csv")
        program = [os.path.join(folder, options.program), "--modes", options.modes, "--seconds", options.seconds, "--sizes", options.sizes, "--csv", table]
        for name in ["kinds", "root"]:
            program += [f"--{name}", getattr(options, name)] if getattr(options, name) else []
        if not options.delivered:
            variables = {**variables, "CHASQUI_TRIALS": "0"}
        if options.run:
            front, preload = by_chasqui_run(os.path.join(folder, options.run), options.by), preloaded([options.preload]) if options.preload else {}
        else:
            front, preload = [], preloaded([os.path.join(folder, options.library), options.preload])
        done = start(launch.format(ranks=ranks), variables, program, front, preload, options.patience)
        by = f"chasqui run: {way_of(done.stderr)}" if options.run else "LD_PRELOAD"
        if not os.path.exists(table):
            return [], by
        with open(table, newline="") as rows:
            return [row for row in csv.DictReader(rows) if row["ratio"]], by


def measure(options):
    """Yields every row of every run."""
    limit = Limit(options.within)
    for number in range(1, options.runs + 1):
        for ranks in options.ranks.split(","):
            for rival, folder, launch in (each.split("=", 2) for each in options.rival):
                for setting, variables in settings_of(rival, options.only).items():
                    what = (rival, setting, ranks)
                    if not limit.allows(what):
                        continue
                    rows, by = limit.timed(what, lambda: run(folder, launch, variables, options, ranks))
                    for row in rows:
                        yield {"run": number, "date": today(), "version": options.version, "rival": rival, "setting": setting,
                               "served": "as delivered" if options.delivered else "every call", "by": by, **row}
    limit.say()


def cells_of(rows, column):
    """What show() takes."""
    samples = {}
    for row in rows:
        rivals = samples.setdefault(mode_of(row["mode"], row["ranks"]), {})
        cells = rivals.setdefault(row["rival"], {})
        cells.setdefault((row["collective"], int(row["bytes"])), []).append(Sample(row["setting"], float(row["native"]), float(row[column])))
    return {mode: {rival: {cell: cell_of(all_runs) for cell, all_runs in cells.items()} for rival, cells in rivals.items()}
            for mode, rivals in samples.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rival", action="append", default=[], help="NAME=FOLDER OF node_bench=LAUNCHER WITH {ranks}")
    parser.add_argument("--modes", default="sync,skew,burst,cold", help="of node_bench; skew=100: ranks come up to 100 us apart")
    parser.add_argument("--ranks", default="16", help="2,3,5,8,12,16")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--sizes", default="8,64,1024,4096,16384,65536,262144,1048576,4194304")
    parser.add_argument("--kinds", default="")
    parser.add_argument("--seconds", default="0.1", help="for each row of each run")
    parser.add_argument("--within", type=float, help="seconds in all: begins no run that would end later")
    parser.add_argument("--only", default="", help="settings, separated by commas")
    parser.add_argument("--root", help="of every call; else another in every call")
    parser.add_argument("--version", default=version_here(), help="of Chasqui, for --csv")
    parser.add_argument("--delivered", action="store_true", help="Chasqui compares for itself; else it serves every call")
    parser.add_argument("--program", default="node_bench", help="in the rival's folder")
    parser.add_argument("--library", default="libchasqui-mpi.so", help="in the rival's folder")
    parser.add_argument("--run", help="chasqui in the rival's folder: the program is started by `chasqui run`, --library is not preloaded")
    parser.add_argument("--by", default="auto", help="of `chasqui run`: auto, component or preload")
    parser.add_argument("--preload", default="", help="a library that is preloaded too")
    parser.add_argument("--patience", type=float, default=600, help="seconds for each run")
    parser.add_argument("--csv", help="every row of every run")
    parser.add_argument("--read", help="runs nothing: the tables of what --csv wrote")
    parser.add_argument("--each", action="store_true", help="a table for each rival and mode, too: the least and the most of its runs")
    parser.add_argument("--below", type=float, default=1, help="the least and the most of cells of which a run is below that")
    parser.add_argument("--interface", action="store_true", help="native / the C++ interface")
    options = parser.parse_args()
    column = "interface_ratio" if options.interface else "ratio"
    if options.read:
        with open(options.read, newline="") as rows:
            return show(cells_of(csv.DictReader(rows), column), options.each, options.below)
    if not options.rival:
        parser.error("--rival or --read is needed")
    rows = measure(options)
    return show(cells_of(kept(rows, options.csv) if options.csv else rows, column), options.each, options.below)


if __name__ == "__main__":
    sys.exit(main())
