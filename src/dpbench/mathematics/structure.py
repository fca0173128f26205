"""Where to put the boundaries of bins: the squared error of the best bins to the left of each candidate.

SSE of a bin is the sum of (x_i - mean)^2. For counts of at most F, one record moves x_i by d <= 1, and SSE by
2 d (x_i - mean) + d^2 (1 - 1/L): at most 2 F either way. It lies in one bin, and a minimum over sets of bins inherits
the bound. (The publication has 2 F + 1; without the 1 the scores scale with the counts.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class _ClippedLine:
    """Counts cut off at a ceiling, and the table of their least squared errors."""

    def __init__(self, counts: Ints, ceiling: float, bins: int) -> None:
        values = np.minimum(counts, ceiling)
        values = values - np.rint(values.mean())  # moves no squared error, and makes its terms small
        self._bins = bins
        self._sums = np.concatenate([[0.0], np.cumsum(values)])
        self._squares = np.concatenate([[0.0], np.cumsum(values**2)])
        self._ends = np.concatenate([[0], np.flatnonzero(np.diff(values)) + 1, [len(values)]])
        self._table: Floats | None = None
        self._layers: dict[int, Floats] = {}

    def layer(self, k: int, stop: int) -> Floats:
        """S(k, j) for j = k ... stop - 1; the first bins - 1 layers are computed at the first call that needs them."""
        from dpbench.mathematics.kernels.structure import structure_layer, structure_table

        if k >= len(self._ends) - 1:
            return np.zeros(stop - k)  # no more runs than bins
        kept = self._layers.get(k)
        if kept is None or len(kept) < stop - k:
            if self._table is None:
                ends = self._ends
                layers = min(self._bins - 1, len(ends) - 2)
                self._table = structure_table(ends.astype(np.float64), self._sums[ends], self._squares[ends], layers)
            rows = self._table[k - 1], self._table[k]
            kept = np.asarray(structure_layer(*rows, self._ends, self._sums, self._squares, k, stop))
            self._layers[k] = kept
        return kept[: stop - k]

    def energies(self, k: int, right: int) -> Floats:
        """E_j = S(k, j) + SSE[j, right) for j = k ... right - 1."""
        j = np.arange(k, right)
        total = self._sums[right] - self._sums[j]
        last = self._squares[right] - self._squares[j] - total**2 / (right - j)
        return np.asarray(self.layer(k, right) + np.maximum(last, 0.0))


class Structure:
    """Counts and the tables made of them so far: one without a ceiling, and that of the last ceiling that cuts."""

    def __init__(self, counts: Ints, bins: int) -> None:
        self._counts = counts
        self._largest = float(counts.max())
        self._bins = bins
        self._lines: dict[float, _ClippedLine] = {}

    def below(self, ceiling: float) -> _ClippedLine:
        """The line cut off at a ceiling; every ceiling that cuts nothing has the same."""
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
