"""HbW: a hierarchy whose branchings and weights fit the workload.

After Qardaji, Yang, Li. Understanding hierarchical methods for differentially private histograms. PVLDB 6(14), 2013.
Level weights: Cormode, Procopiuc, Srivastava, Shen, Yu. Differentially private spatial decompositions. ICDE 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm, ErrorBars, NoiseBars, Outcome, finite_error
from dpbench.domain import Domain
from dpbench.mathematics.block_tree import block_tree
from dpbench.mathematics.least_squares import TreeLeastSquares
from dpbench.mathematics.weighted_tree import Hierarchy, fit_hierarchy, hierarchy_variance
from dpbench.privacy import Notion, PrivateData
from dpbench.workloads import Workload

NORMS = {"pure": 1, "zCDP": 2}
"""By which norm the weights of the levels are paid for."""
NUMBERS_PER_CELL = 60
"""What the choice of a hierarchy takes."""


def _hierarchy(workload: Workload, notion: Notion) -> Hierarchy:
    return fit_hierarchy(workload, NORMS[notion.name])


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

    With Gaussian noise a level costs the square of its weight. Then blocks are halved from level to level, with the
    best weights: on a line of a power of two that errs as little as weighted Haar wavelets.

    Any number of axes: blocks are squares, cut off where an axis is shorter. For wide rectangles a product of
    strategies along the axes (HDMM) is better.

    Privacy
    -------
    One call spends the whole budget on the counts of all measured levels, each weighted. A record is in one block of
    each level, and the weights of the levels add up to 1: one record moves the answers by 1. With Gaussian noise the
    squares of the weights add up to the squared L2 sensitivity, about 1 and exact. Blocks and weights depend on the
    workload and the notion of privacy alone. Least squares is post-processing.
    """

    name = "HbW"
    paper = "after Qardaji, Yang, Li: Understanding hierarchical methods for private histograms, PVLDB 2013"
    data_dependent = False
    notions = ("pure", "zCDP")
    one_measurement = True
    hierarchical = True

    def estimate(self, data: PrivateData, workload: Workload) -> NDArray[np.float64]:
        """Noisy weighted counts of the blocks, then least squares."""
        tree = _solver(data.domain, _hierarchy(workload, data.ledger.notion))
        return tree.solve(data.measure(tree.strategy, data.budget, "tree, levels weighted for the workload"))

    def _prepare(self, workload: Workload) -> None:
        """Choose the hierarchy of each notion."""
        for norm in NORMS.values():
            _solver(workload.domain, fit_hierarchy(workload, norm))

    def expected_error(
        self, workload: Workload, epsilon: object = None, *, delta: object = None, rho: object = None
    ) -> float:
        """That of the notion's hierarchy, in closed form, since blocks of a level are alike."""
        notion = self.notion(epsilon, delta, rho)
        domain = Workload.insist(workload).domain
        self._check_domain(domain.afford(NUMBERS_PER_CELL * domain.size), workload)
        hierarchy = _hierarchy(workload, notion)
        strategy = _solver(workload.domain, hierarchy).strategy
        return finite_error(notion._noise_variance(strategy) * hierarchy_variance(workload, hierarchy))

    def error_bars(self, outcome: Outcome) -> ErrorBars:
        """From the noise, by the two passes backwards, with the notion's hierarchy."""
        workload = Workload.insist(outcome.workload)
        tree = _solver(workload.domain, _hierarchy(workload, outcome.ledger.notion))
        return NoiseBars.of(outcome, tree.influence, tree.strategy, self.name)
