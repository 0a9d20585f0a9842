# SPDX-License-Identifier: MIT
"""What a cell of the tables against MPI libraries says: native / ours with the setting of the rival that is fastest natively in that cell, which is the one
whose native time, the mean of its runs, is least. The cell is the mean of that setting's ratios, a run each, with the least and the most.

The least ratio of all settings would be another thing: chosen by the noise of the ratios, and too low the more settings there are."""
import statistics
from typing import NamedTuple


class Sample(NamedTuple):
    """One run with one setting."""
    setting: str
    native: float  # a time
    ratio: float   # native / ours


class Cell(NamedTuple):
    setting: str
    mean: float
    least: float
    most: float
    runs: int


def cell_of(samples):
    natives = {}
    for sample in samples:
        natives.setdefault(sample.setting, []).append(sample.native)
    fastest = min(natives, key=lambda setting: statistics.mean(natives[setting]))
    ratios = [sample.ratio for sample in samples if sample.setting == fastest]
    return Cell(fastest, statistics.mean(ratios), min(ratios), max(ratios), len(ratios))


def least_of(rivals):
    """{cell: (rival, Cell)} of {rival: {cell: Cell}}: the rival with the least mean, where all have the cell."""
    shared = [cell for cell in next(iter(rivals.values())) if all(cell in cells for cells in rivals.values())]
    chosen = {cell: min(rivals, key=lambda rival: rivals[rival][cell].mean) for cell in shared}
    return {cell: (rival, rivals[rival][cell]) for cell, rival in chosen.items()}
