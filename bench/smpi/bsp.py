#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/smpi/bsp.py BUILD_DIR [RANKS,RANKS,...]: supersteps over MPI in SimGrid's simulated time, results checked.

A superstep of P ranks takes ceil(log2 P) messages a rank besides the data: its time grows with log P, as that of a barrier.
"""
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import simulator  # noqa: E402

build = sys.argv[1]
ranks = [int(one) for one in (sys.argv[2] if len(sys.argv) > 2 else "16,64,256,1024").split(",")]
print("| ranks | `sync()`, nothing to send | a message to the next rank | 16 messages to ranks here and there | MPI_Barrier | MPI_Alltoall of counts |")
print("| --- | --- | --- | --- | --- | --- |")
failed = False
with tempfile.TemporaryDirectory() as folder:
    for P in ranks:
        look = "1e-7" if P <= 256 else "1e-6"  # seconds until who waits looks again; more looks take the simulator too long
        out, err = simulator.output_of(os.path.join(build, "bin", "bsp_bench"), folder, P, "lan", "shared", [("bsp", 0)], "ours",
                                       (), (f"--cfg=smpi/iprobe:{look}", "--cfg=smpi/grow-injected-times:no"), timeout=1800)
        found = re.search(r"RESULT \d+ right idle (\d+) next (\d+) scattered (\d+) barrier (\d+) alltoall (\d+)", out or "")
        if found is None:
            print(f"{P} ranks: {(out or '') + (err or 'out of time')}", file=sys.stderr)
            failed = True
            continue
        print(f"| {P} | " + " | ".join(f"{int(ns) / 1000:.1f} µs" for ns in found.groups()) + " |", flush=True)
sys.exit(failed)
