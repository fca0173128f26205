"""The limit: the expected squared error per query that no unbiased strategy is below."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache, total_ordering

import numpy as np

from dpbench.errors import InvalidInput, UnknownName, Unsupported, shown
from dpbench.given import real
from dpbench.mathematics.least_error import dual_bound, singular_bound
from dpbench.privacy import ZCDP, Notion, PureDP, read_budget
from dpbench.workloads import Prefix, Ranges, Workload
from dpbench.workloads.ranges import LARGEST_WEIGHT

DELTAS = "0, or a number below 1 such as 1e-9"
METHODS = {"svd": singular_bound, "dual": dual_bound}
FAR = 1e50
"""Weights above it, and below one over it, have fourth powers that floats do not hold."""


@total_ordering
@dataclass(frozen=True, eq=False)
class Limit:
    """A bound on the expected squared error per query; a number that says what it bounds."""

    value: float
    budget: Notion
    """The budget; an (epsilon, delta) as that of one Gaussian measurement."""
    unit: float
    """The bound for noise of variance 1 and L2 sensitivity 1."""
    attained: float
    """What the best strategy's error is at most for such noise; infinity where the method does not find out."""
    method: str
    """svd or dual."""

    @property
    def noise(self) -> str:
        """The noise of the strategies that it bounds."""
        return "Laplace" if isinstance(self.budget, PureDP) else "Gaussian"

    @property
    def any_noise(self) -> float:
        """The bound of every unbiased mechanism, linear or not, with noise of any kind, under pure epsilon or rho-zCDP.

        The chi-square divergence between neighbours is at most e^epsilon + e^-epsilon - 2, or e^(2 rho) - 1, so by
        Hammersley, Chapman and Robbins the covariance of an unbiased mechanism, times that, is feasible where P2 is a
        minimum.
        """
        if isinstance(self.budget, PureDP):
            epsilon = float(self.budget.epsilon)
            return self.unit * math.exp(-epsilon) / math.expm1(-epsilon) ** 2
        if self.budget.stated:
            delta = float(self.budget.stated[1])
            raise Unsupported(f"the bound for noise of any kind holds for delta 0, and delta is {delta:g}; give rho")
        rho = float(self.budget.rho)
        return self.unit * math.exp(-2 * rho) / -math.expm1(-2 * rho)

    def __float__(self) -> float:
        return self.value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Limit | int | float) and self.value == float(other)

    def __lt__(self, other: Limit | float) -> bool:
        return self.value < float(other)

    def __hash__(self) -> int:
        return hash(self.value)

    def __str__(self) -> str:
        return f"{self.value:.6g}: at {self.budget_words} {self.words}"

    @property
    def words(self) -> str:
        """What it bounds and what it does not."""
        return (
            f"no unbiased strategy with {self.noise} noise has a smaller expected squared error per query; biased and "
            f"data-dependent algorithms may, by as much as structure in the data is worth"
        )

    @property
    def budget_words(self) -> str:
        """The budget as it was given."""
        if isinstance(self.budget, ZCDP) and self.budget.stated:
            epsilon, delta = map(float, self.budget.stated)
            return f"epsilon {epsilon:g} and delta {delta:g}"
        return f"{self.budget.unit} {float(self.budget.amount):g}"


def limit(
    workload: Workload,
    epsilon: object = None,
    *,
    delta: float = 0.0,
    rho: object = None,
    method: str = "svd",
) -> Limit:
    """The expected squared error per query that no unbiased strategy is below.

    Under Laplace noise (``epsilon`` alone) it is 2 P2 / epsilon^2, because a column of L1 norm 1 has an L2 norm of at
    most 1; under Gaussian noise (with ``delta``, or ``rho`` alone) sigma^2 P2, which is attained. ``method="svd"``
    bounds P2 by singular values in seconds, within a few per cent; "dual" iterates until it is known to a millionth, on
    axes of up to 2,048 cells.
    """
    if not isinstance(method, str) or method not in METHODS:
        raise UnknownName.among("method", method, METHODS)
    if not 0 <= real(delta, "delta", DELTAS) < 1:
        raise InvalidInput(f"delta is {shown(delta)}; give {DELTAS}")
    budget = read_budget(epsilon, delta or None, rho, one_measurement=True)
    Workload.insist(workload).domain.afford()
    unit, attained = _bounds(workload, method)
    return Limit(within_floats(unit_variance(budget) * unit), budget, unit, attained, method)


def unit_variance(budget: Notion) -> float:
    """Variance of the noise on an answer of sensitivity 1: L1 under pure privacy, L2 under zCDP."""
    return 2.0 / float(budget.epsilon) ** 2 if isinstance(budget, PureDP) else 1.0 / (2.0 * float(budget.rho))


def within_floats(error: float) -> float:
    """An error that is neither 0 nor infinite, as weights and budgets far from 1 would make it."""
    if not 0 < error < math.inf:
        raise InvalidInput("the error is too large or too small for floats; give weights and a budget nearer to 1")
    return error


@lru_cache(maxsize=128)
def _bounds(workload: Workload, method: str) -> tuple[float, float]:
    """Bounds grow with the square of the weights, so those of weights far from 1 follow from weights near it."""
    near, size = _near_one(workload)
    low, high = METHODS[method](near)
    return low * size**2, high * size**2


def _near_one(workload: Workload) -> tuple[Workload, float]:
    """The workload with its weights over a power of 2, and that power; 1 where the weights are not far from 1.

    A weight that becomes too small to be one is 10^-100 of the largest: by its square it adds nothing to any bound.
    """
    if workload.axes is not None or isinstance(workload, Prefix):  # all weights are 1
        return workload, 1.0
    ranges = workload.ranges()
    weights = np.abs(ranges.weights)
    largest = float(weights.max())
    if largest == 0 or 1 / FAR <= largest <= FAR:
        return workload, 1.0
    size = 2.0 ** math.floor(math.log2(largest))
    near = np.where(weights > 0, np.maximum(weights / size, 1 / LARGEST_WEIGHT), 0)
    return Ranges(workload.domain, ranges.lower, ranges.upper, near), size
