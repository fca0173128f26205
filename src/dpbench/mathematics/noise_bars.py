"""Intervals from the noise alone, for estimates that are linear in noisy answers and unbiased.

Such an estimate of a query is off by a weighted sum of the noises of the answers, whatever the counts; the weights are
the query's *influence*. Under Gaussian noise the sum is normal with a known variance. Under Laplace noise its quantile
is computed from its characteristic function (``kernels/noise_sums.py``), to seven digits and rounded up. So an interval
of level p holds the true answer with probability p, on any data; nothing is approximated by a normal law or a bound.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import InvalidInput, Unsupported, shown
from dpbench.workloads import Ranges, Workload

Floats = NDArray[np.float64]
Influence = Callable[[Floats], Floats]
"""From 0/1 vectors of queries ``(many, *domain)`` to what each takes of every answer, ``(many, answers)``."""

BLOCK = 2**22
"""Weights that are worked out at a time."""
LARGEST = 2**36
"""Queries times cells up to which intervals are computed."""


def check_level(level: object) -> float:
    """A level as a number between 0 and 1."""
    if isinstance(level, bool) or not isinstance(level, int | float | np.floating) or not 0.0 < level < 1.0:
        raise InvalidInput(f"the level is {shown(level)}; give a number between 0 and 1, such as 0.9")
    return float(level)


def half_widths(workload: Workload, influence: Influence, scale: float, gaussian: bool, level: float) -> Floats:
    """``(q,)``: how far the estimate of each query is from the truth at most, with a chance of ``level``.

    ``scale`` is that of the noise on every answer: Laplace's, or the standard deviation.
    """
    ranges = listed(workload)
    result = np.empty(ranges.queries)
    step = max(1, BLOCK // workload.domain.size)
    for start in range(0, ranges.queries, step):
        some = slice(start, start + step)
        weights = np.ascontiguousarray(influence(indicators(ranges, some)).reshape(len(ranges.lower[some]), -1))
        result[some] = noise_quantiles(weights, gaussian, level)
    return result * np.abs(ranges.weights) * scale


def noise_quantiles(weights: Floats, gaussian: bool, level: float) -> Floats:
    """Of the absolute value of each row's weighted sum of standard noises."""
    if gaussian:
        return np.asarray(np.sqrt(np.einsum("qi,qi->q", weights, weights)) * normal_quantile(level))
    from dpbench.mathematics.kernels.noise_sums import weighted_quantiles

    return np.asarray(weighted_quantiles(weights, level))


def normal_quantile(level: float) -> float:
    """Of the absolute value of a standard normal number."""
    from scipy.special import ndtri

    return float(-ndtri((1.0 - level) / 2.0))


def listed(workload: Workload) -> Ranges:
    """The queries one by one, where there are not too many."""
    queries = workload.queries
    if queries is None or queries * workload.domain.size > LARGEST:
        raise Unsupported(
            f"{workload!r} has too many queries for bars: {queries or 'unlimited'} on {workload.domain.size} cells; "
            f"give the ranges that matter as a workload of their own: dpb.workloads.Ranges(domain, lower, upper)"
        )
    return workload.ranges()


def indicators(ranges: Ranges, some: slice) -> Floats:
    """``(many, *domain)``: 1 in the cells of each range."""
    result = np.ones((1,) * (1 + ranges.domain.ndim))
    for axis, side in enumerate(ranges.domain):
        cell = np.arange(side)
        inside = (ranges.lower[some, axis, None] <= cell) & (cell < ranges.upper[some, axis, None])
        shape = [len(inside), *[1] * ranges.domain.ndim]
        shape[1 + axis] = side
        result = result * inside.reshape(shape)
    return result


def insist_on_whole(queries: Floats, groups: NDArray[np.int64], name: str) -> None:
    """Refuse queries that cut a group of cells, of which only the sum was measured; ``groups`` is ``(cells,)``."""
    first = np.unique(groups, return_index=True)[1]
    flat = queries.reshape(len(queries), -1)
    if (flat != flat[:, first[groups]]).any():
        raise Unsupported(
            f"{name} measured groups of cells of which a range takes a part, so its error depends on the counts; "
            f"ask for ranges of the workload that it ran on"
        )
