# SPDX-License-Identifier: MIT
"""The cells of cells.py as tables of a page. show() takes {Mode: {rival: {(collective, bytes): Cell}}}; the size of a barrier is 0."""
import statistics
from typing import NamedTuple

from cells import least_of

NAMES = {"allreduce": "all-reduce", "allgather": "all-gather", "alltoall": "all-to-all"}


class Mode(NamedTuple):
    title: str  # above a table
    short: str  # in a line of one


def size_name(size):
    return f"{size} B" if size < 1024 else f"{size >> 10} KiB" if size < 1 << 20 else f"{size >> 20} MiB"


def name_of(collective, size=0):
    name = NAMES.get(collective, collective)
    return f"{name} {size_name(size)}" if size else name


def row(texts):
    print("| " + " | ".join(texts) + " |")


def heading(texts):
    print("| " + " | ".join(texts).lstrip() + " |")
    row(["---"] * len(texts))


def short(ratio):
    return f"**{ratio:.2f}**" if ratio < 1 else f"{ratio:.2f}" if ratio < 2 else f"{ratio:.1f}"


def span(cell):
    """The least and the most of the runs, where there are several."""
    return f"{cell.mean:.2f} ({cell.least:.2f}–{cell.most:.2f})" if cell.runs > 1 else f"{cell.mean:.2f}"


def by_size(texts):
    """texts[collective, bytes]: a line for each collective, a column for each size."""
    sizes = sorted({size for _, size in texts} - {0})
    heading([""] + [size_name(size) for size in sizes])
    for collective in dict.fromkeys(name for name, _ in texts):
        line = [texts.get((collective, size), "") for size in sizes] if (collective, 0) not in texts else [texts[collective, 0]]
        row([name_of(collective)] + line + [""] * (len(sizes) - len(line)))


def below(found, limit):
    """Every rival's cells of which a run is below."""
    lines = [(mode, rival, *cell, value) for mode, rivals in found.items() for rival, cells in rivals.items()
             for cell, value in cells.items() if value.least < limit]
    print(f"\nCells of which a run is below {limit:g}, with the mean, the least and the most of the runs:\n")
    heading(["mode", "call", "rival", "its fastest setting", "mean", "least", "most"])
    for mode, rival, collective, size, cell in lines:
        row([mode.short, name_of(collective, size), rival, cell.setting] + [f"{value:.2f}" for value in (cell.mean, cell.least, cell.most)])


def summary(found):
    print("\nEach rival:\n")
    heading(["rival", "mode", "runs", "cells below 1", "median", "the three least"])
    for mode, rivals in found.items():
        for rival, cells in rivals.items():
            means = [cell.mean for cell in cells.values()]
            least = sorted(cells, key=lambda cell: cells[cell].mean)[:3]
            row([rival, mode.short, str(max(cell.runs for cell in cells.values())), f"{sum(mean < 1 for mean in means)} of {len(means)}",
                 f"{statistics.median(means):.2f}",
                 ", ".join(f"{name_of(*cell)} {span(cells[cell])}" for cell in least)])


def each_rival(found):
    for mode, rivals in found.items():
        for rival, cells in rivals.items():
            print(f"\n{rival}, {mode.short}, the least and the most of the runs:\n")
            by_size({cell: f"**{span(value)}**" if value.mean < 1 else span(value) for cell, value in cells.items()})


def show(found, each=False, limit=1.0):
    """The exit status: there must be something to show."""
    for mode, rivals in found.items():
        print(f"\n{mode.title}, {'all rivals' if len(rivals) > 1 else next(iter(rivals))}:\n")
        least = least_of(rivals)
        by_size({cell: short(value.mean) for cell, (_, value) in least.items()})
        means = [value.mean for _, value in least.values()]
        print(f"\nBelow 1: {sum(mean < 1 for mean in means)} of {len(means)} cells, median {statistics.median(means):.2f}.")
    if found:
        below(found, limit)
        summary(found)
    if each:
        each_rival(found)
    return 0 if found else 1
