"""Percentiles of few trials: a point, an interval with its coverage, and a smooth estimate with its variance."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpbench.measuring.distributions import incomplete_beta

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

AT_ONCE = 2**16
"""Values that are weighed together: so many stay in a processor's cache."""


def quantile(ordered: Floats, number: Counts, level: float) -> Floats:
    """Quantile of each row by linear interpolation, of its first ``number`` values; rows are in ascending order."""
    place = np.maximum(number - 1, 0) * level
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(number - 1, 0))
    share = place - below
    return np.where(number > 0, _at(ordered, below) * (1 - share) + _at(ordered, above) * share, np.nan)


def order_interval(
    ordered: Floats, number: Counts, level: float, confidence: float = 0.95
) -> tuple[Floats, Floats, Floats]:
    """Two order statistics around a quantile, and how often such a pair holds it between them.

    How many of n independent trials lie below the quantile is binomial whatever their distribution, so the coverage is
    exact, and no assumption is made. It is also all that n trials can say: beyond the largest lies the 95th percentile
    of 50 trials in 0.95^50 = 7.7 % of cases, so that no interval of theirs has 95 % coverage, and a bootstrap that
    claims it only hides this. Where the wanted end does not exist the largest (or smallest) value is taken, and the
    coverage says what is left. Trials that share data vectors carry a little less than is claimed here.
    """
    low, high, coverage = (np.full(len(number), np.nan) for _ in range(3))
    for n in np.unique(number[number > 0]).tolist():
        first, last, share = _ranks(n, level, confidence)
        rows = number == n
        low[rows], high[rows], coverage[rows] = ordered[rows, first - 1], ordered[rows, last - 1], share
    return low, high, coverage


@lru_cache(maxsize=256)
def _ranks(n: int, level: float, confidence: float) -> tuple[int, int, float]:
    """Ranks from 1 to n, each end missed with probability (1 - confidence) / 2 at most where that is possible."""
    miss = (1 - confidence) / 2
    k = np.arange(n)
    below = incomplete_beta(n - k, k + 1, 1 - level)  # of k: chance that at most k lie under the quantile
    first = max(int(np.searchsorted(below, miss, side="right")), 1)
    last = min(int(np.searchsorted(below, 1 - miss)) + 1, n)
    return first, last, float(below[last - 1] - (below[first - 1] if first > 0 else 0.0))


def harrell_davis(ordered: Floats, number: Counts, level: float) -> tuple[Floats, Floats]:
    """A smooth estimate of a quantile (Harrell and Davis) and its jackknife variance, for each row.

    It weighs all order statistics by the chance that they are the quantile of a resample, so that it varies smoothly
    when one trial is left out; a single order statistic does not, and its jackknife fails.
    """
    estimate, variance = np.full(len(number), np.nan), np.full(len(number), np.nan)
    for n in np.unique(number[number > 2]).tolist():
        weights, fewer = _weights(n, level), _weights(n - 1, level)
        numbers = np.flatnonzero(number == n)
        for rows in np.split(numbers, np.arange(0, len(numbers), max(AT_ONCE // n, 1))[1:]):
            values = ordered[rows, :n]
            estimate[rows] = values @ weights
            left_out = np.zeros(values.shape)  # but for what all have in common
            np.cumsum(np.diff(values) * fewer, axis=1, out=left_out[:, 1:])
            variance[rows] = (n - 1) * left_out.var(axis=1)
    return estimate, variance


@lru_cache(maxsize=256)
def _weights(n: int, level: float) -> Floats:
    """Chance that each of n order statistics is the quantile."""
    return np.asarray(np.diff(incomplete_beta((n + 1) * level, (n + 1) * (1 - level), np.arange(n + 1) / n)))


def _at(ordered: Floats, place: Counts) -> Floats:
    return np.asarray(np.take_along_axis(ordered, place[:, None], axis=1)[:, 0])
