#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The fair comparison on one node: plain MPI calls (node_bench) as each MPI library does them, with its own defaults and with
every setting below, against the same calls under the drop-in library. A cell is native / ours with the library's best setting
for that cell: below 1 Chasqui loses. Of several runs the least and the most are printed, and what was lost in the mean is counted.

  MPICXX=mpicxx bench/node/build.sh OUT                                          # for each MPI library
  bench/node/rivals.py --rival 'openmpi4=OUT=mpirun --bind-to core -np {ranks}' [--rival mpich=…] [--csv file]
  bench/node/rivals.py --read file [--take openmpi4=8,9]                         # the tables of raw data, of some runs of a rival
"""
import argparse
import csv
import os
import subprocess
import sys
import tempfile

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


def settings_of(rival):
    for begin in ("openmpi4", "openmpi", "mpich"):
        if rival.startswith(begin):
            return SETTINGS[begin]
    sys.exit(f"{rival}: a rival's name begins with openmpi4, openmpi or mpich")


def run(rival, folder, launch, setting, options, mode, ranks):
    """The rows of one run of node_bench; none where the library cannot do it."""
    with tempfile.TemporaryDirectory() as scratch:
        table = os.path.join(scratch, "rows.csv")
        variables = [f"{name}={value}" for name, value in settings_of(rival)[setting].items()]
        if not options.delivered:
            variables.append("CHASQUI_TRIALS=0")
        preload = [f"LD_PRELOAD={os.path.abspath(folder)}/{options.library}"]
        for already in filter(None, [options.preload]):
            preload = [f"{preload[0]}:{already}"]
        command = launch.format(ranks=ranks).split() + ["env"] + variables + preload + [
            os.path.join(folder, options.program), "--modes", mode, "--seconds", options.seconds, "--sizes", options.sizes, "--csv", table]
        command += ["--kinds", options.kinds] if options.kinds else []
        # The launcher reads settings of Open MPI too.
        done = subprocess.run(command, env={**os.environ, **settings_of(rival)[setting]}, capture_output=True, text=True,
                              timeout=options.patience)
        if done.returncode != 0:
            print(f"{rival}, {setting}, {mode}: {done.stderr.strip()[-300:]}", file=sys.stderr)
        if not os.path.exists(table):
            return []
        with open(table, newline="") as rows:
            return [row for row in csv.DictReader(rows) if row["ratio"]]


def of_file(file, take):
    """What tables() takes, from raw data: of a rival that `take` names its runs only."""
    found = {}
    with open(file, newline="") as rows:
        for row in csv.DictReader(rows):
            if row["run"] in take.get(row["rival"], [row["run"]]):
                cells = found.setdefault((row["rival"], row["mode"], int(row["ranks"])), {})
                cell = cells.setdefault((row["collective"], int(row["bytes"])), {})
                cell.setdefault(int(row["run"]), {})[row["setting"]] = float(row["ratio"])
    return found


def name_of(collective):
    return {"allreduce": "all-reduce", "allgather": "all-gather", "alltoall": "all-to-all"}.get(collective, collective)


def size_name(size):
    size = int(size)
    return f"{size} B" if size < 1024 else f"{size >> 10} KiB" if size < 1 << 20 else f"{size >> 20} MiB"


def tables(found, column):
    """found[rival, mode, ranks][collective, bytes][run] = {setting: ratio}"""
    for (rival, mode, ranks), cells in found.items():
        sizes = sorted({size for _, size in cells if size > 0})
        print(f"\n{rival}, {mode}, {ranks} ranks ({column}): native / ours, its best setting for each cell\n")
        print("| | " + " | ".join(size_name(size) for size in sizes) + " |\n| --- |" + " --- |" * len(sizes))
        lost, every = [], []
        for collective in dict.fromkeys(name for name, _ in cells):
            line = []
            for size in sizes if (collective, 0) not in cells else [0]:
                best = sorted(min(each.values()) for each in cells.get((collective, size), {}).values())
                if not best:
                    line.append("")
                    continue
                every.append(sum(best) / len(best))
                text = f"{best[0]:.2f}" if best[0] == best[-1] else f"{best[0]:.2f}–{best[-1]:.2f}"
                line.append(f"**{text}**" if every[-1] < 1 else text)
                if every[-1] < 1:
                    lost.append(f"{name_of(collective)} {size_name(size)}" if size else collective)
            print(f"| {name_of(collective)} | " + " | ".join(line + [""] * (len(sizes) - len(line))) + " |")
        every.sort()
        print(f"\nlost {len(lost)} of {len(every)} cells, median {every[len(every) // 2]:.2f}" + (": " + ", ".join(lost) if lost else ""))


def together(found, mode, ranks):
    """Of each cell the rival that is best there, by the mean of its runs; sizes that all rivals have."""
    rivals = [cells for (_, its_mode, its_ranks), cells in found.items() if (its_mode, its_ranks) == (mode, ranks)]
    if len(rivals) < 2:
        return
    mean = lambda runs: sum(min(settings.values()) for settings in runs.values()) / len(runs)
    least = {cell: min(mean(cells[cell]) for cells in rivals) for cell in rivals[0] if all(cell in cells for cells in rivals)}
    collectives = list(dict.fromkeys(collective for collective, _ in least))
    sizes = sorted({size for _, size in least if all((each, size) in least or (each, 0) in least for each in collectives)} - {0})
    print(f"\nall rivals, {mode}, {ranks} ranks: the least of all, in the mean of the runs of each\n")
    print("| | " + " | ".join(size_name(size) for size in sizes) + " |\n| --- |" + " --- |" * len(sizes))
    for collective in collectives:
        values = [least[collective, size] for size in ([0] if (collective, 0) in least else sizes)]
        line = [f"**{value:.2f}**" if value < 1 else f"{value:.1f}" for value in values]
        print(f"| {name_of(collective)} | " + " | ".join(line + [""] * (len(sizes) - len(line))) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rival", action="append", default=[], help="NAME=FOLDER OF node_bench=LAUNCHER WITH {ranks}")
    parser.add_argument("--modes", default="sync,skew,burst,cold")
    parser.add_argument("--ranks", default="16", help="2,3,5,8,12,16")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--sizes", default="8,64,1024,4096,16384,65536,262144,1048576,4194304")
    parser.add_argument("--kinds", default="")
    parser.add_argument("--seconds", default="0.1", help="for each row of each run")
    parser.add_argument("--only", default="", help="settings, separated by commas")
    parser.add_argument("--delivered", action="store_true", help="the drop-in library compares for itself; else it serves every call")
    parser.add_argument("--program", default="node_bench")
    parser.add_argument("--library", default="libchasqui-mpi.so")
    parser.add_argument("--preload", default="", help="a library that is preloaded too")
    parser.add_argument("--patience", type=float, default=600, help="seconds for each run")
    parser.add_argument("--csv", help="every row of every run")
    parser.add_argument("--read", help="runs nothing: the tables of what --csv wrote")
    parser.add_argument("--take", action="append", default=[], help="RIVAL=RUNS of --read, separated by commas; else all runs")
    options = parser.parse_args()
    if options.read:
        found = of_file(options.read, {rival: runs.split(",") for rival, runs in (each.split("=") for each in options.take)})
        tables(found, "as delivered")
        together(found, "sync", 16)
        return 0 if found else 1
    if not options.rival:
        parser.error("--rival or --read is needed")
    found, rows_written = {}, 0
    out = open(options.csv, "w", newline="") if options.csv else None
    column = "as delivered" if options.delivered else "drop-in"
    for number in range(1, options.runs + 1):
        for mode in options.modes.split(","):
            for ranks in options.ranks.split(","):
                for rival, folder, launch in (each.split("=", 2) for each in options.rival):
                    for setting in settings_of(rival):
                        if options.only and setting not in options.only.split(","):
                            continue
                        for row in run(rival, folder, launch, setting, options, mode, ranks):
                            cells = found.setdefault((rival, mode, ranks), {})
                            cell = cells.setdefault((row["collective"], int(row["bytes"])), {})
                            cell.setdefault(number, {})[setting] = float(row["ratio"])
                            whole = {"run": number, "rival": rival, "setting": setting, "served": column, **row}
                            if out:
                                writer = csv.DictWriter(out, whole.keys())
                                if rows_written == 0:
                                    writer.writeheader()
                                writer.writerow(whole)
                                out.flush()
                                rows_written += 1
    tables(found, column)
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
