"""Where to put the boundaries of bins: the squared error of the best bins to the left of each candidate.

SSE of a bin is the sum of (x_i - mean)^2. For counts of at most F, one record moves x_i by d <= 1, and SSE by
2 d (x_i - mean) + d^2 (1 - 1/L): at most 2 F either way. It lies in one bin, and a minimum over sets of bins inherits
the bound. (The publication has 2 F + 1; without the 1 the scores scale with the counts.)

The table of least errors has as many entries as cells times bins. Beyond ``LARGEST_EXACT`` cells an approximation takes
its place that needs a few numbers per cell. Bins are dyadic: 2^h cells from a multiple of 2^h on. And the number of
bins is not fixed but paid for: D(k, j) is the largest, over public prices p, of

    min over sets of dyadic bins of [0, j) of (SSE of the set + p * its number of bins) - p k.

It is at most the least error of k dyadic bins (the Lagrangian bound), and equals it where k is a corner of the convex
hull of the least errors and p its slope. Each minimum moves by at most 2 F with a record, p k does not move, and a
maximum inherits the bound: what the scores cost stays the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LARGEST_EXACT = 8_192
"""Cells up to which all sets of bins are compared."""
ROOM, EVERY = 1.25, 1e299
"""The table has errors up to this multiple of the error of some bins, at first; and a limit that no error exceeds."""
PRICES = tuple(4.0**-power for power in range(4, 28))
"""Prices of a dyadic bin beyond that, in squares of the ceiling."""


class _Line(Protocol):
    """Counts along a line, cut off at a ceiling."""

    def energies(self, k: int, right: int) -> Floats:
        """E_j, the least error of [0, right) with a last bin [j, right) and k before it; j = k ... right - 1."""
        ...


class _Sums:
    """Running sums of counts cut off at a ceiling, and of their squares."""

    def __init__(self, counts: Ints, ceiling: float) -> None:
        values = np.minimum(counts, ceiling)
        self.values = values - np.rint(values.mean())  # moves no squared error, and makes its terms small
        self.sums = np.concatenate([[0.0], np.cumsum(self.values)])
        self.squares = np.concatenate([[0.0], np.cumsum(self.values**2)])

    def with_last_bin(self, before: Floats, k: int) -> Floats:
        """``before`` plus SSE[j, right) for j = k ... right - 1, as many as there are entries."""
        from dpbench.mathematics.kernels.structure import with_last_bin

        return np.asarray(with_last_bin(before, self.sums, self.squares, k))


class _DyadicLine:
    """Counts cut off at a ceiling, and what dyadic bins of them cost at every price."""

    def __init__(self, counts: Ints, ceiling: float) -> None:
        from dpbench.mathematics.kernels.structure import dyadic_costs

        self._line = _Sums(counts, ceiling)
        self._prices = [price * ceiling**2 for price in PRICES]
        self._costs = [dyadic_costs(self._line.sums, self._line.squares, price) for price in self._prices]

    def energies(self, k: int, right: int) -> Floats:
        """D(k, j) + SSE[j, right) for j = k ... right - 1."""
        bound = np.zeros(right - k)
        for price, costs in zip(self._prices, self._costs, strict=True):
            np.maximum(bound, costs[k:right] - price * k, out=bound)
        return self._line.with_last_bin(bound, k)


class _ClippedLine:
    """Counts cut off at a ceiling, and the table of their least squared errors."""

    def __init__(self, counts: Ints, ceiling: float, bins: int) -> None:
        self._bins = bins
        self._line = line = _Sums(counts, ceiling)
        self._ends = np.concatenate([[0], np.flatnonzero(np.diff(line.values)) + 1, [len(counts)]])
        self._table: Floats = np.empty((0, 0))
        self._limit = 0.0
        self._layers: dict[int, Floats] = {}

    def layer(self, k: int, stop: int) -> Floats:
        """S(k, j) for j = k ... stop - 1; the first bins - 1 layers are computed at the first call that needs them."""
        from dpbench.mathematics.kernels.structure import packed_error, structure_layer

        line, ends = self._line, self._ends
        if k >= len(ends) - 1:
            return np.zeros(stop - k)  # no more runs than bins
        kept = self._layers.get(k, np.zeros(0))
        if len(kept) < stop - k:
            if not self._table.size:
                some = packed_error(ends.astype(np.float64), line.sums[ends], line.squares[ends], self._bins - 1)
                self._fill(ROOM * some)
            missing = np.empty(stop - k - len(kept))
            while True:
                rows = self._table[k - 1], self._table[k]
                structure_layer(*rows, ends, line.sums, line.squares, k, k + len(kept), missing)
                if missing.max() <= self._limit or self._limit == EVERY:  # what is up to the limit is exact
                    break
                self._fill(max(16.0 * self._limit, 1e-6 * float(line.squares[-1])))
            self._layers[k] = kept = np.concatenate([kept, missing])
        return kept[: stop - k]

    def _fill(self, limit: float) -> None:
        """Tabulate all errors up to a limit."""
        from dpbench.mathematics.kernels.structure import structure_table

        line, ends = self._line, self._ends
        at_ends = ends.astype(np.float64), line.sums[ends], line.squares[ends]
        self._limit = limit if limit < line.squares[-1] else EVERY
        self._table = structure_table(*at_ends, min(self._bins - 1, len(ends) - 2), self._limit)

    def energies(self, k: int, right: int) -> Floats:
        """E_j = S(k, j) + SSE[j, right) for j = k ... right - 1."""
        return self._line.with_last_bin(self.layer(k, right), k)


class Structure:
    """Counts and the tables made of them so far: one without a ceiling, and that of the last ceiling that cuts."""

    def __init__(self, counts: Ints, bins: int) -> None:
        self._counts = counts
        self._largest = float(counts.max())
        self._bins = bins
        self._lines: dict[float, _ClippedLine] = {}
        self._dyadic: dict[float, _DyadicLine] = {}

    def below(self, ceiling: float) -> _Line:
        """The line cut off at a ceiling."""
        if len(self._counts) <= LARGEST_EXACT:
            return self.exact(ceiling)
        if ceiling not in self._dyadic:
            self._dyadic = {ceiling: _DyadicLine(self._counts, ceiling)}  # one at a time: it fills 200 MB at 2^20
        return self._dyadic[ceiling]

    def exact(self, ceiling: float) -> _ClippedLine:
        """The same with the table of all bins; every ceiling that cuts nothing has the same."""
        level = min(ceiling, self._largest)
        if level not in self._lines:
            self._lines = {kept: line for kept, line in self._lines.items() if kept == self._largest}
            self._lines[level] = _ClippedLine(self._counts, level, self._bins)
        return self._lines[level]


@dataclass(frozen=True)
class Structures:
    """The statistic: tables for cutting the line into a number of bins."""

    bins: int

    def of(self, counts: Ints) -> Structure:
        """An empty store: tables are filled when a score first needs them."""
        return Structure(counts, self.bins)


@dataclass(frozen=True, eq=False)
class BoundaryScore:
    """Score every place j for the boundary before bin k + 1 of ``bins``, whose right end is known.

    Minus the least squared error of [0, right) with a last bin [j, right) and k bins before it, in units of what one
    record can do to it.
    """

    bins: int
    k: int
    right: int
    ceiling: float
    """Largest count that the score sees; larger ones are cut off."""
    reach: float
    """What one record can do to the squared error, at least 2 * ceiling."""
    sensitivity = 1
    monotone = False

    @property
    def statistic(self) -> Structures:
        """Tables for this number of bins."""
        return Structures(self.bins)

    def score(self, structure: Structure) -> Floats:
        """``(right - k,)``: candidate c puts the boundary before cell k + c."""
        return np.asarray(structure.below(self.ceiling).energies(self.k, self.right) / -self.reach)
