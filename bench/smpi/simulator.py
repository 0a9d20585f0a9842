# SPDX-License-Identifier: MIT
"""One collective in SimGrid's simulated time: machines, options that make the simulator a LogP machine, one process a case.

Two ways to model long messages:
  shared  messages under way from (or to) one rank share its link fairly; none queues
  strict  LogGP to the letter: the sender pays G per byte and its messages queue; receiving ports have no limit
"""
import csv
import os
import re
import resource
import signal
import subprocess
import threading

MACHINES = {  # L ns, o ns, bytes per second
    "lan": (1000.0, 300.0, 12.5e9),
    "eth": (25000.0, 3000.0, 1.25e9),
    "wan": (5e6, 10000.0, 125e6),
}
LINE = re.compile(r"RESULT (\w+) (\S+) (\d+) ([\d.]+) ns (\w+) (\S+) predicted ([\d.]+)")  # who, kind, bytes, …


class Table:
    """A csv with a row for each run, known by its first columns. Sorted, numbers as numbers."""

    def __init__(self, path, columns, keys, forget=None):
        self.path, self.columns, self.keys, self.rows, self.lock = path, columns, keys, {}, threading.Lock()
        if os.path.exists(path):
            with open(path, newline="") as file:
                self.rows = {tuple(row[c] for c in columns[:keys]): row for row in csv.DictReader(file)
                             if forget is None or row["who"] != forget}

    def add(self, *values):
        values = [str(value) for value in values] + [""] * (len(self.columns) - len(values))
        with self.lock:
            self.rows[tuple(values[:self.keys])] = dict(zip(self.columns, values))
            self.save()

    def save(self):
        os.makedirs(os.path.dirname(self.path) or ".", exist_ok=True)
        with open(self.path + ".new", "w", newline="") as file:
            writer = csv.DictWriter(file, self.columns, lineterminator="\n")
            writer.writeheader()
            order = lambda key: [int(word) if word.isdigit() else word for word in key]
            writer.writerows(self.rows[key] for key in sorted(self.rows, key=order))
        os.replace(self.path + ".new", self.path)

    def time(self, key):
        row = self.rows.get(key)
        return float(row["ns"]) if row is not None and row["status"] == "right" else None


def size_name(size):
    size = int(size)
    return "" if size == 0 else f" {size} B" if size < 1024 else f" {size >> 10} KiB" if size < 1 << 20 else f" {size >> 20} MiB"


inside = "100GBps"  # of messages between ranks of one host: their overheads are all that they cost
writing = threading.Lock()  # cases that run at the same time share a platform


def platform(folder, ranks, machine, mode, on_host=1):
    """Writes platform and host file (once), gives their names. A core a rank; messages inside a host take no time of their own."""
    L, _, bandwidth = MACHINES[machine]
    path = os.path.join(folder, f"{machine}-{ranks}-{mode}-{on_host}.xml")
    hosts = path + ".hosts"
    with writing:
        if os.path.exists(hosts):
            return path, hosts
        speed = "12500TBps" if mode == "strict" else f"{bandwidth:.0f}Bps"
        with open(path, "w") as file:
            file.write(f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-{-(-ranks // on_host) - 1}" speed="1Gf" core="{on_host}"
 bw="{speed}" lat="{L / 2:.3f}ns" sharing_policy="SPLITDUPLEX" loopback_bw="{inside}" loopback_lat="1ns"/></platform>
""")
        with open(hosts, "w") as file:
            file.writelines(f"n{i // on_host}\n" for i in range(ranks))
    return path, hosts


class Result:
    """status: right, wrong, crashed or timeout; the rest only where right."""

    def __init__(self, status, ns=0.0, method="", predicted=0.0):
        self.status, self.ns, self.method, self.predicted = status, ns, method, predicted


def run(program, folder, ranks, machine, mode, kind, size, who, options=(), timeout=60, environment=None):
    """who: ours or native. options: further options of the simulator, such as --cfg=smpi/bcast:NTSL."""
    return run_many(program, folder, ranks, machine, mode, [(kind, size)], who, options, timeout, environment)[0]


def run_many(program, folder, ranks, machine, mode, cases, who, options=(), timeout=60, environment=None):
    """The cases (kind, size) one after another in one process: a list of results."""
    out, err = output_of(program, folder, ranks, machine, mode, cases, who, (), options, timeout, environment)
    if out is None:
        return [Result("timeout") for _ in cases]
    results = [Result("right", float(ns), method, float(predicted)) if verdict == "right" else Result("wrong")
               for _, _, _, ns, verdict, method, predicted in LINE.findall(out)]
    lost = Result("crashed", method=(out + err)[-300:])
    return results + [lost] * (len(cases) - len(results))


def output_of(program, folder, ranks, machine, mode, cases, who, arguments, options=(), timeout=60, environment=None, on_host=1):
    """What the program says, on `on_host` ranks a host; (None, None): it ran out of time. Arguments: what follows the mode."""
    L, o, bandwidth = MACHINES[machine]
    G = 1e9 / bandwidth
    xml, hosts = platform(folder, ranks, machine, mode, on_host)
    # Events this close are one: of 65 000 messages under way hundreds end together, but for rounding (figures: +- 1 ns).
    precision = 1e-9 if L >= 1e6 and ranks > 64 else 1e-12
    seconds = o * 1e-9
    sender = f"0:{seconds}:{G * 1e-9 if mode == 'strict' else 0}"
    small = 2000000000 if mode == "strict" else 65536
    command = ["smpirun", "-no-privatize", "-np", str(ranks), "-platform", xml, "-hostfile", hosts,
               "--cfg=network/model:CM02", "--cfg=network/latency-factor:1", "--cfg=network/bandwidth-factor:1",
               "--cfg=network/weight-S:0", "--cfg=network/crosstraffic:0", "--cfg=network/TCP-gamma:1e15",
               f"--cfg=surf/precision:{precision}", "--cfg=smpi/simulate-computation:no", "--cfg=smpi/wtime:0",
               "--cfg=smpi/test:0", "--cfg=smpi/iprobe:0", "--cfg=smpi/host-speed:1f",
               f"--cfg=smpi/os:{sender}", f"--cfg=smpi/ois:{sender}", f"--cfg=smpi/or:0:{seconds}:0",
               f"--cfg=smpi/async-small-thresh:{small}", f"--cfg=smpi/send-is-detached-thresh:{small}",
               "--cfg=contexts/stack-size:256", "--cfg=contexts/guard-size:0", "--log=root.thresh:critical", *options,
               program, ",".join(kind for kind, _ in cases), ",".join(str(size) for _, size in cases), who, str(L), str(o),
               str(G), mode, *arguments]
    fast = {"LD_PRELOAD": os.path.join(os.path.dirname(os.path.abspath(program)), "libsmpi_detached.so")}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                               env={**os.environ, **fast, **(environment or {})},
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
    try:
        return process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # smpirun is a script: the simulation is its child
        process.communicate()
        return None, None
