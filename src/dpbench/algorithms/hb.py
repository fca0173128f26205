"""Hb: a hierarchy whose branching factor fits the domain.

Qardaji, Yang, Li. Understanding hierarchical methods for differentially private histograms. PVLDB 6(14), 2013.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm, by_variant
from dpbench.domain import Domain
from dpbench.mathematics.integers import ceiling_log
from dpbench.mathematics.least_squares import TreeLeastSquares, complete_tree_solver, complete_tree_variance
from dpbench.mathematics.noise_bars import Influence
from dpbench.privacy import PrivateData, Strategy
from dpbench.workloads import Workload


@lru_cache(maxsize=64)
def branching_factor(side: int, axes: int) -> int:
    """The b in 2 ... side with the least average variance of a range, by the publication's rule; kept between calls.

    With h = ceil(log_b side), the variance of a range answered by adding up noisy nodes is, up to a constant,
    (b - 1) h^3 - 2 (b + 1) h^2 / 3 on one axis, and on d >= 2 axes h^2 (b - 1) b^(d-1) (n^(d-1) - 1) / (b^(d-1) - 1),
    which for two axes is the publication's b (n - 1) h^2. b = side is the flat histogram. The smallest b wins ties.
    """

    def variance(b: int) -> float:
        h = ceiling_log(side, b)
        if axes == 1:
            return (b - 1) * h**3 - 2 / 3 * (b + 1) * h**2
        return float(h**2 * (b - 1) * b ** (axes - 1) * (side ** (axes - 1) - 1) / (b ** (axes - 1) - 1))

    return min(range(2, max(side, 2) + 1), key=variance)


@dataclass(frozen=True, kw_only=True)
class Hb(Algorithm):
    """A tree of box counts with the branching factor that suits the domain, made consistent by least squares.

    Any number of axes: a node is cut into b parts along each. A domain with unequal sides takes its b from
    the geometric mean of the sides and its height from the longest; shorter sides are padded with zeros, and axes of
    one cell are left alone.

    The publication does not measure the root, whose count least squares recovers from its children; that is the
    default, and it lowers the error on Prefix at n = 4096 by a tenth. The authors' 1-D code measures it, which
    ``variant="published"`` does too.

    Privacy
    -------
    One call spends the whole budget on the h levels below the root (and on the root where it is measured). A record is
    in one node of each measured level: it moves the answers by their number. Least squares is post-processing.
    """

    name = "Hb"
    paper = "Qardaji, Yang, Li: Understanding hierarchical methods for differentially private histograms, PVLDB 2013"
    data_dependent = False
    notions = ("pure", "zCDP")
    one_measurement = True
    hierarchical = True

    root: bool = by_variant(private=False, published=True)
    """Measure the root too, on one axis (on several the authors' code does not measure it either)."""

    def estimate(self, data: PrivateData, workload: Workload) -> NDArray[np.float64]:
        """Noisy counts of the nodes, then least squares."""
        del workload
        tree = self._solver(data.domain)
        return tree.solve(data.measure(tree.strategy, data.budget, "tree, all levels alike"))

    def influence(self, workload: Workload) -> Influence:
        """By the two passes, backwards."""
        return self._solver(workload.domain).influence

    def measurement(self, workload: Workload) -> tuple[Strategy, float]:
        """The tree; in closed form, since the complete tree has one precision per level."""
        domain = workload.domain
        error = complete_tree_variance(workload, self._branching(domain), self._weights(domain))
        return self._solver(domain).strategy, float(error)

    @staticmethod
    def _branching(domain: Domain) -> int:
        """The branching factor for a domain."""
        axes = max(sum(side > 1 for side in domain), 1)
        mean_side = isqrt(domain.size) if axes == 2 else int(round(domain.size ** (1 / axes), 9))
        return branching_factor(mean_side, axes)

    def _weights(self, domain: Domain) -> NDArray[np.float64]:
        weights = np.ones(ceiling_log(max(domain), self._branching(domain)) + 1)
        if len(weights) > 1 and not (self.root and domain.ndim == 1):
            weights[0] = 0.0
        return weights

    def _solver(self, domain: Domain) -> TreeLeastSquares:
        return complete_tree_solver(domain, self._branching(domain), tuple(self._weights(domain)))
