"""The best strategy for Gaussian noise on a product workload, with a certificate of how close to the best it is.

With K the second moment of a random query and X = A^T A, the error of a strategy A with columns of L2 norm at most 1 is
tr(K X^-1). Its minimum, P2(K), is a convex problem (Li, Hay, Rastogi, Miklau, McGregor, PODS 2010) with the dual

    P2(K) >= (tr B)^2,  B = (D^(1/2) K D^(1/2))^(1/2),  D = diag(d),

for every distribution d over the cells, with equality at the best one. There X = D^(-1/2) B D^(-1/2), up to a factor,
has a constant diagonal x_j = B_jj / d_j; so the search raises d_j where x_j is large, d_j <- d_j (x_j / mean)^1.6,
and accelerates that by the secant through the last two steps (Anderson's method with a memory of one).

Where the diagonal is not yet constant, each column of A is divided by its own norm. That keeps A feasible, so its
error is an upper bound; and since the optimum is stationary among strategies with columns of norm 1, it is too large
only by the square of what the diagonal is off. Scaling all columns by the largest norm, as is usual, is off by its
first power.

A product of workloads has the product of the axes' optima: P2(K x L) = P2(K) P2(L).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import prod, ulp

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.errors import InvalidInput, Unsupported
from dpbench.workloads import Workload

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
AxisFunction = Callable[[Ints, Ints], Floats]

LONGEST = 1024
"""The longest axis that a strategy is searched for; each of about ten steps takes time proportional to its cube."""
GAP = 1e-6
"""The search ends where the upper bound exceeds the lower one by less than this part of it."""
STEPS = 100
"""The search ends after so many steps at the latest; its bounds hold whatever the number."""
STEP = 1.6
"""The exponent of a step."""
UNASKED = 1e-6
"""Where some direction is asked for by no query, all cells are asked for too, with this part of the mean weight."""
TINY = 1e-300
"""In place of a denominator of 0."""
SINGULAR = 1e-12
"""An eigenvalue of K below this part of the largest counts as a direction that no query asks for."""


@dataclass(frozen=True, eq=False)
class OptimalAxis:
    """A strategy for one axis whose columns have L2 norm 1, and what it is worth."""

    rows: Floats
    """``(n, n)``: A."""
    inverse: Floats
    """``(n, n)``: A^-1."""
    lower: float
    """No strategy with columns of L2 norm at most 1 has a smaller tr(K X^-1)."""
    upper: float
    """tr(K X^-1) of this strategy."""

    @classmethod
    def of(cls, second_moment: Floats) -> OptimalAxis:
        """Search for the strategy of a second moment ``(n, n)``; the same one is searched for once."""
        return _optimal_axis(len(second_moment), np.ascontiguousarray(second_moment, dtype=np.float64).tobytes())

    @cached_property
    def column_norms(self) -> tuple[Fraction, Fraction]:
        """The largest L1 norm and the largest squared L2 norm of a column of ``rows``, both rounded up."""
        sums = np.abs(self.rows).sum(axis=0).max(), np.square(self.rows).sum(axis=0).max()
        # a sum of n rounded terms is off by less than (n + 1) ulp
        l1, squared_l2 = (Fraction(float(total)) * (1 + (len(self.rows) + 1) * Fraction(ulp(1.0))) for total in sums)
        return l1, squared_l2

    @cached_property
    def _covariance(self) -> Floats:
        """``(n + 1, n + 1)``: covariances of the estimates of all prefixes."""
        prefixes = np.concatenate([np.zeros((1, len(self.inverse))), np.cumsum(self.inverse, axis=0)])
        return np.asarray(prefixes @ prefixes.T)

    def range_variance(self, lower: Ints, upper: Ints) -> Floats:
        """Variance of the ranges ``[lower, upper)`` where every answer carries noise of variance 1."""
        covariance = self._covariance
        return np.asarray(covariance[upper, upper] + covariance[lower, lower] - 2 * covariance[lower, upper])


@dataclass(frozen=True, eq=False)
class GaussianOptimal:
    """Ask for the answers to one optimal strategy per axis, A_1 x ... x A_d applied to the counts."""

    domain: Domain
    axes: tuple[OptimalAxis, ...]

    @classmethod
    def of(cls, workload: Workload) -> GaussianOptimal:
        """The strategy for a workload: optimal on one axis and for a product, otherwise for its axes one by one."""
        if why := refuse_long_axes(workload.domain):
            raise Unsupported(why)
        return cls(workload.domain, tuple(OptimalAxis.of(moment) for moment in second_moments(workload)))

    @property
    def shape(self) -> tuple[int, ...]:
        """As many answers as cells."""
        return self.domain.shape

    @property
    def sensitivity(self) -> Fraction:
        """Largest L1 change of the answers by one record: the product over axes."""
        return prod((axis.column_norms[0] for axis in self.axes), start=Fraction(1))

    @property
    def squared_l2_sensitivity(self) -> Fraction:
        """Square of the largest L2 change of the answers by one record, rounded up: 1 and a little."""
        return prod((axis.column_norms[1] for axis in self.axes), start=Fraction(1))

    @property
    def bounds(self) -> tuple[float, float]:
        """The least error per query that a strategy can have under unit noise, and what this one has; for a product."""
        return prod(axis.lower for axis in self.axes), prod(axis.upper for axis in self.axes)

    def answer(self, counts: NDArray[np.generic]) -> Floats:
        """True answers ``(..., *domain)`` for counts ``(..., *domain)``."""
        return self._along_axes(counts, [axis.rows for axis in self.axes])

    def reconstruct(self, answers: Floats) -> Floats:
        """Cells ``(..., *domain)`` from answers ``(..., *domain)``; A is square, so the inverse is least squares."""
        return self._along_axes(answers, [axis.inverse for axis in self.axes])

    def influence(self, queries: Floats) -> Floats:
        """What each query ``(..., *domain)`` takes of every answer: the transpose of :meth:`reconstruct`."""
        return self._along_axes(queries, [axis.inverse.T for axis in self.axes])

    @property
    def range_variances(self) -> tuple[AxisFunction, ...]:
        """:meth:`OptimalAxis.range_variance` of each axis."""
        return tuple(axis.range_variance for axis in self.axes)

    def _along_axes(self, values: NDArray[np.generic], matrices: list[Floats]) -> Floats:
        result = np.asarray(values, dtype=np.float64)
        for axis, matrix in enumerate(matrices, start=-self.domain.ndim):
            result = np.moveaxis(np.moveaxis(result, axis, -1) @ matrix.T, -1, axis)
        return result


def refuse_long_axes(domain: Domain) -> str:
    """Why there is no search on a domain; empty where there is one."""
    longest = max(domain)
    if longest <= LONGEST:
        return ""
    return (
        f"domain {domain} has an axis of {longest} cells and the optimal strategy is searched for up to {LONGEST}; "
        f"coarsen the domain or use another strategy"
    )


def second_moments(workload: Workload) -> tuple[Floats, ...]:
    """Per axis, E[w w^T] over the queries, w the 0/1 vector of a range along that axis times the query's weight."""
    if workload.axes is not None:
        return tuple(axis.second_moment() for axis in workload.axes)
    ranges = workload.ranges()
    moments = []
    for axis, side in enumerate(workload.domain):
        chance = np.zeros((side, side))
        np.add.at(chance, (ranges.lower[:, axis], ranges.upper[:, axis] - 1), ranges.weights**2 / ranges.queries)
        # cells i <= j are both in [l, u) where l <= i and j <= u - 1
        covered = np.cumsum(np.cumsum(chance, axis=0)[:, ::-1], axis=1)[:, ::-1]
        moments.append(np.triu(covered) + np.triu(covered, 1).T)
    return tuple(moments)


@dataclass(frozen=True, eq=False)
class Dual:
    """A distribution over cells and what it proves about P2(K)."""

    weights: Floats
    """``(n,)``: d."""
    lower: float
    upper: float

    @classmethod
    def best(cls, second_moment: Floats, gap: float = GAP, steps: int = STEPS) -> Dual:
        """Search until the bounds on P2 are within ``gap`` of each other; K may be singular."""
        asked = np.flatnonzero(np.diag(second_moment) > 0)
        if not asked.size:
            raise InvalidInput("no query of the workload covers a cell; give one that does")
        moment = second_moment[np.ix_(asked, asked)]
        d = np.full(len(asked), 1 / len(asked))
        lower, upper, best = 0.0, np.inf, d
        last: tuple[Floats, Floats] | None = None
        for _ in range(steps):
            diagonal, low, high = _bounds(moment, d)
            lower = max(lower, low)
            if high < upper:
                upper, best = high, d
            if upper <= lower * (1 + gap):
                break
            place, step = np.log(d), STEP * np.log(diagonal / (diagonal @ d))
            moved = place + step
            if last is not None:
                moves, turns = place - last[0], step - last[1]
                moved -= (d @ (turns * step)) / max(d @ turns**2, TINY) * (moves + turns)
            last = place, step
            d = np.exp(np.maximum(moved - moved.max(), -60.0))
            d /= d.sum()
        weights = np.zeros(len(second_moment))
        weights[asked] = best
        return cls(weights, lower, upper)


def _spectrum(moment: Floats, d: Floats) -> tuple[Floats, Floats, Floats]:
    """Eigenvalues and -vectors of B, and the diagonal of D^(-1/2) B D^(-1/2)."""
    root = np.sqrt(d)
    squares, vectors = np.linalg.eigh(root[:, None] * moment * root)
    values = np.sqrt(np.maximum(squares, 0.0))
    return values, vectors, vectors**2 @ values / d


def _bounds(moment: Floats, d: Floats) -> tuple[Floats, float, float]:
    """The diagonal at d, (tr B)^2, and the error of the better one of two strategies made from B."""
    values, vectors, diagonal = _spectrum(moment, d)
    total = float(values.sum())
    scale = np.sqrt(d * diagonal)
    energy = np.einsum("ij,ij->j", vectors, (scale[:, None] * moment * scale) @ vectors)
    normalised = float((energy / values).sum()) if values[0] > 0 else np.inf  # where K is singular
    return diagonal, total**2, min(total * float(diagonal.max()), normalised)


@lru_cache(maxsize=8)
def _optimal_axis(side: int, second_moment: bytes) -> OptimalAxis:
    """On one thread: with more of them sums are rounded in another order, which a search makes larger."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        return _search_axis(np.frombuffer(second_moment).reshape(side, side))


def _search_axis(asked: Floats) -> OptimalAxis:
    side, values = len(asked), np.linalg.eigvalsh(asked)
    moment = asked if values[0] > SINGULAR * values[-1] else asked + UNASKED * np.trace(asked) / side * np.eye(side)
    d = Dual.best(moment).weights
    values, vectors, diagonal = _spectrum(moment, d)
    norms, half = np.sqrt(d * diagonal), np.sqrt(values)
    # roots of B that are symmetric: eigenvectors, whose signs and order are up to the processor, cancel
    rows = (vectors * half) @ vectors.T / norms
    inverse = norms[:, None] * ((vectors / half) @ vectors.T)
    lower = float(_spectrum(asked, d)[0].sum()) ** 2
    return OptimalAxis(rows, inverse, lower, float(np.einsum("ij,ij->", inverse, asked @ inverse)))
