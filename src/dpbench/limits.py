"""The limit: the expected squared error per query that no unbiased strategy is below."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache, total_ordering

from dpbench.errors import InvalidInput, UnknownName, Unsupported
from dpbench.mathematics.least_error import dual_bound, singular_bound
from dpbench.privacy import read_epsilon
from dpbench.privacy.conversion import gaussian_sigma
from dpbench.workloads import Workload

METHODS = {"svd": singular_bound, "dual": dual_bound}


@total_ordering
@dataclass(frozen=True, eq=False)
class Limit:
    """A bound on the expected squared error per query; a number that says what it bounds."""

    value: float
    epsilon: float
    delta: float
    unit: float
    """The bound for noise of variance 1 and L2 sensitivity 1."""
    attained: float
    """What the best strategy's error is at most for such noise; infinity where the method does not find out."""
    method: str
    """svd or dual."""

    @property
    def any_noise(self) -> float:
        """The bound of every unbiased mechanism, linear or not, with noise of any kind, under pure epsilon.

        The chi-square divergence between neighbours is at most e^epsilon + e^-epsilon - 2, so by Hammersley, Chapman
        and Robbins the covariance of an unbiased mechanism, times that, is feasible where P2 is a minimum.
        """
        if self.delta:
            raise Unsupported(f"the bound for noise of any kind holds for delta 0, and delta is {self.delta:g}")
        return self.unit / (2 * math.sinh(self.epsilon / 2)) ** 2

    def __float__(self) -> float:
        return self.value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Limit | int | float) and self.value == float(other)

    def __lt__(self, other: Limit | float) -> bool:
        return self.value < float(other)

    def __hash__(self) -> int:
        return hash(self.value)

    def __str__(self) -> str:
        noise = "Gaussian" if self.delta else "Laplace"
        budget = f"epsilon {self.epsilon:g}" + (f" and delta {self.delta:g}" if self.delta else "")
        return (
            f"{self.value:.6g}: at {budget} no unbiased strategy with {noise} noise has a smaller expected squared "
            f"error per query; biased and data-dependent algorithms may, by as much as structure in the data is worth"
        )


def limit(workload: Workload, epsilon: float, *, delta: float = 0.0, method: str = "svd") -> Limit:
    """The expected squared error per query that no unbiased strategy is below.

    Under Laplace noise (delta 0) it is 2 P2 / epsilon^2, because a column of L1 norm 1 has an L2 norm of at most 1;
    under Gaussian noise sigma^2 P2, which is attained. ``method="svd"`` bounds P2 by singular values in seconds, within
    a few per cent; "dual" iterates until it is known to a millionth, on axes of up to 2,048 cells.
    """
    if method not in METHODS:
        raise UnknownName.among("method", method, METHODS)
    budget = float(read_epsilon(epsilon))
    if isinstance(delta, bool) or not isinstance(delta, int | float) or not 0 <= delta < 1:
        raise InvalidInput(f"delta is {delta!r}; give 0, or a number below 1 such as 1e-9")
    unit, attained = _bounds(workload, method)
    variance = float(gaussian_sigma(budget, delta)) ** 2 if delta else 2.0 / budget**2
    return Limit(variance * unit, budget, float(delta), unit, attained, method)


@lru_cache(maxsize=128)
def _bounds(workload: Workload, method: str) -> tuple[float, float]:
    return METHODS[method](workload)
