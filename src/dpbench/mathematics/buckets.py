"""Buckets of cells along a line: how uneven each would be. The line is one axis, or two along the Hilbert curve."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.mathematics.hilbert import order as curve

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@lru_cache(maxsize=8)
def cells_along(domain: Domain, padded: bool) -> Ints:
    """Flat cell numbers along the line; ``padded`` keeps the positions that the Hilbert curve adds, as -1."""
    line = curve(domain)
    return line if padded else line[line >= 0]


def powers_of_two(cells: int) -> tuple[int, ...]:
    """1, 2, 4, ... up to ``cells``: the lengths that a bucket may have."""
    return tuple(2**power for power in range(cells.bit_length()))


@dataclass(frozen=True)
class Deviations:
    """Statistic: sum |x_i - m| over every window of a power-of-two length, m its ``about``.

    ``(lengths, n + 1)``, entry [k, e] for the window ``[e - lengths[k], e)``. ``padded`` keeps the empty cells that
    the Hilbert curve adds to a domain that is not a square of such a side.
    """

    about: Literal["median", "mean"]
    padded: bool = False
    aligned: bool = False
    """Median: whether only windows are wanted that start at a multiple of their length; the others are 0."""

    def of(self, counts: Ints) -> Floats:
        """All windows, O(n log^2 n)."""
        from dpbench.mathematics.kernels.deviation import mean_deviations, median_deviations

        domain = Domain(counts.shape)
        line = cells_along(domain, self.padded)
        along = np.where(line >= 0, counts.reshape(-1)[line], 0)
        values, rank = np.unique(along, return_inverse=True)
        lengths = np.array(powers_of_two(len(line)), dtype=np.int64)
        places = (along, rank.reshape(-1), values, lengths)
        return np.asarray(
            median_deviations(*places, self.aligned) if self.about == "median" else mean_deviations(*places)
        )


@dataclass(frozen=True)
class MedianCost:
    """The cost of a bucket is the L1 distance of its counts from their median, plus what is public.

    It is the L1 distance of the counts from the nearest constant vector. A distance to a set moves no further than
    the point does, so one record, which is in one bucket of every partition, moves the total cost by at most 1. (The
    deviation from the mean can move by nearly 2.)
    """

    cells: int
    penalty: float
    """Price of every bucket, in nats."""
    surcharge: float = 0.0
    """What a bucket of several cells costs besides, in records."""
    aligned: bool = False
    """Whether a bucket has to start at a multiple of its length."""
    sensitivity = 1

    @property
    def statistic(self) -> Deviations:
        """The deviations of the windows that are allowed."""
        return Deviations("median", aligned=self.aligned)

    @property
    def lengths(self) -> tuple[int, ...]:
        """Powers of two."""
        return powers_of_two(self.cells)

    @property
    def surcharges(self) -> tuple[float, ...]:
        """What a bucket of each length costs besides, in records."""
        return (0.0, *(self.surcharge for _ in self.lengths[1:]))

    def whole(self, counts: Floats) -> Ints:
        """Deviations of all windows, which are whole numbers; -1 forbids one that is not aligned."""
        found = counts.astype(np.int64)
        if not self.aligned:
            return found
        costs = np.full(counts.shape, -1, dtype=np.int64)
        for kind, length in enumerate(self.lengths):
            costs[kind, length::length] = found[kind, length::length]
        return costs

    def cost(self, counts: Floats) -> Floats:
        """Costs of all windows, from the statistic; inf forbids one that is not aligned."""
        if not self.aligned:
            return counts
        costs = np.full(counts.shape, np.inf)
        costs[0] = counts[0]
        for kind, length in enumerate(self.lengths[1:], 1):
            costs[kind, length::length] = counts[kind, length::length] + self.surcharge
        return costs
