#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""closed_form.py BENCH_FOLDER SMPI_BENCH: our collectives in SimGrid's simulated time, on few ranks.

Broadcast and reduce of 8 bytes must take the P-th smallest label of the universal tree, computed here by a heap; the
symmetric ones what they predict and not less than the broadcast's bound; long ones must be right and near their
prediction, reductions without a receiving port and all-gathers on a shared link at their bound; and no P may be slower
than P + 1.
"""
import heapq
import os
import re
import sys
import tempfile

sys.path.insert(0, sys.argv[1])
import simulator  # noqa: E402

failures = []


def expect(condition, text):
    if not condition:
        failures.append(text)
        print("wrong:", text)


def broadcast_time(ranks, flight, gap):
    """The P-th smallest label: 0, and flight + i * gap after the label of a rank that has it."""
    labels, heap = [0.0], [(flight, 0.0)]
    while len(labels) < ranks:
        label, parent_free = heapq.heappop(heap)
        labels.append(label)
        heapq.heappush(heap, (label + gap, parent_free + gap))
        heapq.heappush(heap, (label + flight, label))
    return labels[-1]


def lanes(program, folder):
    """Hosts of four ranks: several of them that talk side by side beat one, are chosen, and take what they predict."""
    kinds = ("broadcast", "reduce", "allreduce", "barrier")
    for machine in ("lan", "eth"):
        out, err = simulator.output_of(program, folder, 36, machine, "shared", [(kind, 8) for kind in kinds], "ours",
                                       ("4", "243", "42", "0.042"), timeout=800, on_host=4)
        found = {(who, kind): (float(ns), float(predicted)) for who, kind, ns, predicted in
                 re.findall(r"RESULT (\w+) (\S+) \d+ ([\d.]+) ns right \S+ predicted ([\d.]+)", out or "")}
        for kind in kinds:
            missing = [who for who in ("leaders", "lanes", "ours") if (who, kind) not in found]
            expect(not missing, f"{kind} on nine hosts of four ranks, {machine}: no right result of {missing}: {(err or '')[-300:]}")
            if missing:
                continue
            times = {who: found[who, kind][0] for who in ("leaders", "lanes", "ours")}
            expect(times["ours"] <= 0.85 * times["leaders"] and abs(times["ours"] - times["lanes"]) < 5, f"{kind}, {machine}: {times}")
            for who, time in times.items():
                predicted = found[who, kind][1]
                expect(abs(time - predicted) <= 0.05 * predicted, f"{kind}, {machine}: {who} takes {time}, predicted {predicted}")


def led_pieces(program, folder):
    """A long all-reduce in pieces that the ranks of a host lead by turns beats one leader, is chosen, and takes what it predicts."""
    for machine in ("lan", "eth"):
        out, err = simulator.output_of(program, folder, 36, machine, "shared", [("allreduce", 1 << 20)], "ours",
                                       ("4", "243", "42", "0.042"), timeout=800, on_host=4)
        found = {who: (float(ns), float(predicted)) for who, ns, predicted in
                 re.findall(r"RESULT (\w+) allreduce \d+ ([\d.]+) ns right two-level\(4\) predicted ([\d.]+)", out or "")}
        leaders = re.search(r"RESULT leaders allreduce \d+ ([\d.]+) ns right", out or "")
        expect("ours" in found and leaders, f"long all-reduce on nine hosts of four ranks, {machine}: {(out or '') + (err or '')[-300:]}")
        if "ours" in found and leaders:
            time, predicted = found["ours"]
            link = 2 * 8 / 9 * (1 << 20) * 1e9 / simulator.MACHINES[machine][2]
            expect(abs(time - predicted) <= 0.03 * predicted, f"long all-reduce, {machine}: takes {time}, predicted {predicted}")
            expect(link < time <= 0.95 * float(leaders[1]), f"long all-reduce, {machine}: {time}, leaders {leaders[1]}, the link {link}")


def main():
    program = sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        for machine in ("lan", "wan"):
            L, o, bandwidth = simulator.MACHINES[machine]
            times = {}
            for ranks in (2, 3, 4, 5, 6, 7, 8, 9, 13, 16):
                bound = broadcast_time(ranks, L + 2 * o + (8 + 16) * 1e9 / bandwidth, o)
                for kind in ("broadcast", "reduce", "allreduce", "barrier"):
                    if kind in ("reduce", "barrier") and (machine == "wan" or ranks > 9):
                        continue
                    result = simulator.run(program, folder, ranks, machine, "shared", kind, 8, "ours", timeout=800)
                    case = f"{kind} of 8 bytes on {ranks} ranks, {machine}: {result.status} {result.ns} ns by {result.method}"
                    expect(result.status == "right", case)
                    times[kind, ranks] = result.ns
                    if kind in ("broadcast", "reduce"):
                        expect(abs(result.ns - bound) <= 0.005 * bound, f"{case}, the tree takes {bound:.1f}")
                    else:
                        expect(result.ns <= 1.005 * result.predicted, f"{case}, predicted {result.predicted}")
                        expect(result.ns >= 0.99 * broadcast_time(ranks, L + 2 * o, o), f"{case}: below the bound {bound}")
            for kind, ranks in times:
                if (kind, ranks + 1) in times:
                    expect(times[kind, ranks] <= 1.005 * times[kind, ranks + 1], f"{kind} on {ranks} ranks is slower than on one more")
        for machine in ("lan", "eth"):
            L, o, bandwidth = simulator.MACHINES[machine]
            G, size = 1e9 / bandwidth, 65536
            # Receiving ports without a limit: the tree whose gap is an overhead, whatever the size.
            result = simulator.run(program, folder, 16, machine, "strict", "reduce", size, "ours", timeout=800)
            tree = broadcast_time(16, L + 2 * o + G * size, o)
            expect(result.status == "right" and abs(result.ns - tree) <= 0.001 * tree,
                   f"reduce of {size} bytes, {machine}, strict: {result.status} {result.ns} ns by {result.method}, the tree takes {tree:.1f}")
            # A shared link that never idles: one latency, one overhead, and the bytes of all others.
            result = simulator.run(program, folder, 9, machine, "shared", "allgather", size, "ours", timeout=800)
            link = o + L + 8 * (size + 16) * G
            expect(result.status == "right" and result.ns <= 1.001 * link,
                   f"allgather of {size} bytes, {machine}, shared: {result.status} {result.ns} ns by {result.method}, the link needs {link:.1f}")
        for kind, size in (("broadcast", 1 << 20), ("reduce", 1 << 20), ("allreduce", 1 << 16), ("allgather", 4096)):
            for mode in ("shared", "strict"):
                result = simulator.run(program, folder, 7, "lan", mode, kind, size, "ours", timeout=800)
                case = f"{kind} of {size} bytes on 7 ranks, {mode}: {result.status} {result.ns} ns by {result.method}"
                expect(result.status == "right", case)
                expect(result.ns <= 1.1 * result.predicted, f"{case}, predicted {result.predicted}")
        lanes(program, folder)
        led_pieces(program, folder)
    print("failed" if failures else "all as computed")
    return 1 if failures else 0


sys.exit(main())
