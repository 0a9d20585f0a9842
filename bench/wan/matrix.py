#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Chasqui against Open MPI's and MPICH's defaults and every algorithm that can be forced, over a slow network.

  bench/wan/build.sh BUILD_DIR
  bench/wan/matrix.py BUILD_DIR [--csv bench/data/wan.csv]
  bench/wan/matrix.py BUILD_DIR --libraries openmpi,han,mpich --hosts 4x4,8x2 --delays 50,200,1000 --more '--sizes 8,4096 --forced 0'
      --csv FILE

Runs what the csv does not have yet, by bench/wan/launch (as root); prints for each case default / ours and best forced / ours
(above 1: ours is faster). Where the default is not twice as slow as ours, default / bound follows in brackets: no algorithm is
faster than one message.

--hosts 4x4: 4 hosts of 4 ranks each. Library han: Open MPI with its component for such hosts first. Tables of these: default / ours
and han / ours, each of one launch; one leader / lanes, in brackets as predicted; ours / the fastest of ours that were timed (1: the
right one was chosen).

--launch 'LAUNCHER {library} {hosts} {ranks} {delay_us} {program}': a launcher of your own, which runs {program} {ranks} times on each
of {hosts} hosts whose messages take {delay_us} microseconds one way, and prints what rank 0 prints. All hosts must read one
CLOCK_MONOTONIC, and have names of their own by which the library is given them: it takes those with one name, or all that are given
by address, for one host or for none.
"""
import argparse
import concurrent.futures
import csv
import os
import shlex
import subprocess

COLUMNS = ["library", "hosts", "delay_us", "kind", "bytes", "who", "rounds", "q1_us", "median_us", "q3_us", "predicted_us"]


def load(path):
    if not os.path.exists(path):
        return []
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def shape(hosts):
    """(hosts, ranks of each): "8" or "4x4"."""
    count, _, ranks = hosts.partition("x")
    return int(count), int(ranks or 1)


def command_of(options, library, hosts, delay):
    """For a shell."""
    count, ranks = shape(hosts)
    built = "openmpi" if library == "han" else library
    program = os.path.abspath(os.path.join(options.build, f"bin/wan_bench.{built}"))
    run = f"{shlex.quote(program)} --rounds {options.rounds} {options.more}"
    if options.launch:
        return options.launch.format(library=library, hosts=count, ranks=ranks, delay_us=delay, program=run)
    launch = os.path.join(os.path.dirname(os.path.abspath(__file__)), "launch")
    shared = "--shared" if options.at_once > 1 else ""
    return f"exec {shlex.quote(launch)} --seconds {options.timeout} {shared} {library} {count} {ranks} {delay} {run}"


def output_of(command, seconds):
    """(standard output, standard error), of what was said in time."""
    try:
        done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=seconds)
        return done.stdout, done.stderr
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").decode(), (late.stderr or b"").decode()


def measure(options, library, hosts, delay):
    text, errors = output_of(command_of(options, library, hosts, delay), options.timeout + 20)
    rows = []
    for line in [*text.splitlines(), *errors.splitlines()]:
        if line.startswith(("PROFILE", "NODES", "wan_switch:")):
            print(f"{library} {hosts} hosts {delay} us: {line}", flush=True)
        if line.startswith("ROW,"):
            rows.append(dict(zip(COLUMNS, [library, str(hosts), str(delay), *line.split(",")[1:]])))
    if "DONE" not in text:
        print(f"{library} {hosts} hosts {delay} us: not finished\n{text[-500:]}{errors[-1000:]}", flush=True)
    return rows


def save(path, rows):
    with open(path + ".new", "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    os.replace(path + ".new", path)


def size_name(size):
    return "" if size == "0" else f" {size} B" if int(size) < 1024 else f" {int(size) >> 10} KiB"


def cell(times):
    ours = [time for who, time in times.items() if who.startswith("ours")]
    forced = [time for who, time in times.items() if not who.startswith("ours") and who not in ("default", "bound")]
    if not ours or not forced or "default" not in times:
        return ""
    text = f"{times['default'] / ours[0]:.2f}, {min(forced) / ours[0]:.2f}"
    if times["default"] < 2 * ours[0] and times.get("bound", 0) > 0:  # a busy machine may know no least time
        text += f" ({times['default'] / times['bound']:.2f})"
    return text


def delay_name(delay):
    return f"{delay // 1000} ms" if delay % 1000 == 0 else f"{delay} us"


def median(measured, who):
    """Of the row whose name begins so, or nothing: it was not timed, or always began late."""
    for row in measured:
        if row["who"].startswith(who) and row["rounds"] != "0":
            return float(row["median_us"])
    return None


def ratio(above, below):
    return f"{above / below:.2f}" if above and below else "-"


def against_library(measured, han):
    cells = [ratio(median(measured, "default"), median(measured, "ours"))]
    if han:
        cells.append(ratio(median(han, "default"), median(han, "ours")))
    return ", ".join(cells)


def among_ours(measured):
    """One leader / lanes, as measured and as predicted; the chosen one / the fastest."""
    ours = [row for row in measured if row["who"].startswith(("ours", "also"))]
    leader = [row for row in ours if row["who"].endswith(" two-level(1)")]
    lanes = [row for row in ours if " two-level(" in row["who"] and row not in leader]
    text = "-"
    if leader and lanes:
        text = ratio(median(leader, ""), median(lanes, ""))
        text += f" ({ratio(float(leader[0]['predicted_us']), float(lanes[0]['predicted_us']))})"
    timed = [float(row["median_us"]) for row in ours if row["rounds"] != "0"]
    return f"{text}, {ratio(median(measured, 'ours'), min(timed, default=None))}"


def print_grid(title, columns, cases, cell_of):
    print(f"\n{title}\n")
    names = [f"{hosts.replace('x', ' x ')}, {delay_name(delay)}" if "x" in hosts else f"{hosts} hosts {delay_name(delay)}"
             for _, hosts, delay in columns]
    print("| | " + " | ".join(names) + " |")
    print("|" + " --- |" * (len(columns) + 1))
    for (kind, size), results in cases.items():
        print(f"| {kind}{size_name(size)} | " + " | ".join(cell_of(results, column) for column in columns) + " |")


def plain_cell(results, column):
    measured = results.get(column, [])
    text = cell({row["who"]: float(row["median_us"]) for row in measured if row["rounds"] != "0"})
    late = any(row["rounds"] == "0" for row in measured)  # on a busy machine: in every round somebody began late
    return text or ("late" if late else "")


def print_table(rows):
    cases, columns = {}, []
    for row in rows:
        column = (row["library"], row["hosts"], int(row["delay_us"]))
        if column not in columns:
            columns.append(column)
        cases.setdefault((row["kind"], row["bytes"]), {}).setdefault(column, []).append(row)
    columns.sort(key=lambda column: (column[0], shape(column[1]), column[2]))
    for library in sorted({column[0] for column in columns} - {"han"}):
        plain = [column for column in columns if column[0] == library and "x" not in column[1]]
        several = [column for column in columns if column[0] == library and "x" in column[1]]
        if plain:
            print_grid(f"{library}: default / ours, best forced / ours", plain, cases, plain_cell)
        if several:
            with_han = library == "openmpi" and any(column[0] == "han" for column in columns)
            print_grid(f"{library}: default / ours" + (", han / ours" if with_han else ""), several, cases,
                       lambda results, column: against_library(results.get(column, []), results.get(("han", *column[1:])) if with_han else None))
            print_grid(f"{library}: one leader / lanes (predicted), ours / fastest of ours", several, cases,
                       lambda results, column: among_ours(results.get(column, [])))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--launch", default="", help="a launcher in place of bench/wan/launch")
    parser.add_argument("--table", action="store_true", help="nothing runs, only the table is printed")
    parser.add_argument("--csv", default=os.path.join(os.path.dirname(__file__), "../data/wan.csv"))
    parser.add_argument("--libraries", default="openmpi,mpich")
    parser.add_argument("--hosts", default="8,16,32")
    parser.add_argument("--delays", default="1000,5000,20000")
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--at-once", type=int, default=1, help="networks that run at the same time")
    parser.add_argument("--more", default="", help="further options of wan_bench")
    parser.add_argument("--again", action="store_true", help="measure what the csv has, too")
    parser.add_argument("--timeout", type=int, default=600, help="seconds of a launch")
    options = parser.parse_args()
    rows = load(options.csv)
    known = {(row["library"], row["hosts"], row["delay_us"]) for row in rows}
    wanted = [(library, hosts, delay) for hosts in options.hosts.split(",") for delay in options.delays.split(",")
              for library in options.libraries.split(",")]
    wanted = [network for network in wanted if not options.table and (options.again or network not in known)]
    with concurrent.futures.ThreadPoolExecutor(options.at_once) as pool:
        for network, fresh in zip(wanted, pool.map(lambda network: measure(options, *network), wanted)):
            measured = {(row["kind"], row["bytes"]) for row in fresh}
            rows = [row for row in rows if (row["library"], row["hosts"], row["delay_us"]) != network or
                    (row["kind"], row["bytes"]) not in measured] + fresh
            save(options.csv, rows)
    print_table(rows)


main()
