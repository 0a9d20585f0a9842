#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No cliffs over P: our collectives in SimGrid's simulated time for every number of ranks.

  bench/smpi/build.sh BUILD_DIR && bench/smpi/sweep.py BUILD_DIR [--csv bench/data/smpi_sweep.csv] [--table]

Runs what the csv does not have yet and prints, for every case, the worst cliff: the largest time(P) / time(P') with P < P', and
the largest step time(P + 1) / time(P) from --from ranks on. Exits 1 where a cliff is above --most.
"""
import argparse
import concurrent.futures
import os
import sys
import tempfile

import simulator

SMALL = "barrier:0 broadcast:8 reduce:8 allreduce:8 allgather:8"
LONG = "broadcast:65536 reduce:65536 allreduce:65536 broadcast:1048576 reduce:1048576 allreduce:1048576"
COLUMNS = ["mode", "machine", "kind", "bytes", "ranks", "ns", "method", "predicted_ns"]


def counts(text):
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def run_all(table, options):
    program = os.path.join(options.build, "bin/smpi_bench")
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        def one(job):
            mode, machine, ranks = job
            wanted = [tuple(case.split(":")) for case in options.cases.split()]
            wanted = [case for case in wanted if (mode, machine, *case, str(ranks)) not in table.rows]
            if not wanted:
                return
            results = simulator.run_many(program, folder, ranks, machine, mode, wanted, "ours", timeout=options.timeout)
            for case, result in zip(wanted, results):
                if result.status != "right":
                    raise SystemExit(f"{job} {case}: {result.status} {result.method}")
                table.add(mode, machine, *case, ranks, f"{result.ns:.1f}", result.method, f"{result.predicted:.1f}")
        jobs = [(mode, machine, ranks) for mode in options.modes.split(",") for machine in options.machines.split(",")
                for ranks in counts(options.ranks)]
        list(pool.map(one, jobs))


def report(rows, options):
    worst = 0.0
    print("| | ranks | worst cliff | largest step |\n| --- | --- | --- | --- |")
    for key in sorted({case for case, _ in rows}, key=lambda case: (case[:3], int(case[3]))):
        times = sorted((ranks, float(row["ns"]), row["method"]) for (case, ranks), row in rows.items() if case == key)
        cliff, where, step, stepped = 0.0, "", 0.0, ""
        least = times[-1]
        for later, now in reversed(list(zip(times[1:], times))):
            if later[1] < least[1]:
                least = later
            if now[1] / least[1] > cliff:
                cliff, where = now[1] / least[1], f"{now[0]} {now[2]} over {least[0]} {least[2]}"
            if later[0] == now[0] + 1 and now[0] >= options.since and later[1] / now[1] > step:
                step, stepped = later[1] / now[1], f"{later[0]} over {now[0]}"
        worst = max(worst, cliff)
        print(f"| {' '.join(key)} | {times[0][0]} to {times[-1][0]} | {cliff:.3f} ({where}) | {step:.3f} ({stepped}) |")
    print(f"\nworst cliff {worst:.3f}")
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--csv", default=os.path.join(os.path.dirname(__file__), "../data/smpi_sweep.csv"))
    parser.add_argument("--ranks", default="2-130")
    parser.add_argument("--machines", default="lan,eth")
    parser.add_argument("--modes", default="shared")
    parser.add_argument("--cases", default=SMALL + " " + LONG)
    parser.add_argument("--from", dest="since", type=int, default=16)
    parser.add_argument("--most", type=float, default=1.05)
    parser.add_argument("--table", action="store_true", help="run nothing")
    parser.add_argument("--timeout", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    table = simulator.Table(options.csv, COLUMNS, 5)
    if not options.table:
        run_all(table, options)
    rows = {(key[:4], int(key[4])): row for key, row in table.rows.items()}
    sys.exit(1 if report(rows, options) > options.most else 0)


main()
