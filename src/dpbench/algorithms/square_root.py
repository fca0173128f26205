"""SquareRoot: the square root factorisation of prefix sums (Henzinger, Upadhyay, Upadhyay, SODA 2023)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm
from dpbench.mathematics.expected_error import mean_over_queries
from dpbench.mathematics.noise_bars import Influence
from dpbench.mathematics.square_root import SquareRoot as SquareRootStrategy
from dpbench.privacy import PrivateData, Strategy
from dpbench.workloads import Workload


@dataclass(frozen=True, kw_only=True)
class SquareRoot(Algorithm):
    """Gaussian noise on A x, where A is the square root of the matrix of all prefixes; then its inverse.

    Within a few per cent of the least error that Gaussian noise can have on prefixes, in closed form and without a
    search. It is meant for prefixes; any workload of ranges on one axis can be answered from it.

    Privacy
    -------
    One call spends the whole budget on A x. Cell 0 enters every answer and moves them most: the squared L2 sensitivity
    is the sum of the squared coefficients, in exact arithmetic. The inverse is post-processing.
    """

    name = "SquareRoot"
    paper = "Henzinger, Upadhyay, Upadhyay: Almost tight error bounds on continual counting, SODA 2023"
    dimensions = (1,)
    data_dependent = False
    notions = ("zCDP",)
    one_measurement = True

    def estimate(self, data: PrivateData, workload: Workload) -> NDArray[np.float64]:
        """Noisy answers to A x, inverted."""
        del workload
        strategy = SquareRootStrategy(data.domain)
        return strategy.reconstruct(data.measure(strategy, data.budget, "square root of the prefixes"))

    def influence(self, workload: Workload) -> Influence:
        """By the inverse, transposed."""
        return SquareRootStrategy(workload.domain).influence

    def measurement(self, workload: Workload) -> tuple[Strategy, float]:
        """A x; the variance of a range is known in closed form."""
        strategy = SquareRootStrategy(workload.domain)
        return strategy, mean_over_queries(workload, strategy.range_variances)
