"""How far the counts of intervals are from their means, as scores for cutting an interval in two.

dev[a, b) is the sum of |x_i - mean| over an interval. One record moves one count by 1 and the mean of its L cells by
1 / L, so it moves dev by at most 2 - 2 / L; and the sum over disjoint intervals by as much, for it lies in one of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Swept:
    """What was found of each cut m: ``ahead[m]`` is dev[since[m], m), ``behind[m]`` is dev[m, until[m])."""

    ahead: Floats
    since: Ints
    behind: Floats
    until: Ints

    @classmethod
    def nothing(cls, n: int) -> _Swept:
        return cls(np.empty(n), np.full(n, -1), np.empty(n), np.full(n, -1))

    def copy(self) -> _Swept:
        return _Swept(self.ahead.copy(), self.since.copy(), self.behind.copy(), self.until.copy())


class SortedLine:
    """Counts along a line, sorted once; what the scores of this module are shown in place of the counts.

    It remembers deviations that were computed, since a search by bisection needs them again at its next step.
    """

    def __init__(self, counts: Ints) -> None:
        self.counts = counts.copy()  # kernels take arrays that could be written to
        self.order = np.argsort(counts, kind="stable")
        self._swept = self._swept_whole = _Swept.nothing(len(counts))

    @cached_property
    def whole(self) -> Floats:
        """:meth:`bisections` of the whole line, kept: every trial begins with it."""
        found = self._bisections(np.zeros(1, dtype=np.int64), np.array([len(self.counts)]))
        self._swept_whole = self._swept.copy()
        return found

    def bisections(self, starts: Ints, stops: Ints) -> Floats:
        """Of each interval: dev[a, b), then dev[a, m) + dev[m, b) for every cut m inside; one value per cell."""
        if stops[0] - starts[0] < len(self.counts):
            return self._bisections(starts, stops)
        whole = self.whole
        self._swept = self._swept_whole.copy()
        return whole

    def _bisections(self, starts: Ints, stops: Ints) -> Floats:
        from dpbench.mathematics.kernels.bisection import bisections

        swept = self._swept
        return np.asarray(
            bisections(self.counts, self.order, starts, stops, swept.ahead, swept.since, swept.behind, swept.until)
        )

    def total_deviations(self, starts: Ints, stops: Ints, cuts: Ints) -> Floats:
        """Total deviation of the clusters before the first decision and after each, ``(decisions + 1,)``."""
        from dpbench.mathematics.kernels.bisection import deviation, reductions

        total = np.empty(len(cuts) + 1)
        total[0] = deviation(self.counts, 0, len(self.counts))
        total[1:] = total[0] - np.cumsum(reductions(self.counts, starts, stops, cuts))
        return total


@dataclass(frozen=True)
class Sorting:
    """The statistic: the counts, sorted."""

    def of(self, counts: Ints) -> SortedLine:
        """Sort."""
        return SortedLine(counts)


@dataclass(frozen=True, eq=False)
class Bisections:
    """Score, for each of several disjoint intervals, leaving it as it is and every cut in two.

    Candidate 0 of an interval leaves it: minus its deviation. Candidate m cuts after m cells: minus the deviations of
    both parts, minus the price of one more cluster. One record moves each of them by at most 2.
    """

    first: Ints
    """``(intervals,)``: first cell of each."""
    stop: Ints
    """``(intervals,)``: one past its last cell."""
    price: float
    """Public cost of one more cluster."""
    statistic = Sorting()
    sensitivity = 2
    monotone = False

    @cached_property
    def starts(self) -> Ints:
        """Where each interval's candidates start: it has as many as cells."""
        starts = np.zeros(len(self.first) + 1, dtype=np.int64)
        np.cumsum(self.stop - self.first, out=starts[1:])
        return starts

    def score(self, line: SortedLine) -> Floats:
        """One score a cell of the intervals."""
        scores = -self.price - line.bisections(self.first, self.stop)
        scores[self.starts[:-1]] += self.price
        return np.asarray(scores)


@dataclass(frozen=True, eq=False)
class BisectionTrace:
    """Score the clusterings that a sequence of decisions went through, the first one included.

    Minus the total deviation of the clusters, minus the price of each; one record moves it by at most 2.
    """

    first: Ints
    """``(decisions,)``: first cell of the interval that was decided on."""
    stop: Ints
    """``(decisions,)``: one past its last cell."""
    cut: Ints
    """``(decisions,)``: where it was cut; 0: it was left."""
    price: float
    """Public cost of one more cluster."""
    statistic = Sorting()
    sensitivity = 2
    monotone = False

    def score(self, line: SortedLine) -> Floats:
        """``(decisions + 1,)``."""
        clusters = 1 + np.concatenate([[0], np.cumsum(self.cut > 0)])
        return np.asarray(-(line.total_deviations(self.first, self.stop, self.cut) + self.price * clusters))
