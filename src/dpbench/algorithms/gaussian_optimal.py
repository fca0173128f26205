"""GaussianOptimal: the optimal strategy for Gaussian noise (Li, Hay, Rastogi, Miklau, McGregor, PODS 2010)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm
from dpbench.domain import Domain, DomainLike
from dpbench.errors import Unsupported
from dpbench.mathematics.expected_error import mean_over_queries
from dpbench.mathematics.gaussian_optimal import GaussianOptimal as GaussianOptimalStrategy
from dpbench.mathematics.gaussian_optimal import refuse_long_axes
from dpbench.mathematics.noise_bars import Influence
from dpbench.privacy import PrivateData, Strategy
from dpbench.workloads import Workload


@lru_cache(maxsize=16)
def _strategy(workload: Workload) -> GaussianOptimalStrategy:
    """The strategy, kept between calls: it depends on the workload alone, and a search takes seconds."""
    return GaussianOptimalStrategy.of(workload)


@dataclass(frozen=True, kw_only=True)
class GaussianOptimal(Algorithm):
    """Gaussian noise on the strategy that has the least error of all for the workload; then its inverse.

    The least error over all strategies is a convex problem; it is solved along each axis, with a certificate that the
    result is within a millionth of the optimum. For a product workload the product over axes is optimal as well; for a
    list of boxes each axis is solved by itself. Axes of up to 1,024 cells.

    Privacy
    -------
    One call spends the whole budget on the strategy, whose columns all have an L2 norm of at most 1, rounded up in
    exact arithmetic. The strategy depends on the workload alone. The inverse is post-processing.
    """

    name = "GaussianOptimal"
    paper = "Li, Hay, Rastogi, Miklau, McGregor: Optimizing linear counting queries, PODS 2010"
    data_dependent = False
    notions = ("zCDP",)
    one_measurement = True

    def estimate(self, data: PrivateData, workload: Workload) -> NDArray[np.float64]:
        """Noisy answers to the strategy, inverted along each axis."""
        strategy = _strategy(workload)
        return strategy.reconstruct(data.measure(strategy, data.budget, "optimal strategy for Gaussian noise"))

    def supports(self, domain: DomainLike) -> bool:
        """Whether no axis is too long for the search."""
        return not refuse_long_axes(Domain.of(domain))

    def _check_domain(self, domain: Domain, workload: Workload) -> None:
        """As for every algorithm; a long axis is refused in words of its own."""
        if why := refuse_long_axes(domain):
            raise Unsupported(why)
        super()._check_domain(domain, workload)

    def _prepare(self, workload: Workload) -> None:
        """Find the strategy."""
        _strategy(workload)

    def influence(self, workload: Workload) -> Influence:
        """By the inverse, transposed."""
        return _strategy(workload).influence

    def measurement(self, workload: Workload) -> tuple[Strategy, float]:
        """The strategy; the variance of a box is the product of those along its axes."""
        strategy = _strategy(workload)
        return strategy, mean_over_queries(workload, strategy.range_variances)
