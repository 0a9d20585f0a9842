#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""torch.distributed.all_reduce by this backend and by gloo, in one run: both groups are of the same processes and are timed in
turn. Prints the median time of a call at the slowest rank, and how many times as fast ours is. Gloo of torch 1 has no bfloat16: its
ranks convert to float and back, as a program would.

    bench/python/torch_allreduce.py --ranks 2 --types float32,bfloat16 --bytes 4096,65536,1048576,16777216
"""
import argparse
import multiprocessing
import os
import statistics
import tempfile
import time

import torch
import torch.distributed as dist

import chasqui.torch


def by_gloo(tensor, group):
    if tensor.dtype != torch.bfloat16 or not torch.__version__.startswith("1."):
        return dist.all_reduce(tensor, group=group)
    wide = tensor.float()
    dist.all_reduce(wide, group=group)
    tensor.copy_(wide)


def by_chasqui(tensor, group):
    dist.all_reduce(tensor, group=group)


def timed(call, tensor, group, calls, meeting):
    dist.barrier(group=meeting)
    begin = time.perf_counter()
    for _ in range(calls):
        call(tensor, group)
    return (time.perf_counter() - begin) / calls


def rank_main(rank, arguments, path):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + path, rank=rank, world_size=arguments.ranks)
    ours, gloo = dist.new_group(backend="chasqui"), dist.group.WORLD
    if arguments.bind:  # gloo's threads have begun, and may run anywhere
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[rank % len(cores)]})
    if rank == 0:
        print("{} ranks{:>10}{:>12}{:>14}{:>14}{:>8}".format(arguments.ranks, "type", "bytes", "chasqui us", "gloo us", "times"))
    for name in arguments.types.split(","):
        kind = getattr(torch, name)
        for size in map(int, arguments.bytes.split(",")):
            tensor = torch.zeros(size // torch.empty(0, dtype=kind).element_size(), dtype=kind)
            calls = max(4, min(arguments.calls, arguments.calls * (64 << 10) // size))
            mine, theirs = [], []
            for round_number in range(arguments.rounds + 1):
                # Both begin with a barrier of ours: ranks leave gloo's up to milliseconds apart, which is no time of what is timed.
                pair = timed(by_chasqui, tensor, ours, calls, ours), timed(by_gloo, tensor, gloo, calls, ours)
                if round_number > 0:  # the first warms up
                    mine.append(pair[0])
                    theirs.append(pair[1])
            slowest = torch.tensor([statistics.median(mine), statistics.median(theirs)], dtype=torch.float64)
            dist.all_reduce(slowest, dist.ReduceOp.MAX)
            a, b = (slowest * 1e6).tolist()
            if rank == 0:
                print("{:>17}{:>12}{:>14.1f}{:>14.1f}{:>8.1f}".format(name, size, a, b, b / a), flush=True)
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--types", default="float32,bfloat16")
    parser.add_argument("--bytes", default="4096,16384,65536,262144,1048576,4194304,16777216")
    parser.add_argument("--calls", type=int, default=200, help="calls in a round; fewer of messages above 64 KiB")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--bind", action="store_true", help="the thread of each rank has a core of its own")
    arguments = parser.parse_args()
    context = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as folder:
        processes = [context.Process(target=rank_main, args=(r, arguments, os.path.join(folder, "store"))) for r in range(arguments.ranks)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
    raise SystemExit(max(abs(process.exitcode) for process in processes))


if __name__ == "__main__":
    main()
