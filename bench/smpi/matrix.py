#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Chasqui against every collective algorithm and selector built into SimGrid's SMPI, in simulated time.

  bench/smpi/build.sh BUILD_DIR && bench/smpi/matrix.py BUILD_DIR [--csv bench/data/smpi.csv] [--table]

Runs what the csv does not have yet (simulated time is repeatable; --again ours forgets our own rows) and prints the table
of docs/network.md. Rank counts are taken in ascending order; an algorithm that took more than --hopeless times the best of
all with the next fewer ranks is not tried, unless it is the best selector there, and the csv says so ("hopeless"). With
more than --many ranks only the --fastest there are run, and the best selector: a run takes a minute then. A "?" stands
where the fastest of fewer ranks ran out of time or was not run.
"""
import argparse
import concurrent.futures
import os
import tempfile

import simulator

SELECTORS = ["default", "ompi", "mpich", "mvapich2", "impi"]
OPTION = {"broadcast": "bcast", "allreduce": "allreduce", "reduce": "reduce", "allgather": "allgather", "barrier": "barrier"}
ALGORITHMS = {  # all there are, but for those that poll for arrivals: simulated time stands still while they do
    "broadcast": "binomial_tree flattree flattree_pipeline NTSB NTSL NTSL_Isend scatter_LR_allgather "
                 "scatter_rdb_allgather SMP_binary SMP_binomial SMP_linear ompi_split_bintree ompi_pipeline "
                 "mvapich2_inter_node mvapich2_intra_node mvapich2_knomial_intra_node",
    "allreduce": "lr rab1 rab2 rab_rdb rdb smp_binomial smp_binomial_pipeline smp_rdb smp_rsag smp_rsag_lr smp_rsag_rab "
                 "redbcast ompi_ring_segmented mvapich2_rs mvapich2_two_level rab",
    "reduce": "binomial flat_tree NTSL scatter_gather ompi_chain ompi_pipeline ompi_basic_linear ompi_in_order_binary "
              "ompi_binary ompi_binomial mvapich2_knomial mvapich2_two_level rab",
    "allgather": "2dmesh 3dmesh bruck GB loosely_lr NTSLR NTSLR_NB pair rdb rhv ring SMP_NTS smp_simple spreading_simple "
                 "ompi_neighborexchange mvapich2_smp",
    "barrier": "ompi_basic_linear ompi_two_procs ompi_tree ompi_bruck ompi_recursivedoubling ompi_doublering mpich_smp "
               "mvapich2_pair",
}
CASES = ("barrier:0 broadcast:8 reduce:8 allreduce:8 allgather:8 broadcast:65536 reduce:65536 allreduce:65536 "
         "broadcast:1048576 reduce:1048576 allreduce:1048576 allgather:4096 allgather:65536")
COLUMNS = ["mode", "machine", "ranks", "kind", "bytes", "who", "status", "ns", "method", "predicted_ns"]


class Table(simulator.Table):
    def best(self, case, only=lambda who: True):
        times = [(self.time(key), key[5]) for key in self.rows
                 if key[:5] == case and key[5] != "ours" and only(key[5]) and self.time(key) is not None]
        return min(times, default=(None, "-"))


def rivals(kind):
    for name in SELECTORS:
        yield "selector " + name, f"--cfg=smpi/coll-selector:{name}"
    for name in ALGORITHMS[kind].split():
        yield name, f"--cfg=smpi/{OPTION[kind]}:{name}"


def is_selector(who):
    return who.startswith("selector")


def work(table, options, case, fewer):
    """What is to be run for a case: (key, option, hopeless). `fewer`: the next smaller number of ranks, or None."""
    mode, machine, ranks, kind, size = case
    before = (mode, machine, fewer, kind, size)
    ahead = sorted(t for who, _ in rivals(kind) if not is_selector(who) and (t := table.time(before + (who,))) is not None)
    slowest = ahead[min(options.fastest, len(ahead)) - 1] if int(ranks) > options.many and ahead else float("inf")
    for who, option in [("ours", None), *rivals(kind)]:
        if case + (who,) in table.rows:
            continue
        time, best = table.time(before + (who,)), table.best(before)[0]
        known = table.rows.get(before + (who,))
        hopeless = known is not None and who != "ours" and who != table.best(before, is_selector)[1] and (
            known["status"] in ("crashed", "timeout", "hopeless") or (time is not None and time > min(slowest, options.hopeless * best)))
        yield case + (who,), option, hopeless


def run_all(table, options):
    program = os.path.join(options.build, "bin/smpi_bench")
    further = [f"--cfg=surf/precision:{options.precision}"] if options.precision else []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        def one(job):
            key, option, hopeless = job
            mode, machine, ranks, kind, size, who = key
            if hopeless:
                return table.add(*key, "hopeless")
            result = simulator.run(program, folder, int(ranks), machine, mode, kind, int(size),
                                   "ours" if who == "ours" else "native", ([option] if option else []) + further, options.timeout)
            if who == "ours" and result.status != "right":
                raise SystemExit(f"{key}: {result.status} {result.method}")
            right = (f"{result.ns:.1f}", result.method, f"{result.predicted:.1f}") if result.status == "right" else ()
            table.add(*key, result.status, *right)
        counts = sorted(options.ranks.split(","), key=int)
        for i, ranks in enumerate(counts):
            for mode in options.modes.split(","):
                for machine in options.machines.split(","):
                    for name in options.cases.split():
                        kind, size = name.split(":")
                        if kind == "allgather" and int(ranks) * int(ranks) * int(size) > options.memory << 20:
                            continue
                        jobs = [job for job in work(table, options, (mode, machine, ranks, kind, size),
                                                     counts[i - 1] if i > 0 else None)
                                if options.only in ("", job[0][5], "ours" if job[0][5] == "ours" else "rivals")]
                        list(pool.map(one, jobs))


def print_table(table, options):
    counts, machines = sorted(options.ranks.split(","), key=int), options.machines.split(",")
    for mode in options.modes.split(","):
        print(f"\n{mode}: ours / best selector, ours / best of all\n")
        print("| | " + " | ".join(f"{m} {r}" for m in machines for r in counts) + " |")
        print("|" + " --- |" * (1 + len(machines) * len(counts)))
        for name in options.cases.split():
            kind, size = name.split(":")
            cells = []
            for machine in machines:
                for fewer, ranks in zip([None, *counts], counts):
                    case = (mode, machine, ranks, kind, size)
                    ours = table.time(case + ("ours",))
                    selector = table.best(case, is_selector)[0]
                    best = table.best(case)[0]
                    ahead = table.rows.get(case + (table.best((mode, machine, fewer, kind, size))[1],))  # the fastest before
                    known = fewer is None or (ahead is not None and ahead["status"] != "timeout")
                    cells.append("" if None in (ours, selector, best)
                                 else f"{ours / selector:.2f} / {ours / best:.2f}".replace("0.", ".") if known
                                 else f"{ours / selector:.2f} / ?".replace("0.", "."))
            print(f"| {kind}{simulator.size_name(size)} | " + " | ".join(cells) + " |")
    print("\nWhere ours is more than 1.005 times the best:")
    for mode in options.modes.split(","):
        for name in options.cases.split():
            for machine in machines:
                for ranks in counts:
                    case = (mode, machine, ranks, *name.split(":"))
                    ours, (best, who) = table.time(case + ("ours",)), table.best(case)
                    if ours is not None and best is not None and ours > 1.005 * best:
                        row = table.rows[case + ("ours",)]
                        print(f"  {' '.join(case)}: {ours / best:.3f} ({row['method']}, predicted {row['predicted_ns']}, "
                              f"took {ours:.0f}; {who} {best:.0f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--csv", default=os.path.join(os.path.dirname(__file__), "../data/smpi.csv"))
    parser.add_argument("--ranks", default="16,64,256")
    parser.add_argument("--machines", default="lan,eth,wan")
    parser.add_argument("--modes", default="shared,strict")
    parser.add_argument("--cases", default=CASES)
    parser.add_argument("--hopeless", type=float, default=2.5)
    parser.add_argument("--many", type=int, default=64)
    parser.add_argument("--fastest", type=int, default=4)
    parser.add_argument("--memory", type=int, default=1200, help="MiB that an all-gather may need in all")
    parser.add_argument("--again", default="", help="forget these rows first: ours, or an algorithm's name")
    parser.add_argument("--only", default="", help="run these only: ours, rivals, or an algorithm's name")
    parser.add_argument("--table", action="store_true", help="run nothing")
    parser.add_argument("--precision", default="", help="in seconds: events this close are one; with many messages coarse is fast")
    parser.add_argument("--timeout", type=int, default=120)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    table = Table(options.csv, COLUMNS, 6, options.again)
    if not options.table:
        run_all(table, options)
    print_table(table, options)


main()
