"""HybridTree: boxes cut at private medians, then into quadrants.

Cormode, Procopiuc, Srivastava, Shen, Yu. Differentially private spatial decompositions. ICDE 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm
from dpbench.domain import Domain
from dpbench.errors import InvalidInput
from dpbench.mathematics.grid import BoxCounts, MedianCuts, box_tree
from dpbench.mathematics.least_squares import TreeLeastSquares
from dpbench.mathematics.tree import Tree
from dpbench.privacy import PrivateData, evenly, split
from dpbench.privacy.mechanisms.grouped import GroupedGumbelMax
from dpbench.workloads import Workload

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@lru_cache(maxsize=32)
def _weights(height: int) -> Floats:
    """Of the counts of every depth; they grow by 2^(1/3) a depth and add up to 1."""
    growth = 2.0 ** (np.arange(height + 1) / 3)
    return np.asarray(growth / growth.sum())


@dataclass(frozen=True, kw_only=True)
class HybridTree(Algorithm):
    """A tree of boxes: cut at noisy medians near the root, at the middle further down; least squares on its counts.

    A box is cut along one axis, and each part along the other; which comes first alternates with the depth. The
    first ``kd_levels`` depths cut where about half of the box's records are on either side, so that dense regions get
    small boxes; the others cut at the middle. A single cell is a leaf. A leaf of several cells is spread evenly.

    The paper describes the algorithm and has no figures for it, and its authors' code does not have it, so there
    is no published form to differ. The publication's selection of a median spends half of what it is charged: it
    takes the score to move by 1 with a record, and it moves by 1/2; ``tight`` uses that. Counts have budgets that grow
    by 2^(1/3) a depth. A box that becomes a single cell early is measured once, with all that its path has left for
    counts. The publication's pruning of small counts is left out, as it is in QuadTree.

    A cut at a median may take off a single row, so leaves are sure to be single cells only on sides up to
    2^(height - kd_levels), 32 by default: there the error goes to 0 as epsilon grows, which is what ``consistent``
    says; on larger domains a bias may stay.

    Privacy
    -------
    The share ``median_share`` is for medians, in 2 * kd_levels equal portions. At each of those depths one call
    selects the first cuts of all boxes and one the second cuts of all their parts. The regions of one call are
    disjoint, so all its selections together cost one portion. A record moves the score of a cut, minus the distance of
    the records below it from half of the box's, by 1/2. Where no box can be cut along an axis nothing is asked, and
    the portion goes to the counts; what can be cut is known from earlier cuts. One last call spends all that is left
    on the counts of the tree, weighted so that the weights on every path from the root to a leaf add up to 1: one
    record moves the answers by 1. Least squares is post-processing.
    """

    name = "HybridTree"
    paper = "Cormode, Procopiuc, Srivastava, Shen, Yu: Differentially private spatial decompositions, ICDE 2012"
    dimensions = (2,)
    hierarchical = True
    partitioning = True
    consistent = True

    height: int = 8
    """Cuts from the root to a leaf at most."""
    kd_levels: int = 3
    """Depths, from the root, that are cut at medians."""
    median_share: float = 0.3
    """Share of epsilon for the medians."""
    tight: bool = True
    """Select medians with the score's own sensitivity, 1/2, not the publication's 1."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.height <= 31:
            raise InvalidInput(f"height is {self.height}; give a whole number from 0 to 31")
        if not 0 <= self.kd_levels <= self.height:
            raise InvalidInput(f"kd_levels is {self.kd_levels}; give a whole number from 0 to the height {self.height}")
        if not 0 < self.median_share < 1:
            raise InvalidInput(f"median_share is {self.median_share}; give a share between 0 and 1, both excluded")

    def estimate_once(self, data: PrivateData, workload: Workload) -> Floats:
        """Cuts, then noisy counts of all boxes, then least squares."""
        del workload
        # select: a tree of boxes
        tree = TreeLeastSquares(self._grow(data))
        # measure: a count per box; estimate: least squares
        return np.asarray(tree.solve(data.laplace(tree.strategy, data.epsilon, "counts of the tree")[None])[0])

    def _grow(self, data: PrivateData) -> Tree:
        """The tree, from the root down."""
        from dpbench.mathematics.kernels.boxes import quarters

        portion = evenly(split(data.epsilon, self.median_share)[0], 2 * max(self.kd_levels, 1))
        domain = data.domain
        lower = np.zeros((1, 2), dtype=np.int64)
        upper = np.array([domain.shape], dtype=np.int64)
        levels = []
        for depth in range(self.kd_levels):
            low, high, fanout = self._cut_at_medians(data, domain, lower, upper, depth % 2, portion)
            levels.append((lower, upper, fanout))
            lower, upper = low, high
            if len(lower) == 0:
                break
        depths, above = self.height - self.kd_levels, sum(len(level[2]) for level in levels)
        low, high, fanout, begins = quarters(lower, upper, self.kd_levels % 2, depths, above)
        ends = [0]
        for level in levels:
            start, stop = ends[-1], ends[-1] + len(level[2])
            low[start:stop], high[start:stop], fanout[start:stop] = level
            ends.append(stop)
        return box_tree(domain, low, high, fanout, np.array(ends[1:] + begins.tolist()[1:]), _weights(self.height))

    def _cut_at_medians(
        self, data: PrivateData, domain: Domain, lower: Ints, upper: Ints, first: int, portion: Fraction
    ) -> tuple[Ints, Ints, Ints]:
        """Cut every box along axis ``first``, then every part along the other; a single cell has no parts."""
        from dpbench.mathematics.kernels.boxes import cut_boxes, long_boxes

        boxes = len(lower)
        owner = chosen = np.arange(boxes)
        for axis in (first, 1 - first):
            # a private median per box, boxes that are one cell wide without
            low, high = long_boxes(lower, upper, axis)
            if len(low):
                medians = MedianCuts(BoxCounts(domain, low, high), axis, self.tight)
                chosen = data.ask(GroupedGumbelMax(medians), portion, f"medians along axis {axis}")
            lower, upper, owner = cut_boxes(lower, upper, axis, chosen, owner, axis != first)
        return lower, upper, np.bincount(owner, minlength=boxes)
