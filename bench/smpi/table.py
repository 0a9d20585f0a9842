#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The table of docs/results.md, 'Running': Chasqui against the collectives built into SimGrid's SMPI, in simulated time.

  bench/smpi/table.py BUILD_DIR [--ranks 16,64] [--machines lan,eth] [--cases broadcast:8,allreduce:65536] [--algorithms]
                      [--strict] [--sweep broadcast:8]

Each case is a process of its own. --algorithms tries every built-in algorithm, not only the four selectors. --strict:
links of unlimited bandwidth and G paid by the sender (LogGP to the letter). --sweep: P = 2..130, ours only (cliffs).
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import tempfile

MACHINES = {  # L ns, o ns, bytes per second
    "lan": (1000.0, 300.0, 12.5e9),
    "eth": (25000.0, 3000.0, 1.25e9),
    "wan": (5e6, 10000.0, 125e6),
}
SELECTORS = ["ompi", "mpich", "mvapich2", "impi"]
OPTION = {"broadcast": "bcast", "allreduce": "allreduce", "reduce": "reduce", "allgather": "allgather", "barrier": "barrier"}
ALGORITHMS = {  # without those that poll for arrivals: simulated time stands still while they do
    "broadcast": "binomial_tree flattree "
                 "flattree_pipeline NTSB NTSL NTSL_Isend scatter_LR_allgather scatter_rdb_allgather SMP_binary "
                 "SMP_binomial SMP_linear mvapich2_inter_node mvapich2_intra_node mvapich2_knomial_intra_node",
    "allreduce": "lr rab1 rab2 rab_rdb rdb smp_binomial smp_binomial_pipeline smp_rdb smp_rsag smp_rsag_lr smp_rsag_rab "
                 "redbcast ompi_ring_segmented mvapich2_rs mvapich2_two_level rab",
    "reduce": "binomial flat_tree NTSL scatter_gather ompi_chain ompi_pipeline ompi_binary "
              "ompi_in_order_binary ompi_binomial ompi_basic_linear mvapich2_knomial rab",
    "allgather": "2dmesh 3dmesh bruck GB loosely_lr NTSLR NTSLR_NB pair rdb rhv ring SMP_NTS smp_simple spreading_simple "
                 "ompi_neighborexchange",
    "barrier": "ompi_basic_linear ompi_two_procs ompi_tree ompi_bruck ompi_recursivedoubling ompi_doublering mpich_smp mpich",
}


def platform(folder, ranks, machine, strict):
    L, _, bandwidth = MACHINES[machine]
    path = os.path.join(folder, f"{machine}{ranks}{strict}.xml")
    speed = "12500TBps" if strict else f"{bandwidth:.0f}Bps"
    with open(path, "w") as file:
        file.write(f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-{ranks - 1}" speed="1Gf"
 bw="{speed}" lat="{L / 2:.3f}ns" sharing_policy="SPLITDUPLEX"/></platform>
""")
    hosts = path + ".hosts"
    with open(hosts, "w") as file:
        file.writelines(f"n{i}\n" for i in range(ranks))
    return path, hosts


def run(build, folder, ranks, machine, kind, size, who, extra=(), strict=False):
    L, o, bandwidth = MACHINES[machine]
    G = 1e9 / bandwidth
    xml, hosts = platform(folder, ranks, machine, strict)
    seconds = o * 1e-9
    sender = f"0:{seconds}:{G * 1e-9 if strict else 0}"
    small = 2000000000 if strict else 65536
    command = ["smpirun", "-no-privatize", "-np", str(ranks), "-platform", xml, "-hostfile", hosts,
               "--cfg=network/model:CM02", "--cfg=network/latency-factor:1", "--cfg=network/bandwidth-factor:1",
               "--cfg=network/weight-S:0", "--cfg=network/crosstraffic:0", "--cfg=network/TCP-gamma:1e15",
               "--cfg=surf/precision:1e-12", "--cfg=smpi/simulate-computation:no", "--cfg=smpi/wtime:0",
               "--cfg=smpi/test:0", "--cfg=smpi/iprobe:0", "--cfg=smpi/host-speed:1f",
               f"--cfg=smpi/os:{sender}", f"--cfg=smpi/ois:{sender}", f"--cfg=smpi/or:0:{seconds}:0",
               f"--cfg=smpi/async-small-thresh:{small}", f"--cfg=smpi/send-is-detached-thresh:{small}",
               "--cfg=contexts/stack-size:256", "--cfg=contexts/guard-size:0", "--log=root.thresh:critical", *extra,
               os.path.join(build, "bin/smpi_bench"), kind, str(size), who, str(L), str(o), str(G)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60,
                              env={**os.environ, **({} if strict else {"CHASQUI_SHARED": "1"})})
    except subprocess.TimeoutExpired:
        return None
    match = re.search(r"RESULT ([\d.]+) ns (\w+) (\S+) predicted ([\d.]+)", done.stdout)
    if not match or (who == "ours" and match[2] != "right"):
        if who == "ours":
            print(done.stdout, done.stderr)
        return None
    if match[2] != "right":
        return None  # a built-in algorithm that does not serve this case
    return float(match[1]), match[3], float(match[4])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--ranks", default="16,64")
    parser.add_argument("--machines", default="lan,eth,wan")
    parser.add_argument("--cases", default="broadcast:8,reduce:8,allreduce:8,allgather:8,broadcast:1048576,"
                                           "allreduce:65536,allreduce:1048576,reduce:1048576,allgather:65536")
    parser.add_argument("--algorithms", action="store_true")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--sweep", default="")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        def one(*arguments, **named):
            return run(options.build, folder, *arguments, strict=options.strict, **named)
        for machine in options.machines.split(","):
            if options.sweep:
                kind, size = options.sweep.split(":")
                results = list(pool.map(lambda P: one(P, machine, kind, int(size), "ours"), range(2, 131)))
                worst = max(((a[0] / b[0], P) for P, (a, b) in enumerate(zip(results[:-1], results[1:]), 2)), default=None)
                print(f"{machine} {options.sweep} P=2..130: ns {[round(r[0]) for r in results]}")
                print(f"  a larger P is at most {worst[0]:.3f} times faster than its predecessor (at P={worst[1]})", flush=True)
                continue
            for ranks in map(int, options.ranks.split(",")):
                for case in options.cases.split(","):
                    kind, size = case.split(":")
                    ours = one(ranks, machine, kind, int(size), "ours")
                    if ours is None:
                        print(f"{machine} P={ranks} {case}: ours failed", flush=True)
                        continue
                    flags = [("selector " + s, [f"--cfg=smpi/coll-selector:{s}"]) for s in SELECTORS]
                    if options.algorithms:
                        flags += [(a, [f"--cfg=smpi/{OPTION[kind]}:{a}"]) for a in ALGORITHMS[kind].split()]
                    others = list(pool.map(lambda f: one(ranks, machine, kind, int(size), "native", extra=f[1]), flags))
                    times = [(t[0], name) for (name, _), t in zip(flags, others) if t is not None]
                    selectors = min((t for t in times if t[1].startswith("selector")), default=(float("nan"), "-"))
                    best = min(times, default=(float("nan"), "-"))
                    print(f"{machine} P={ranks} {case}: ours {ours[0]:.0f} ns {ours[1]} (predicted {ours[2]:.0f}) "
                          f"ours/selector {ours[0] / selectors[0]:.3f} ({selectors[1]}) "
                          f"ours/best {ours[0] / best[0]:.3f} ({best[1]})", flush=True)


main()
