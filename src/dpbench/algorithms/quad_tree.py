"""QuadTree: squares cut into four, again and again, with a budget that grows towards the leaves.

Cormode, Procopiuc, Srivastava, Shen, Yu. Differentially private spatial decompositions. ICDE 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm, by_variant
from dpbench.domain import Domain
from dpbench.errors import InvalidInput, UnknownName, Unsupported
from dpbench.mathematics.authors_tree import RawPrecision, raw_precision_variance
from dpbench.mathematics.integers import ceiling_log
from dpbench.mathematics.least_squares import TreeLeastSquares, complete_tree_variance
from dpbench.mathematics.noise_bars import Influence
from dpbench.mathematics.tree import complete_tree_of_blocks
from dpbench.privacy import PrivateData, Strategy
from dpbench.workloads import Workload

Floats = NDArray[np.float64]
Budget = Literal["geometric", "uniform"]
Inference = Literal["ols", "ref"]

UNCAPPED = 31
"""A height that no domain reaches."""


def level_weights(height: int, budget: Budget) -> Floats:
    """Shares of epsilon of the depths 0 ... height, root first: growing by 2^(1/3) a depth, or equal."""
    growth = 2.0 ** (np.arange(height + 1) / 3) if budget == "geometric" else np.ones(height + 1)
    return np.asarray(growth / growth.sum())


@lru_cache(maxsize=16)
def _solver(domain: Domain, levels: int, budget: Budget, inference: Inference) -> TreeLeastSquares:
    """The tree and its two passes, kept between calls: they depend on public things alone."""
    tree = complete_tree_of_blocks(domain, 2, ceiling_log(max(domain), 2), level_weights(levels, budget))
    return TreeLeastSquares(tree) if inference == "ols" else RawPrecision(tree)


@dataclass(frozen=True, kw_only=True)
class QuadTree(Algorithm):
    """Noisy counts of nested squares, the small ones with most of the budget, made consistent by least squares.

    The domain is padded with zeros to a square whose side is a power of two (an axis of one cell stays as it is and
    is not cut), and cut into quadrants down to single cells, or to ``height`` cuts where that is less: then a leaf is a
    block, and its count is spread evenly over those of its cells that are in the domain. So on domains of up to
    2^height cells a side, 1024 by default, the error does not depend on the data, :meth:`expected_error` knows it, and
    it goes to 0 as epsilon grows; on larger ones a bias stays. ``data_dependent`` is what the paper's Table 1 says;
    ``consistent`` is said of the former.

    The publication also prunes the tree below small noisy counts; neither the paper nor its authors' code does. The
    authors' code has no limit of height, and its upward pass weighs a node against its children's own counts where
    least squares weighs it against their averages, which costs one per cent of the squared error:
    ``variant="published"``.

    Privacy
    -------
    One call spends the whole budget on the counts of all nodes, each weighted with its depth's share. A record is in
    one node of each depth: it moves the answers by the sum of the shares, which is 1. Structure and shares depend on
    the domain alone. Both passes are post-processing.
    """

    name = "QuadTree"
    paper = "Cormode, Procopiuc, Srivastava, Shen, Yu: Differentially private spatial decompositions, ICDE 2012"
    dimensions = (2,)
    notions = ("pure", "zCDP")
    one_measurement = True
    hierarchical = True
    partitioning = True
    consistent = True

    height: int = by_variant(private=10, published=UNCAPPED)
    """Cuts from the root to a leaf at most (the paper's c)."""
    budget: Budget = "geometric"
    """Shares of epsilon by depth: "geometric", growing by 2^(1/3), or "uniform"."""
    inference: Inference = by_variant(private="ols", published="ref")
    """Least squares, or the weights of the authors' code."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.height <= UNCAPPED:
            raise InvalidInput(f"height is {self.height}; give a whole number from 0 to {UNCAPPED}")
        if self.budget not in ("geometric", "uniform"):
            raise UnknownName.among("budget", self.budget, ("geometric", "uniform"))
        if self.inference not in ("ols", "ref"):
            raise UnknownName.among("inference", self.inference, ("ols", "ref"))

    def estimate(self, data: PrivateData, workload: Workload) -> Floats:
        """Noisy counts of all nodes, then the two passes."""
        del workload
        tree = _solver(data.domain, self._levels(data.domain), self.budget, self.inference)
        return tree.solve(data.measure(tree.strategy, data.budget, f"quadtree, {self.budget} budget"))

    def influence(self, workload: Workload) -> Influence:
        """By the two passes, backwards."""
        return _solver(workload.domain, self._levels(workload.domain), self.budget, self.inference).influence

    def measurement(self, workload: Workload) -> tuple[Strategy, float]:
        """The nodes; in closed form where leaves are cells, since the complete tree has one precision per level."""
        domain = workload.domain
        levels = self._levels(domain)
        if 2**levels < max(domain):
            raise Unsupported(
                f"QuadTree of height {self.height} depends on the data on {domain}, where its leaves are blocks; "
                f"use height={ceiling_log(max(domain), 2)} or run it"
            )
        variance = complete_tree_variance if self.inference == "ols" else raw_precision_variance
        tree = _solver(domain, levels, self.budget, self.inference)
        return tree.strategy, variance(workload, 2, level_weights(levels, self.budget))

    def _levels(self, domain: Domain) -> int:
        return min(self.height, ceiling_log(max(domain), 2))
