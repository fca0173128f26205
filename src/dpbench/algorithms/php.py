"""PHP: the line cut in two, and again, where a cut makes the parts more even.

Acs, Castelluccia, Chen. Differentially private histogram publishing through lossy compression. ICDM 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm
from dpbench.errors import InvalidInput, shown
from dpbench.mathematics.deviation import Bisections, BisectionTrace, SortedLine
from dpbench.mathematics.groups import GroupTotals
from dpbench.privacy import PrivateData, evenly, split
from dpbench.workloads import Workload

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Decisions:
    """What was decided on each interval, in order."""

    first: Ints
    stop: Ints
    cut: Ints
    """Where it was cut; 0: it was left."""

    def labels(self, many: int, cells: int) -> Ints:
        """The cluster of each cell after the first ``many`` decisions."""
        marks = np.zeros(cells, dtype=np.int64)
        cuts = self.cut[:many]
        marks[cuts[cuts > 0]] = 1
        return np.cumsum(marks)


@dataclass(frozen=True, eq=False)
class _NoAnswers:
    """A question whose answers are 0: what comes back is the noise. For the published form alone."""

    shape: tuple[int, ...]
    sensitivity = 1

    def answer(self, counts: Ints) -> Floats:
        """Zeros."""
        del counts
        return np.zeros(self.shape)


@dataclass(frozen=True, kw_only=True)
class PHP(Algorithm):
    """Clusters of cells found by repeated bisection, each spread evenly.

    Every cluster, the widest first, is left or cut in two, with a preference for cuts that lower the sum of |count -
    mean| by more than the noise of one more cluster costs; log2 n times at most on any path. Then one of all the
    clusterings on the way is selected by the same cost, and its clusters are measured. Negative cells become 0.

    Here all open clusters of one depth are decided on at once, which is the publication's order. Depths that no cluster
    reaches leave their budget to the measurement: whether they are reached is decided by what is already released.
    (That happens where nothing is left to cut: short domains, or clear steps at a large budget.)

    The authors' code (``variant="published"``) stops the paid search one depth early; but then, and whenever no
    cluster is open, it cuts the last cluster of its list although that is closed, and what comes out of that
    without limit of depth.

    Privacy
    -------
    Half of epsilon goes to structure. Half of that is divided among the floor(log2 n) depths: at each depth one call
    selects for every open cluster how to cut it; the clusters are disjoint, so a record moves the scores of one of
    them, each by at most 2 (see ``mathematics.deviation``). The other half selects among the clusterings of the trace,
    at sensitivity 2. Neither score is monotone. What is left, at least half of epsilon, measures the totals of disjoint
    clusters: sensitivity 1. The price of a cluster is public. Spreading and clipping at 0 are post-processing.
    """

    name = "PHP"
    paper = "Acs, Castelluccia, Chen: Differentially private histogram publishing through lossy compression, ICDM 2012"
    dimensions = (1,)
    partitioning = True
    not_private = "it goes on cutting closed clusters beyond the depth that it pays for"

    share: float = 0.5
    """Share of epsilon for structure."""
    largest: int = 2000
    """The search ends with more clusters than this."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.share < 1:
            raise InvalidInput(f"share is {shown(self.share)}; give a number between 0 and 1")
        if self.largest < 1:
            raise InvalidInput(f"largest is {shown(self.largest)}; give a whole number of at least 1")

    def estimate_once(self, data: PrivateData, workload: Workload) -> Floats:
        """Search, select a clustering on the way, measure its clusters."""
        del workload
        n = data.domain.size
        structure, counts = split(data.epsilon, self.share)
        price = 1.0 / float(counts)
        # select: one clustering of a search by bisection
        if n == 1:
            labels = np.zeros(1, dtype=np.int64)
        elif self.variant == "published":
            labels = self._published_search(data, structure, price)
        else:
            search, selection = split(structure, Fraction(1, 2))
            decisions = self._search(data, search, price)
            trace = BisectionTrace(decisions.first, decisions.stop, decisions.cut, price)
            labels = decisions.labels(int(data.choose(trace, selection, "one clustering of the trace")), n)
        # measure: one total per cluster
        clusters = int(labels[-1]) + 1
        totals = data.laplace(GroupTotals(labels, clusters), data.epsilon, "totals of the clusters")
        # estimate: the mean of its cluster in every cell, at least 0
        means = np.maximum(totals / np.bincount(labels), 0.0)
        return np.asarray(means[labels])

    def _search(self, data: PrivateData, budget: Fraction, price: float) -> _Decisions:
        """Cut depth by depth; leaves what depths that are not reached would have cost."""
        from dpbench.mathematics.kernels.bisection import parts_of_cuts

        n = data.domain.size
        depths = n.bit_length() - 1
        first, stop = np.zeros(1, dtype=np.int64), np.array([n])
        spend = evenly(budget, depths)
        clusters, history = 1, []
        for depth in range(depths):
            if len(first) == 0 or clusters == n or clusters > self.largest:
                break
            # one private cut, or none, in every open interval
            chosen = data.choose_each(Bisections(first, stop, price), spend, f"cuts at depth {depth + 1}")
            # the parts of every cut, without single cells; no more cuts than the largest number of clusters takes
            most = min(n, self.largest + 1)
            cuts, begin, end, clusters = parts_of_cuts(first, stop, chosen, clusters, most)
            history.append((first[: len(cuts)], stop[: len(cuts)], cuts))
            first, stop = begin, end
        return _Decisions(*(np.concatenate(part) for part in zip(*history, strict=True)))

    def _published_search(self, data: PrivateData, budget: Fraction, price: float) -> Ints:
        """The authors' search on the raw counts, with noise whose only use of the handle is to be drawn by it."""
        from dpbench.mathematics.kernels.bisection import published_bisection

        n = data.domain.size
        depths = n.bit_length() - 1
        search, selection = split(budget, Fraction(1, 2))
        noise = data.laplace(_NoAnswers((2 * min(n, self.largest + 1) + 1,)), budget, "search and selection")
        uniforms = np.exp(-np.abs(noise) * float(budget))
        line = SortedLine(data.reveal("cuts beyond the depth that is paid for"))
        rate = float(search) / depths / 4
        decisions = _Decisions(*published_bisection(line.counts, uniforms[1:], rate, price, depths, self.largest))
        trace = BisectionTrace(decisions.first, decisions.stop, decisions.cut, price)
        logits = trace.score(line) * float(selection) / 4
        weights = np.cumsum(np.exp(logits - logits.max()))
        chosen = int(np.searchsorted(weights, uniforms[0] * weights[-1]))
        return decisions.labels(min(chosen, len(weights) - 1), n)
