"""H: a binary hierarchy of counts with equal noise on every level.

Hay, Rastogi, Miklau, Suciu. Boosting the accuracy of differentially private histograms through consistency.
PVLDB 3(1), 2010.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm
from dpbench.domain import Domain
from dpbench.mathematics.integers import ceiling_log
from dpbench.mathematics.least_squares import TreeLeastSquares, complete_tree_solver, complete_tree_variance
from dpbench.mathematics.noise_bars import Influence
from dpbench.privacy import PrivateData, Strategy
from dpbench.workloads import Workload


@dataclass(frozen=True, kw_only=True)
class H(Algorithm):
    """A tree of interval counts, root to cells, all with the same noise, made consistent by least squares.

    The domain is padded with zeros to a power of the branching factor. Answers may be negative: the
    publication's non-negativity heuristic is not used, as in the paper.

    Privacy
    -------
    One call spends the whole budget on the h + 1 levels of the tree, the root included. A record is in one node of each
    level: it moves the answers by h + 1. Least squares is post-processing.
    """

    name = "H"
    paper = "Hay, Rastogi, Miklau, Suciu: Boosting the accuracy of differentially private histograms, PVLDB 2010"
    dimensions = (1,)
    data_dependent = False
    notions = ("pure", "zCDP")
    one_measurement = True
    hierarchical = True
    bounds: ClassVar[Mapping[str, tuple[int, int]]] = {"branching": (2, 2**16)}

    branching: int = 2
    """Children of a node."""

    def estimate(self, data: PrivateData, workload: Workload) -> NDArray[np.float64]:
        """Noisy counts of all nodes, then least squares."""
        del workload
        tree = self._solver(data.domain)
        return tree.solve(data.measure(tree.strategy, data.budget, "tree, all levels alike"))

    def influence(self, workload: Workload) -> Influence:
        """By the two passes, backwards."""
        return self._solver(workload.domain).influence

    def measurement(self, workload: Workload) -> tuple[Strategy, float]:
        """The tree; in closed form, since the complete tree has one precision per level."""
        domain = workload.domain
        error = complete_tree_variance(workload, self.branching, self._weights(domain))
        return self._solver(domain).strategy, error

    def _weights(self, domain: Domain) -> NDArray[np.float64]:
        return np.ones(ceiling_log(domain.size, self.branching) + 1)

    def _solver(self, domain: Domain) -> TreeLeastSquares:
        return complete_tree_solver(domain, self.branching, tuple(self._weights(domain)))
