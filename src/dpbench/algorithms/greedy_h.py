"""GreedyH: a binary hierarchy whose weights fit the workload.

Li, Hay, Miklau. A data- and workload-aware algorithm for range queries under differential privacy. PVLDB 7(5), 2014.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm, by_variant
from dpbench.errors import UnknownName, Unsupported
from dpbench.mathematics.greedy import greedy_tree
from dpbench.mathematics.leaf_images import Objective
from dpbench.mathematics.least_squares import TreeLeastSquares
from dpbench.mathematics.noise_bars import Influence
from dpbench.privacy import PrivateData, Strategy
from dpbench.workloads import Workload


@lru_cache(maxsize=32)
def _solver(workload: Workload, branching: int, steps: int, objective: Objective) -> TreeLeastSquares:
    """The strategy for a workload, kept between calls: it depends on public things alone."""
    return TreeLeastSquares(greedy_tree(workload, branching, steps, objective))


@dataclass(frozen=True, kw_only=True)
class GreedyH(Algorithm):
    """A tree of interval counts, each with the weight that a greedy search finds best for the workload.

    Going up from the cells, each node decides what share of the weight its own count deserves. Nodes without weight
    are not measured; a run of cells that no query tells apart is measured as one. Two axes are laid along the
    Hilbert curve. The strategy is built once for a workload and kept.

    ``objective="gram"`` is what the authors' code minimises: it hands the matrix W^T W to formulas written for W, and
    so fits the "workload" W^T W. "workload" is the intended trace. Neither dominates; "gram" is better on Prefix
    (83.4 against 86.4 squared error per query at n = 256) and is what the paper's figures used, so it is the default.

    The authors' 2-D code truncates its output to whole numbers, which biases it by half a record per populated cell:
    ``truncate``, off by default and on in ``variant="published"``.

    Privacy
    -------
    One call spends all of epsilon on the weighted counts. The weights on every path from the root to a cell add up to
    1, so one record moves the answers by 1. The workload is public. Least squares and truncation are post-processing.
    """

    name = "GreedyH"
    paper = "Li, Hay, Miklau: A data- and workload-aware algorithm for range queries, PVLDB 2014"
    dimensions = (1, 2)
    data_dependent = False
    notions = ("pure", "zCDP")
    one_measurement = True
    hierarchical = True
    bounds: ClassVar[Mapping[str, tuple[int, int]]] = {"branching": (2, 2**16), "steps": (2, 10_000)}

    branching: int = 2
    """Children of a node."""
    steps: int = 100
    """Weights are multiples of one over this number."""
    objective: Objective = "gram"
    """What the weights are chosen for: "gram" (the authors' code) or "workload" (their formulas)."""
    truncate: bool = by_variant(private=False, published=True)
    """Truncate the estimate towards zero on two axes, as the authors' code does."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.objective not in ("gram", "workload"):
            raise UnknownName.among("objective", self.objective, ("gram", "workload"))

    @property
    def consistent(self) -> bool:
        """Truncation to whole numbers leaves a bias that no epsilon removes."""
        return not self.truncate

    @property
    def exchangeable(self) -> bool:
        """Truncation cuts by whole numbers whatever the scale."""
        return not self.truncate

    def estimate(self, data: PrivateData, workload: Workload) -> NDArray[np.float64]:
        """Weighted noisy counts, then least squares."""
        tree = _solver(workload, self.branching, self.steps, self.objective)
        estimate = tree.solve(data.measure(tree.strategy, data.budget, "weighted tree"))
        return np.trunc(estimate) if self.truncate and data.domain.ndim == 2 else estimate

    def _prepare(self, workload: Workload) -> None:
        """Build the strategy."""
        _solver(workload, self.branching, self.steps, self.objective)

    def influence(self, workload: Workload) -> Influence:
        """By the two passes, backwards."""
        return _solver(workload, self.branching, self.steps, self.objective).influence

    def measurement(self, workload: Workload) -> tuple[Strategy, float]:
        """The weighted tree; from the recurrences on it."""
        if self.truncate and workload.domain.ndim == 2:
            raise Unsupported("GreedyH with truncate=True depends on the data in 2-D; use truncate=False or run it")
        tree = _solver(workload, self.branching, self.steps, self.objective)
        return tree.strategy, tree.mean_variance(workload)
