"""PrivTree: boxes cut in halves as long as they seem to hold records, at one price for the whole tree.

Zhang, Xiao, Xie. PrivTree: a differentially private algorithm for hierarchical decompositions. SIGMOD 2016.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm
from dpbench.domain import Domain
from dpbench.errors import InvalidInput
from dpbench.mathematics.box_tree import BoxTree
from dpbench.mathematics.groups import GroupTotals
from dpbench.privacy import PrivateData, split
from dpbench.privacy import PrivTree as Decomposition
from dpbench.workloads import Workload

Floats = NDArray[np.float64]


@lru_cache(maxsize=4)
def _tree(domain: Domain) -> BoxTree:
    """The boxes of a domain, kept between calls: they are public."""
    return BoxTree(domain)


@dataclass(frozen=True, kw_only=True)
class PrivTree(Algorithm):
    """A tree of boxes that goes deep where records are: its leaves are counted, and spread evenly over their cells.

    A box is cut where its count, less a penalty that grows with its depth, exceeds ``threshold`` after noise. The
    penalty lets the price of the whole tree be that of a few decisions, so there is no limit of depth to choose. A
    box is halved along its longest axes: a square into quarters. Nothing depends on the workload.

    The publication pads a domain to a square whose side is a power of two; here odd sides are cut into nearly equal
    halves, which leaves no empty boxes to be cut.

    Privacy
    -------
    ``share`` of the budget is spent on the cuts by :class:`dpbench.privacy.PrivTree`, a mechanism with a proof of
    its own: along the path of a record the penalised counts fall by a fixed step per level, so that the losses of its
    decisions form a geometric series. Only the cuts are given out. The rest is spent on one call for the counts of
    the leaves, which are disjoint: one record moves them by 1.
    """

    name = "PrivTree"
    paper = "Zhang, Xiao, Xie: PrivTree, a private algorithm for hierarchical decompositions, SIGMOD 2016"
    notions = ("pure", "zCDP")
    hierarchical = True
    partitioning = True
    consistent = True

    share: float = 0.5
    """Share of the budget for the cuts; the rest counts the leaves."""
    threshold: float = 0.0
    """Count above which a box is rather cut than not, before the penalty for its depth (the paper's theta)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.share < 1:
            raise InvalidInput(f"share is {self.share}; give a share of the budget between 0 and 1, both excluded")
        if not math.isfinite(self.threshold):
            raise InvalidInput(f"threshold is {self.threshold}; give a finite number of records")

    @property
    def exchangeable(self) -> bool:
        """A threshold in records knows the unit of a record."""
        return self.threshold == 0

    def estimate(self, data: PrivateData, workload: Workload) -> Floats:
        """Cuts, counts of the leaves, and each count spread over its cells."""
        del workload
        tree, cells = _tree(data.domain), data.domain.size
        labels = np.zeros((data.trials, cells), dtype=np.int64)

        # cuts: a single cell has none, and all of the budget stays for its count
        if cells > 1:
            cuts = data.ask(
                Decomposition(tree, self.threshold), split(data.budget, self.share)[0], "which boxes to cut"
            )
            labels = np.stack([tree.labels(tree.leaves(cut)) for cut in np.reshape(cuts, (data.trials, tree.nodes))])

        # counts: as many answers as cells whatever the cuts, so that a trial's draws do not depend on the others'
        counts = np.reshape(data.measure(GroupTotals(labels, cells), data.budget, "leaves"), (data.trials, cells))

        # spread
        sizes = np.stack([np.bincount(label, minlength=cells) for label in labels])
        each = counts / np.maximum(sizes, 1)
        return np.take_along_axis(each, labels, axis=1).reshape(data.trials, *data.domain.shape)
