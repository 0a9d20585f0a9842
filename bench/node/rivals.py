#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The fair comparison on one node: plain MPI calls (node_bench) as each MPI library does them, with its own defaults and with
every setting below, against the same calls under the drop-in library. A cell is native / ours with the library's best setting
for that cell: below 1 Chasqui loses. Of several runs and rivals the tables have the mean of the runs of the rival that is best in a cell;
--each has every rival, with the least and the most of its runs.

  MPICXX=mpicxx bench/node/build.sh OUT                                          # for each MPI library
  bench/node/rivals.py --rival 'openmpi4=OUT=mpirun --bind-to core -np {ranks}' [--rival mpich=…] [--csv file]
  bench/node/rivals.py --read file [--each]                                      # the tables of raw data
"""
import argparse
import csv
import datetime
import os
import statistics
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


def version_here():
    """What is measured, as far as this folder knows."""
    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run(["git", "-C", here, "describe", "--always", "--dirty"], capture_output=True, text=True)
    return done.stdout.strip()


def run(rival, folder, launch, setting, options, ranks):
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
            os.path.join(folder, options.program), "--modes", options.modes, "--seconds", options.seconds, "--sizes", options.sizes,
            "--csv", table]
        for name in ["kinds", "root"]:
            command += [f"--{name}", getattr(options, name)] if getattr(options, name) else []
        # The launcher reads settings of Open MPI too.
        done = subprocess.run(command, env={**os.environ, **settings_of(rival)[setting]}, capture_output=True, text=True,
                              timeout=options.patience)
        if done.returncode != 0:
            print(f"{rival}, {setting}: {done.stderr.strip()[-300:]}", file=sys.stderr)
        if not os.path.exists(table):
            return []
        with open(table, newline="") as rows:
            return [row for row in csv.DictReader(rows) if row["ratio"]]


def put(found, rival, run, setting, row):
    cells = found.setdefault((rival, row["mode"], int(row["ranks"])), {})
    cells.setdefault((row["collective"], int(row["bytes"])), {}).setdefault(int(run), {})[setting] = float(row["ratio"])


def of_file(file):
    """What show() takes, from raw data."""
    found = {}
    with open(file, newline="") as rows:
        for row in csv.DictReader(rows):
            put(found, row["rival"], row["run"], row["setting"], row)
    return found


def name_of(collective):
    return {"allreduce": "all-reduce", "allgather": "all-gather", "alltoall": "all-to-all"}.get(collective, collective)


def size_name(size):
    size = int(size)
    return f"{size} B" if size < 1024 else f"{size >> 10} KiB" if size < 1 << 20 else f"{size >> 20} MiB"


def best_of(runs):
    """Of each run the ratio with the setting that is worst for us, sorted."""
    return sorted(min(settings.values()) for settings in runs.values())


def print_table(cells, text_of):
    """cells[collective, bytes] = value; the size of a barrier is 0."""
    sizes = sorted({size for _, size in cells} - {0})
    print("| | " + " | ".join(size_name(size) for size in sizes) + " |\n| --- |" + " --- |" * len(sizes))
    for collective in dict.fromkeys(name for name, _ in cells):
        line = [text_of(cells[collective, size]) if (collective, size) in cells else ""
                for size in (sizes if (collective, 0) not in cells else [0])]
        print(f"| {name_of(collective)} | " + " | ".join(line + [""] * (len(sizes) - len(line))) + " |")


def short(ratio):
    return f"**{ratio:.2f}**" if ratio < 1 else f"{ratio:.2f}" if ratio < 2 else f"{ratio:.1f}"


def means(cells):
    return {cell: statistics.mean(best_of(runs)) for cell, runs in cells.items()}


def together(found, mode, ranks):
    """Of each cell the rival that is best there, by the mean of its runs; sizes that all rivals have."""
    rivals = [means(cells) for (_, its_mode, its_ranks), cells in found.items() if (its_mode, its_ranks) == (mode, ranks)]
    shared = [cell for cell in rivals[0] if all(cell in cells for cells in rivals)]
    print(f"\nall rivals, {mode}, {ranks} ranks\n")
    print_table({cell: min(cells[cell] for cells in rivals) for cell in shared}, short)


def summary(found):
    """Of each rival and mode what is lost."""
    print("\n| rival | mode | ranks | runs | cells below 1 | median | the three least |\n| --- | --- | --- | --- | --- | --- | --- |")
    for (rival, mode, ranks), cells in found.items():
        mean = means(cells)
        runs = {number for each in cells.values() for number in each}
        least = sorted(mean, key=mean.get)[:3]
        named = ", ".join(f"{name_of(kind)}{' ' + size_name(size) if size else ''} {mean[kind, size]:.2f}" for kind, size in least)
        print(f"| {rival} | {mode} | {ranks} | {len(runs)} | {sum(ratio < 1 for ratio in mean.values())} of {len(mean)} | "
              f"{statistics.median(mean.values()):.2f} | {named} |")


def each_rival(found):
    """The least and the most of its runs."""
    for (rival, mode, ranks), cells in found.items():
        def text_of(runs):
            best = best_of(runs)
            text = f"{best[0]:.2f}" if best[0] == best[-1] else f"{best[0]:.2f}–{best[-1]:.2f}"
            return f"**{text}**" if statistics.mean(best) < 1 else text
        print(f"\n{rival}, {mode}, {ranks} ranks\n")
        print_table(cells, text_of)


def show(found, options):
    """found[rival, mode, ranks][collective, bytes][run] = {setting: native / ours}"""
    for mode, ranks in dict.fromkeys((mode, ranks) for _, mode, ranks in found):
        together(found, mode, ranks)
    summary(found)
    if options.each:
        each_rival(found)
    return 0 if found else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rival", action="append", default=[], help="NAME=FOLDER OF node_bench=LAUNCHER WITH {ranks}")
    parser.add_argument("--modes", default="sync,skew,burst,cold", help="of node_bench; skew=100: ranks come up to 100 us apart")
    parser.add_argument("--ranks", default="16", help="2,3,5,8,12,16")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--sizes", default="8,64,1024,4096,16384,65536,262144,1048576,4194304")
    parser.add_argument("--kinds", default="")
    parser.add_argument("--seconds", default="0.1", help="for each row of each run")
    parser.add_argument("--only", default="", help="settings, separated by commas")
    parser.add_argument("--root", help="of every call; else another in every call")
    parser.add_argument("--version", default=version_here(), help="of Chasqui, for --csv")
    parser.add_argument("--delivered", action="store_true", help="the drop-in library compares for itself; else it serves every call")
    parser.add_argument("--program", default="node_bench")
    parser.add_argument("--library", default="libchasqui-mpi.so")
    parser.add_argument("--preload", default="", help="a library that is preloaded too")
    parser.add_argument("--patience", type=float, default=600, help="seconds for each run")
    parser.add_argument("--csv", help="every row of every run")
    parser.add_argument("--read", help="runs nothing: the tables of what --csv wrote")
    parser.add_argument("--each", action="store_true", help="a table for each rival and mode, too: the least and the most of its runs")
    options = parser.parse_args()
    if options.read:
        return show(of_file(options.read), options)
    if not options.rival:
        parser.error("--rival or --read is needed")
    found, writer = {}, None
    out = open(options.csv, "w", newline="") if options.csv else None
    column = "as delivered" if options.delivered else "drop-in"
    today = datetime.date.today().isoformat()
    for number in range(1, options.runs + 1):
        for ranks in options.ranks.split(","):
            for rival, folder, launch in (each.split("=", 2) for each in options.rival):
                for setting in settings_of(rival):
                    if options.only and setting not in options.only.split(","):
                        continue
                    for row in run(rival, folder, launch, setting, options, ranks):
                        put(found, rival, number, setting, row)
                        whole = {"run": number, "date": today, "version": options.version, "rival": rival, "setting": setting, "served": column,
                                 **row}
                        if out:
                            if writer is None:
                                writer = csv.DictWriter(out, whole.keys())
                                writer.writeheader()
                            writer.writerow(whole)
                            out.flush()
    return show(found, options)


if __name__ == "__main__":
    sys.exit(main())
