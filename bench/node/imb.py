#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Intel's IMB-MPI1 with its own repetitions, natively and under Chasqui as delivered, with each setting of each MPI library that sides.py has. Both
sides are launched by turns, and go first by turns; a run's ratio is of the times t_max that IMB printed in its two launches. A cell is native / ours with the
setting that is fastest natively, the mean of the runs (cells.py): below 1 Chasqui loses.

  bench/node/imb.py --rival 'openmpi4=IMB-MPI1=LIBRARY=mpirun --bind-to core -np 16' [--rival mpich=…] [--csv file]
  bench/node/imb.py … --run                     # LIBRARY is chasqui: ours is started by chasqui run -- mpirun …
  bench/node/imb.py --read file [--each]
"""
import argparse
import csv
import sys
import tempfile

from cells import Sample, cell_of
from sides import Limit, by_chasqui_run, kept, preloaded, settings_of, start, today, version_here
from tables import Mode, show

BENCHMARKS = {"Barrier": "barrier", "Bcast": "broadcast", "Allreduce": "allreduce", "Reduce": "reduce", "Allgather": "allgather",
              "Gather": "gather", "Scatter": "scatter", "Alltoall": "alltoall", "Reduce_scatter_block": "reduce-scatter"}


def times_of(text):
    """{(benchmark, bytes): t_max} of what IMB printed."""
    found, benchmark, column, bytes_column = {}, None, None, None
    for line in text.splitlines():
        words = line.split()
        if line.startswith("# Benchmarking"):
            benchmark, column = words[2], None
        elif "t_max[usec]" in words:
            column = words.index("t_max[usec]")
            bytes_column = words.index("#bytes") if "#bytes" in words else None
        elif column is not None and len(words) > column and words[0].isdigit():
            found[benchmark, int(words[bytes_column]) if bytes_column is not None else 0] = float(words[column])
    return found


def run(program, chasqui, launch, variables, ours, options):
    """chasqui: the library, or with --run the command."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as lengths:
        lengths.write(options.sizes.replace(",", "\n") + "\n")
        lengths.flush()
        words = [program, "-npmin", "1000000", "-msglen", lengths.name] + list(BENCHMARKS)
        front = by_chasqui_run(chasqui, options.by) if ours and options.run else []
        preload = preloaded([chasqui]) if ours and not options.run else {}
        return times_of(start(launch, variables, words, front, preload, options.patience).stdout)


def measure(options):
    """Yields every time of every launch."""
    limit = Limit(options.within)
    for number in range(1, options.runs + 1):
        for rival, program, chasqui, launch in (each.split("=", 3) for each in options.rival):
            for setting, variables in settings_of(rival, options.only).items():
                if not limit.allows((rival, setting)):
                    continue
                sides = ["native", "ours"] if number % 2 == 1 else ["ours", "native"]
                found = limit.timed((rival, setting),
                                    lambda: [(side, run(program, chasqui, launch, variables, side == "ours", options)) for side in sides])
                for side, times in found:
                    for (benchmark, size), us in times.items():
                        yield {"launch": number, "date": today(), "version": options.version, "rival": rival, "setting": setting,
                               "side": side, "benchmark": benchmark, "bytes": size, "us": us}
    limit.say()


def cells_of(rows):
    """What show() takes, of the runs that have both sides."""
    times = {}
    for row in rows:
        size = int(row["bytes"])
        if size > 0 or row["benchmark"] == "Barrier":
            sides = times.setdefault(row["rival"], {}).setdefault((BENCHMARKS[row["benchmark"]], size), {})
            sides.setdefault((row["setting"], row["launch"]), {})[row["side"]] = float(row["us"])
    cells = {}
    for rival, its_cells in times.items():
        for cell, runs in its_cells.items():
            samples = [Sample(setting, sides["native"], sides["native"] / sides["ours"])
                       for (setting, _), sides in runs.items() if len(sides) == 2 and sides["ours"] > 0]
            if samples:
                cells.setdefault(rival, {})[cell] = cell_of(samples)
    return {Mode("IMB", "IMB"): cells} if cells else {}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rival", action="append", default=[], help="NAME=IMB-MPI1=LIBRARY=LAUNCHER")
    parser.add_argument("--sizes", default="8,64,1024,4096,16384,65536,262144", help="bytes")
    parser.add_argument("--runs", type=int, default=3, help="launches of each side with each setting")
    parser.add_argument("--within", type=float, help="seconds in all: begins no run that would end later")
    parser.add_argument("--only", default="", help="settings, separated by commas")
    parser.add_argument("--run", action="store_true", help="LIBRARY is chasqui, and ours is started by `chasqui run`")
    parser.add_argument("--by", default="auto", help="of `chasqui run`: auto, component or preload")
    parser.add_argument("--patience", type=float, default=600, help="seconds for each launch")
    parser.add_argument("--version", default=version_here(), help="of Chasqui, for --csv")
    parser.add_argument("--csv", help="every time of every launch")
    parser.add_argument("--read", help="runs nothing: the tables of what --csv wrote")
    parser.add_argument("--each", action="store_true", help="a table for each rival, too: the least and the most of its runs")
    parser.add_argument("--below", type=float, default=1, help="the least and the most of cells of which a run is below that")
    options = parser.parse_args()
    if options.read:
        with open(options.read, newline="") as file:
            return show(cells_of(csv.DictReader(file)), options.each, options.below)
    if not options.rival:
        parser.error("--rival or --read is needed")
    rows = measure(options)
    return show(cells_of(kept(rows, options.csv) if options.csv else rows), options.each, options.below)


if __name__ == "__main__":
    sys.exit(main())
