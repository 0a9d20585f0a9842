#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/smpi/bsp.py BUILD_DIR [RANKS,RANKS,... [RANKS_A_NODE,...]]: supersteps over MPI in SimGrid's simulated time, results checked.

A superstep of P ranks takes ceil(log2 P) messages a rank besides the data: its time grows with log P, as that of a barrier. With several
ranks a node: the same without boards, and on boards. The simulator takes boards for free, so what data/example_two_processes.json says of one
is added, as in lanes.py: 243 ns and 42 ns for each further reading, for each time that the ranks of a node show each other something.
"""
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import simulator  # noqa: E402

build = sys.argv[1]
ranks = [int(one) for one in (sys.argv[2] if len(sys.argv) > 2 else "16,64,256,1024").split(",")]
on_nodes = [int(one) for one in sys.argv[3].split(",")] if len(sys.argv) > 3 else []
failed = False


def rounds(count, radix):
    known, number = 1, 0
    while known < count:
        known, number = known * radix, number + 1
    return number


def board_ns(nodes, each):
    """Of equal nodes, as choose_lanes() has them."""
    fewest = rounds(nodes, each + 1)
    steps = 1 if 2 * rounds(nodes, 2) <= 3 * fewest else 1 + fewest
    return steps * (243 + 42 * (each - 1)), steps


def times(folder, P, on_host, node_size):
    """Nanoseconds: idle, next, scattered, barrier, alltoall; or nothing."""
    look = "1e-7" if P <= 256 else "1e-6"  # seconds until who waits looks again; more looks take the simulator too long
    out, err = simulator.output_of(os.path.join(build, "bin", "bsp_bench"), folder, P, "lan", "shared", [("bsp", 0)], "ours",
                                   (str(node_size),), (f"--cfg=smpi/iprobe:{look}", "--cfg=smpi/grow-injected-times:no",
                                                       "--cfg=smpi/allgather:bruck"), timeout=1800, on_host=on_host)
    found = re.search(r"RESULT \d+ right idle (\d+) next (\d+) scattered (\d+) barrier (\d+) alltoall (\d+)", out or "")
    if found is None:
        print(f"{P} ranks: {(out or '') + (err or 'out of time')}", file=sys.stderr)
        global failed
        failed = True
        return None
    return [int(ns) for ns in found.groups()]


with tempfile.TemporaryDirectory() as folder:
    if not on_nodes:
        print("| ranks | `sync()`, nothing to send | a message to the next rank | 16 messages to ranks here and there | MPI_Barrier | MPI_Alltoall of counts |")
        print("| --- | --- | --- | --- | --- | --- |")
        for P in ranks:
            found = times(folder, P, 1, 1)
            if found is not None:
                print(f"| {P} | " + " | ".join(f"{ns / 1000:.1f} µs" for ns in found) + " |", flush=True)
    else:
        print("| nodes x ranks | `sync()`, nothing to send | a message to the next rank | 16 messages to ranks here and there | of it boards |")
        print("| --- | --- | --- | --- | --- |")
        for P in ranks:
            for each in on_nodes:
                before, now = times(folder, P, each, 1), times(folder, P, each, each)
                if before is not None and now is not None:
                    more, steps = board_ns(P // each, each)
                    print(f"| {P // each} x {each} | " + " | ".join(f"{a / 1000:.1f} -> {(b + more) / 1000:.1f} µs" for a, b in zip(before[:3], now))
                          + f" | {steps}, {more / 1000:.1f} µs |", flush=True)
sys.exit(failed)
