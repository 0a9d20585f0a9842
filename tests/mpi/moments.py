#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ranks that are stopped or killed at random moments: moments.py stop|kill SEED TIMES PROGRAM COMMAND...

stop: while COMMAND runs, and again until it was TIMES times, one of its processes that run PROGRAM is stopped for some
milliseconds; COMMAND must end well. kill: TIMES times COMMAND is started and one of them is killed, at any moment from its start on; COMMAND must
end in bounded time, none of its processes may be left, and nothing of ours in /dev/shm. A launcher that is left alone is ended: Open MPI's waits for ever
now and then, without our library too, when a rank is killed in MPI_Init."""

import os
import random
import signal
import subprocess
import sys
import time

MARK = "CHASQUI_MOMENTS"
LIMIT = 600  # seconds; a launcher needs some to notice
ALONE = 10  # seconds after which a launcher without ranks is ended


def processes(mark, program):
    """Those that carry the mark and, if a program is named, run it."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            if not entry.isdigit() or f"{MARK}={mark}".encode() not in open(f"/proc/{entry}/environ", "rb").read().split(b"\0"):
                continue
            if program is None or os.path.realpath(f"/proc/{entry}/exe") == os.path.realpath(program):
                found.append(int(entry))
        except OSError:
            pass
    return sorted(found)


def send(process, what):
    try:
        os.kill(process, what)
    except ProcessLookupError:
        pass


def ours():
    return {name for name in os.listdir("/dev/shm") if name.startswith("chasqui")}


def fail(text, job, mark):
    print(f"moments.py: {text}", file=sys.stderr)
    for process in processes(mark, None):
        send(process, signal.SIGKILL)
    job.wait()
    sys.exit(1)


def main():
    way, seed, times, program, command = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5:]
    chance = random.Random(seed)
    print(f"seed {seed}", flush=True)
    hits = 0
    for attempt in range(times):
        if way == "stop" and hits == times:
            break
        mark = f"{os.getpid()}-{attempt}"
        before = ours()
        job = subprocess.Popen(command, env={**os.environ, MARK: mark}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=None if way == "stop" else subprocess.DEVNULL)
        end = time.monotonic() + LIMIT
        while not processes(mark, program) and job.poll() is None:
            time.sleep(0.002)
        moment = time.monotonic() + (chance.choice([0, 0.05, 0.4, 1.5]) if way == "kill" else 0.05) * chance.random()
        alone = None  # since when the launcher is
        while job.poll() is None:
            if way == "kill" and moment == end and not processes(mark, program):
                alone = alone or time.monotonic()
                if time.monotonic() > alone + ALONE:
                    print(f"attempt {attempt}: the ranks have ended, their launcher has not", flush=True)
                    for process in processes(mark, None):
                        send(process, signal.SIGKILL)
                    job.wait()
                    break
            if time.monotonic() > end:
                fail(f"not done after {LIMIT} s (attempt {attempt})", job, mark)
            ranks = processes(mark, program) if time.monotonic() >= moment else []
            if way == "stop" and ranks and hits < times:
                victim = chance.choice(ranks)
                send(victim, signal.SIGSTOP)
                time.sleep(chance.choice([0.001, 0.01, 0.05]))
                send(victim, signal.SIGCONT)
                hits += 1
            elif way == "kill" and ranks:
                send(chance.choice(ranks), signal.SIGKILL)
                hits += 1
                moment = end
            time.sleep(0.003 if way == "kill" else 0.02 * chance.random())
        if way == "stop" and job.returncode != 0:
            fail(f"status {job.returncode}", job, mark)
        left = time.monotonic() + 120
        while processes(mark, program) and time.monotonic() < left:
            time.sleep(0.05)
        if processes(mark, program):
            fail("processes are left", job, mark)
        if ours() - before:
            fail(f"left in /dev/shm: {ours() - before}", job, mark)
    if hits == 0:
        sys.exit("moments.py: nothing was hit")
    print(f"{way}: {hits} times, right")


main()
