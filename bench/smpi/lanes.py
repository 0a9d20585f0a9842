#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Several ranks of a node that talk side by side, against one leader a node and the two-level algorithms built into SimGrid's SMPI.

  bench/smpi/build.sh BUILD_DIR && bench/smpi/lanes.py BUILD_DIR [--csv bench/data/lanes.csv] [--table]

Hosts have several ranks. Our boards cost what data/example_two_processes.json says of one: 243 ns to publish and read, 42 ns for
each further reading, 0.042 ns a byte when all copy. The rivals' messages inside a host cost their overheads only, the same as between hosts;
--inside 11.87GBps: what it takes to copy a byte in and out as our boards do, --board 470,20,0.04213: a line on a board of 16 processes (give
another csv). "between leaders" is the fastest of all algorithms of bench/data/smpi.csv on as many ranks as there are nodes, one a node: a two-level rival whose nodes cost
nothing. Runs what the csv does not have yet and prints the tables of docs/clusters.md.
"""
import argparse
import csv
import os
import tempfile

import simulator

BOARD = "243,42,0.04213"
KINDS = ["broadcast", "reduce", "allreduce", "barrier"]
OPTION = {"broadcast": "bcast", "allreduce": "allreduce", "reduce": "reduce", "barrier": "barrier"}
TWO_LEVEL = {
    "broadcast": "SMP_binomial SMP_binary SMP_linear mvapich2_inter_node",
    "reduce": "mvapich2_two_level",
    "allreduce": "smp_binomial smp_rdb smp_rsag smp_rsag_rab smp_rsag_lr smp_binomial_pipeline mvapich2_rs mvapich2_two_level",
    "barrier": "mpich_smp",
}
SELECTORS = ["mvapich2", "impi"]
# Our program asks once who is where, by an all-gather. That of the simulator sends P * P messages and looks at all of them whenever
# one ends: 256 ranks took it 12 s, 1024 more than 25 minutes.
START = ("--cfg=smpi/allgather:bruck",)
COLUMNS = ["machine", "nodes", "ranks_a_node", "kind", "bytes", "who", "status", "ns", "method", "predicted_ns"]


class Table(simulator.Table):
    def best(self, case):
        return min((t for key in self.rows if key[:5] == case and key[5] not in ("leaders", "lanes", "ours")
                    and (t := self.time(key)) is not None), default=None)


def cases_of(options, nodes, on_host):
    for size in options.sizes.split(","):
        for kind in options.kinds.split(","):
            if kind == "barrier" and size != options.sizes.split(",")[0]:
                continue
            if nodes * on_host <= options.most and int(size) * nodes * on_host <= options.memory << 20:
                yield kind, "0" if kind == "barrier" else size


def run_all(table, options):
    program = os.path.join(options.build, "bin/smpi_bench")
    with tempfile.TemporaryDirectory() as folder:
        def output(machine, nodes, on_host, cases, who, more=()):
            ranks = nodes * on_host if options.last is None else (nodes - 1) * on_host + options.last
            return simulator.output_of(program, folder, ranks, machine, "shared", cases, who, (str(on_host), *options.board.split(",")),
                                       (*START, *more), options.timeout, on_host=on_host)
        for nodes in map(int, options.nodes.split(",")):
            for on_host in map(int, options.ranks.split(",")):
                for machine in options.machines.split(","):
                    where = (machine, str(nodes), str(on_host))
                    todo = [case for case in cases_of(options, nodes, on_host) if where + case + ("ours",) not in table.rows]
                    if todo:
                        out, err = output(machine, nodes, on_host, todo, options.side)
                        for who, kind, size, ns, status, method, predicted in simulator.LINE.findall(out or ""):
                            table.add(*where, kind, size, who, status, ns, method, predicted)
                        print(*where, len(simulator.LINE.findall(out or "")), (err or "")[-200:] if not out else "", flush=True)
                    for kind, size in cases_of(options, nodes, on_host) if options.rivals else ():
                        if int(size) > options.rivals_to:
                            continue
                        rivals = [("selector " + name, f"--cfg=smpi/coll-selector:{name}") for name in SELECTORS]
                        rivals += [(name, f"--cfg=smpi/{OPTION[kind]}:{name}") for name in TWO_LEVEL[kind].split()]
                        for who, option in rivals:
                            key = where + (kind, size, who)
                            if key in table.rows:
                                continue
                            out, _ = output(machine, nodes, on_host, [(kind, size)], "native", (option,))
                            found = simulator.LINE.search(out or "")
                            table.add(*key, *((found[5], found[4]) if found else ("timeout" if out is None else "crashed",)))


def flat_best(path):
    best = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if row["mode"] == "shared" and row["status"] == "right" and row["who"] != "ours":
                case = (row["machine"], row["ranks"], row["kind"], row["bytes"])
                best[case] = min(best.get(case, float("inf")), float(row["ns"]))
    return best


def print_tables(table, options):
    between = flat_best(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data/smpi.csv"))
    shapes = [(m, str(N), str(n)) for m in options.machines.split(",") for n in map(int, options.ranks.split(",")) for N in map(int, options.nodes.split(","))]
    print("ours / leaders, ours / best two-level rival, ours / the fastest between leaders\n")
    print("| | " + " | ".join(f"{m} {N} x {n}" for m, N, n in shapes) + " |")
    print("|" + " --- |" * (1 + len(shapes)))
    ratio = lambda a, b: "-" if a is None or b is None else f"{a / b:.2f}".lstrip("0")
    cases = [(k, "0" if k == "barrier" else s) for s in options.sizes.split(",") for k in options.kinds.split(",") if k != "barrier" or s == options.sizes.split(",")[0]]
    worst = 0
    for kind, size in cases:
        cells = []
        for where in shapes:
            ours = table.time(where + (kind, size, "ours"))
            leaders = table.time(where + (kind, size, "leaders"))
            cells.append(f"{ratio(ours, leaders)}, {ratio(ours, table.best(where + (kind, size)))}, "
                         f"{ratio(ours, between.get((where[0], where[1], kind, size)))}")
            row = table.rows.get(where + (kind, size, "ours"))
            if row is not None and ours is not None:
                worst = max(worst, abs(ours / float(row["predicted_ns"]) - 1)) if int(size) <= 8 else worst
        print(f"| {kind}{simulator.size_name(size)} | " + " | ".join(cells) + " |")
    print(f"\nprediction of 8 bytes off by at most {100 * worst:.1f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--csv", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data/lanes.csv"))
    parser.add_argument("--nodes", default="16,64,256")
    parser.add_argument("--ranks", default="4,16")
    parser.add_argument("--last", type=int, help="ranks of the last node, if it has fewer than the others (give another csv)")
    parser.add_argument("--machines", default="lan,eth")
    parser.add_argument("--sizes", default="8,4096,65536,1048576")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--inside", default=simulator.inside, help="bandwidth of messages between ranks of one host")
    parser.add_argument("--board", default=BOARD, help="ns to publish and read a line, for each further reading, and a byte")
    parser.add_argument("--memory", type=int, default=256, help="MiB that the contributions of all ranks may take")
    parser.add_argument("--most", type=int, default=4096, help="ranks")
    parser.add_argument("--rivals", type=int, default=1, help="0: ours only")
    parser.add_argument("--rivals-to", type=int, default=1 << 20, help="bytes up to which rivals are run")
    parser.add_argument("--side", default="ours", help="taken: leaders and what is chosen, and not the best of lanes")
    parser.add_argument("--table", action="store_true", help="run nothing")
    parser.add_argument("--timeout", type=int, default=600)
    options = parser.parse_args()
    simulator.inside = options.inside
    table = Table(options.csv, COLUMNS, 6)
    if not options.table:
        run_all(table, options)
    print_tables(table, options)


main()
