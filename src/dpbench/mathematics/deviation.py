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


class SortedLine:
    """Counts along a line, sorted once; what the scores of this module are shown in place of the counts.

    It remembers deviations that were computed, since a search by bisection needs them again at its next step.
    """

    def __init__(self, counts: Ints) -> None:
        self.counts = counts.copy()  # kernels take arrays that could be written to
        self.order = np.argsort(counts, kind="stable")
        # what bisection_scores keeps
        self._found, self._ends = np.empty((4, len(counts) + 1)), np.full((4, len(counts) + 1), -1)

    @cached_property
    def _whole(self) -> tuple[Floats, Floats, Ints]:
        """Scores of the whole line without a price, and what is kept then: every trial begins with it."""
        self._ends.fill(-1)
        scores = self._scores(np.zeros(1, dtype=np.int64), np.array([len(self.counts)]), 0.0)
        return scores, self._found.copy(), self._ends.copy()

    def bisection_scores(self, starts: Ints, stops: Ints, price: float) -> Floats:
        """Of each interval: -dev[a, b), then -price - (dev[a, m) + dev[m, b)) for every cut m inside; one a cell."""
        if stops[0] - starts[0] < len(self.counts):
            return self._scores(starts, stops, price)
        scores, self._found[:], self._ends[:] = self._whole
        scores = scores - price
        scores[0] += price
        return scores

    def _scores(self, starts: Ints, stops: Ints, price: float) -> Floats:
        from dpbench.mathematics.kernels.bisection import bisection_scores

        found: Floats = bisection_scores(self.counts, self.order, starts, stops, price, self._found, self._ends)
        return found

    def trace_scores(self, starts: Ints, stops: Ints, cuts: Ints, price: float) -> Floats:
        """Minus deviation and price of all clusters before the first decision and after each, ``(decisions + 1,)``."""
        from dpbench.mathematics.kernels.bisection import trace_scores

        found: Floats = trace_scores(self.counts, starts, stops, cuts, price, self._found, self._ends)
        return found


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
        from dpbench.mathematics.kernels.bisection import starts_of_cells

        return np.asarray(starts_of_cells(self.first, self.stop))

    def score(self, line: SortedLine) -> Floats:
        """One score a cell of the intervals."""
        return line.bisection_scores(self.first, self.stop, self.price)


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
        return line.trace_scores(self.first, self.stop, self.cut, self.price)
