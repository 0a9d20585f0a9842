#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Intel's IMB-MPI1 with its own repetitions, natively and under the drop-in library as delivered, with each setting of each MPI
library that rivals.py has. A cell is native / ours of the setting that is worst for us, by the times t_max that IMB prints: below 1
Chasqui loses. Both sides are launched by turns; the median over launches counts, and of it the least of all rivals is printed last.

  bench/node/imb.py --rival 'openmpi4=IMB-MPI1=LIBRARY=mpirun --bind-to core -np 16' [--rival mpich=…] [--csv file]
  bench/node/imb.py --read file
"""
import argparse
import csv
import datetime
import os
import statistics
import subprocess
import sys
import tempfile

from rivals import name_of, settings_of, size_name, version_here

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


def run(rival, program, library, launch, setting, ours, options):
    variables = [f"{name}={value}" for name, value in settings_of(rival)[setting].items()]
    preload = [f"LD_PRELOAD={os.path.abspath(library)}"] if ours else []
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as lengths:
        lengths.write(options.sizes.replace(",", "\n") + "\n")
        lengths.flush()
        command = launch.split() + ["env"] + variables + preload + [program, "-npmin", "1000000", "-msglen", lengths.name] + list(BENCHMARKS)
        done = subprocess.run(command, env={**os.environ, **settings_of(rival)[setting]}, capture_output=True, text=True,
                              timeout=options.patience)
    if done.returncode != 0:
        print(f"{rival}, {setting}: {done.stderr.strip()[-300:]}", file=sys.stderr)
    return times_of(done.stdout)


def ratios_of(rows):
    """{rival: {(benchmark, bytes): {setting: native / ours}}}"""
    times = {}
    for row in rows:
        if int(row["bytes"]) == 0 and row["benchmark"] != "Barrier":
            continue
        times.setdefault((row["rival"], row["benchmark"], int(row["bytes"]), row["setting"]), {}).setdefault(row["side"], []).append(float(row["us"]))
    ratios = {}
    for (rival, benchmark, size, setting), sides in times.items():
        if len(sides) == 2 and min(sides["ours"]) > 0:
            cell = ratios.setdefault(rival, {}).setdefault((benchmark, size), {})
            cell[setting] = statistics.median(sides["native"]) / statistics.median(sides["ours"])
    return ratios


def table(title, cells):
    """cells[benchmark, bytes] = ratio"""
    sizes = sorted({size for _, size in cells if size > 0})
    print(f"\n{title}\n\n| | " + " | ".join(size_name(size) for size in sizes) + " |\n| --- |" + " --- |" * len(sizes))
    for benchmark in BENCHMARKS:
        values = [cells.get((benchmark, size)) for size in ([0] if benchmark == "Barrier" else sizes)]
        if any(values):
            line = ["" if value is None else f"**{value:.2f}**" if value < 1 else f"{value:.2f}" for value in values]
            print(f"| {name_of(BENCHMARKS[benchmark])} | " + " | ".join(line + [""] * (len(sizes) - len(line))) + " |")
    every = list(cells.values())
    print(f"\nbelow 1: {sum(value < 1 for value in every)} of {len(every)} cells, below 0.97: {sum(value < 0.97 for value in every)}, "
          f"median {statistics.median(every):.2f}")


def show(rows):
    ratios = ratios_of(rows)
    for rival, cells in ratios.items():
        table(f"{rival}, IMB: native / ours, its best setting for each cell", {cell: min(each.values()) for cell, each in cells.items()})
    if len(ratios) > 1:
        everywhere = set.intersection(*(set(cells) for cells in ratios.values()))
        table("all rivals, IMB", {cell: min(min(cells[cell].values()) for cells in ratios.values()) for cell in sorted(everywhere)})
    return 0 if ratios else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rival", action="append", default=[], help="NAME=IMB-MPI1=LIBRARY=LAUNCHER")
    parser.add_argument("--sizes", default="8,64,1024,4096,16384,65536,262144", help="bytes")
    parser.add_argument("--launches", type=int, default=3, help="of each side with each setting")
    parser.add_argument("--only", default="", help="settings, separated by commas")
    parser.add_argument("--patience", type=float, default=600, help="seconds for each launch")
    parser.add_argument("--version", default=version_here(), help="of Chasqui, for --csv")
    parser.add_argument("--csv", help="every time of every launch")
    parser.add_argument("--read", help="runs nothing: the tables of what --csv wrote")
    options = parser.parse_args()
    if options.read:
        with open(options.read, newline="") as file:
            return show(list(csv.DictReader(file)))
    if not options.rival:
        parser.error("--rival or --read is needed")
    rows, writer = [], None
    out = open(options.csv, "w", newline="") if options.csv else None
    for number in range(1, options.launches + 1):
        for rival, program, library, launch in (each.split("=", 3) for each in options.rival):
            for setting in settings_of(rival):
                if options.only and setting not in options.only.split(","):
                    continue
                for ours in [False, True] if number % 2 == 1 else [True, False]:
                    found = run(rival, program, library, launch, setting, ours, options)
                    for (benchmark, size), us in found.items():
                        rows.append({"launch": number, "date": datetime.date.today().isoformat(), "version": options.version, "rival": rival,
                                     "setting": setting, "side": "ours" if ours else "native", "benchmark": benchmark, "bytes": size, "us": us})
                        if out and writer is None:
                            writer = csv.DictWriter(out, rows[0].keys())
                            writer.writeheader()
                        if out:
                            writer.writerow(rows[-1])
                    if out:
                        out.flush()
    return show(rows)


if __name__ == "__main__":
    sys.exit(main())
