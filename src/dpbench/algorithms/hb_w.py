"""HbW: a hierarchy whose branchings and weights fit the workload.

After Qardaji, Yang, Li. Understanding hierarchical methods for differentially private histograms. PVLDB 6(14), 2013.
Level weights: Cormode, Procopiuc, Srivastava, Shen, Yu. Differentially private spatial decompositions. ICDE 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm
from dpbench.domain import Domain
from dpbench.mathematics.block_tree import block_tree
from dpbench.mathematics.least_squares import TreeLeastSquares
from dpbench.mathematics.noise_bars import Influence
from dpbench.mathematics.weighted_tree import Hierarchy, fit_hierarchy, hierarchy_variance
from dpbench.privacy import PrivateData, Strategy
from dpbench.workloads import Workload


@lru_cache(maxsize=16)
def _solver(domain: Domain, hierarchy: Hierarchy) -> TreeLeastSquares:
    """The tree and its two passes, kept between calls: they depend on public things alone."""
    return TreeLeastSquares(block_tree(domain, hierarchy.sides, hierarchy.weights))


@dataclass(frozen=True, kw_only=True)
class HbW(Algorithm):
    """A tree of box counts, with the block sides and level weights that err least on the workload; then least squares.

    Hb takes one branching factor for all levels by a rule, and weighs levels alike. Here all hierarchies of up to four
    levels are tried, each level with a branching of its own, and the error of each is known in closed form, so the
    choice takes a second and comes to a few numbers that can be read: at 4,096 cells and prefixes, blocks of 1,260, 140
    and 14 cells and the cells themselves, with weights .23, .23, .24 and .30. The root is measured where that helps. A
    list of random ranges is replaced by the distribution that it was drawn from.

    Any number of axes: blocks are squares, cut off where an axis is shorter. For wide rectangles a product of
    strategies along the axes (HDMM) is better.

    Privacy
    -------
    One call spends the whole budget on the counts of all measured levels, each weighted. A record is in one block of
    each level, and the weights of the levels add up to 1: one record moves the answers by 1. Blocks and weights depend
    on the workload alone. Least squares is post-processing.
    """

    name = "HbW"
    paper = "after Qardaji, Yang, Li: Understanding hierarchical methods for private histograms, PVLDB 2013"
    data_dependent = False
    notions = ("pure", "zCDP")
    one_measurement = True
    hierarchical = True

    def estimate(self, data: PrivateData, workload: Workload) -> NDArray[np.float64]:
        """Noisy weighted counts of the blocks, then least squares."""
        tree = _solver(data.domain, fit_hierarchy(workload))
        return tree.solve(data.measure(tree.strategy, data.budget, "tree, levels weighted for the workload"))

    def prepare(self, workload: Workload) -> None:
        """Choose the hierarchy."""
        _solver(workload.domain, fit_hierarchy(workload))

    def influence(self, workload: Workload) -> Influence:
        """By the two passes, backwards."""
        return _solver(workload.domain, fit_hierarchy(workload)).influence

    def measurement(self, workload: Workload) -> tuple[Strategy, float]:
        """The weighted blocks; in closed form, since blocks of a level are alike."""
        hierarchy = fit_hierarchy(workload)
        return _solver(workload.domain, hierarchy).strategy, hierarchy_variance(workload, hierarchy)
