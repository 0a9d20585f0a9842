#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The sum of one NumPy array of each process, at every process: by this package, in place, and by what Python brings: arrays sent
through pipes of multiprocessing to the first process, which adds them and sends the sum back; and arrays in multiprocessing's
shared memory with its barrier, where every process adds a part of them. In one run, timed in turn.

    bench/python/numpy_allreduce.py --ranks 2 --bytes 4096,65536,1048576,16777216
"""
import argparse
import multiprocessing
import os
import statistics
import time
from multiprocessing import shared_memory

import numpy as np

import chasqui


class ByPipes:
    def __init__(self, rank, ranks, pipes):
        self.rank = rank
        self.pipes = [a for a, _ in pipes] if rank == 0 else [pipes[rank - 1][1]]

    def __call__(self, array):
        if self.rank == 0:
            for pipe in self.pipes:
                array += pipe.recv()
            for pipe in self.pipes:
                pipe.send(array)
        else:
            self.pipes[0].send(array)
            array[:] = self.pipes[0].recv()


class BySharedMemory:
    def __init__(self, rank, ranks, memory, barrier):
        self.rank, self.ranks, self.memory, self.barrier = rank, ranks, memory, barrier

    def __call__(self, array):
        rows = np.ndarray((self.ranks + 1, array.size), array.dtype, self.memory.buf)
        rows[self.rank] = array
        self.barrier.wait()
        own = slice(array.size * self.rank // self.ranks, array.size * (self.rank + 1) // self.ranks)
        rows[: self.ranks, own].sum(0, out=rows[self.ranks, own])
        self.barrier.wait()
        array[:] = rows[self.ranks]
        self.barrier.wait()


def timed(comm, call, array, calls):
    comm.barrier()
    begin = time.perf_counter()
    for _ in range(calls):
        call(array)
    return (time.perf_counter() - begin) / calls


def rank_main(rank, arguments, place, pipes, memory, barrier):
    with chasqui.join(rank, arguments.ranks, place) as comm:
        ways = [lambda array: comm.allreduce(array, out=array), BySharedMemory(rank, arguments.ranks, memory, barrier),
                ByPipes(rank, arguments.ranks, pipes)]
        if rank == 0:
            print("{} ranks{:>12}{:>14}{:>18}{:>8}{:>12}{:>8}".format(
                arguments.ranks, "bytes", "chasqui us", "shared memory us", "times", "pipes us", "times"))
        for size in map(int, arguments.bytes.split(",")):
            array = np.ones(size // 4, "float32")
            for way in ways:
                array[:] = rank + 1
                way(array)
                assert (array == sum(range(arguments.ranks + 1))).all()
            array[:] = 0
            calls = max(1, min(arguments.calls, arguments.calls * (64 << 10) // size))
            rounds = [[timed(comm, way, array, calls) for way in ways] for _ in range(arguments.rounds)]
            ours, shared, piped = comm.allreduce([statistics.median(column) * 1e6 for column in zip(*rounds)], "max")
            if rank == 0:
                print("{:>19}{:>14.1f}{:>18.1f}{:>8.1f}{:>12.1f}{:>8.1f}".format(size, ours, shared, shared / ours, piped, piped / ours), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--bytes", default="4096,65536,1048576,16777216")
    parser.add_argument("--calls", type=int, default=100, help="calls in a round; fewer of messages above 64 KiB")
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    context = multiprocessing.get_context("fork")
    pipes = [context.Pipe() for _ in range(arguments.ranks - 1)]
    barrier = context.Barrier(arguments.ranks)
    largest = max(map(int, arguments.bytes.split(",")))
    memory = shared_memory.SharedMemory(create=True, size=(arguments.ranks + 1) * largest)
    try:
        place = "unix:@chasqui-bench-" + os.urandom(16).hex()
        processes = [context.Process(target=rank_main, args=(r, arguments, place, pipes, memory, barrier)) for r in range(arguments.ranks)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
    finally:
        memory.close()
        memory.unlink()
    raise SystemExit(max(abs(process.exitcode) for process in processes))


if __name__ == "__main__":
    main()
