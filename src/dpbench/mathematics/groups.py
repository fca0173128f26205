"""Totals of disjoint groups of cells: the strategy behind every algorithm that partitions the domain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class GroupTotals:
    """Ask for the number of records in each of several disjoint groups of cells, the same or other ones in each trial.

    A cell has one label, so a record is in at most one group and the sensitivity is 1. The totals are exact.

    Where trials have groups of their own, ``groups`` has to be a bound that does not depend on the other trials, such
    as the number of cells: it says how many answers, and so how many draws of noise, a trial gets. Groups
    that no cell belongs to have a total of 0.
    """

    labels: NDArray[np.integer]
    """``(cells,)``, or ``(trials, cells)``: the group of each cell in row-major order; -1 is in none."""
    groups: int
    """Number of groups; labels are below it."""
    sensitivity = 1
    lattice = 1

    def __post_init__(self) -> None:
        if self.labels.ndim not in (1, 2) or self.labels.dtype.kind not in "iu":
            raise InvalidInput(
                f"labels are a {self.labels.dtype} array of shape {self.labels.shape}; "
                f"give whole numbers, (cells,) or (trials, cells)"
            )
        if self.labels.size and not (self.labels.min() >= -1 and self.labels.max() < self.groups):
            raise InvalidInput(
                f"labels run from {self.labels.min()} to {self.labels.max()}; give -1 ... {self.groups - 1}"
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """One answer a group."""
        return (self.groups,)

    def answer(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """The totals, ``(groups,)`` or ``(trials, groups)``."""
        flat = counts.reshape(-1)
        if self.labels.shape[-1] != flat.size:
            raise InvalidInput(
                f"there are {self.labels.shape[-1]} labels for {flat.size} cells; give one for each cell"
            )
        filled = np.flatnonzero(flat)  # empty cells are many, and add nothing
        counted = flat[filled].astype(np.float64)
        rows = np.atleast_2d(self.labels)
        totals = np.zeros((len(rows), self.groups))
        for row, total in zip(rows, totals, strict=True):
            # a float holds every total exactly: all counts together stay below 2^53
            found = np.bincount(row[filled].astype(np.intp) + 1, weights=counted)[1:]
            total[: len(found)] = found
        return totals[0] if self.labels.ndim == 1 else totals
