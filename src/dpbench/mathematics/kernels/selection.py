"""The exponential mechanism by the inverse of its distribution, and what its scores have to be for that."""

from __future__ import annotations

import numpy as np
from numba import njit

from dpbench.mathematics.kernels.exponentials import exponentials

BLOCK = 64
"""Candidates whose weights are added up together, so that few sums wait for one another."""


@njit("boolean(float64[::1])", cache=True)
def any_nan(scores):  # type: ignore[no-untyped-def]
    """Whether one is no number."""
    found = 0
    for i in range(scores.shape[0]):
        found += scores[i] != scores[i]
    return found > 0


@njit("UniTuple(float64, 3)(float64[::1])", cache=True, fastmath={"nnan", "nsz"})
def extremes(scores):  # type: ignore[no-untyped-def]
    """Least and largest above -inf, and how many are -inf; no score is NaN."""
    least, most, forbidden = np.inf, -np.inf, 0
    for i in range(scores.shape[0]):
        score = scores[i]
        allowed = score > -np.inf
        forbidden += not allowed
        least = min(least, score if allowed else np.inf)
        most = max(most, score)
    return least, most, float(forbidden)


@njit(
    "float64(float64[::1], float64, float64[::1], float64[::1], int64[::1])",
    cache=True,
    fastmath={"reassoc", "contract"},
)
def weigh(scores, level, weights, sums, bits):  # type: ignore[no-untyped-def]
    """``weights`` exp(level (score - best)), and running ``sums`` of their blocks; the sum of all, at least 1."""
    candidates = scores.shape[0]
    _, best, _ = extremes(scores)
    for i in range(candidates):
        weights[i] = scores[i]
    exponentials(weights, best, level, bits)
    whole = 0.0
    for b in range(sums.shape[0]):
        block = 0.0
        for i in range(b * BLOCK, min((b + 1) * BLOCK, candidates)):
            block += weights[i]
        whole += block
        sums[b] = whole
    return whole


@njit("int64(float64[::1], float64[::1], float64)", cache=True)
def find(weights, sums, aim):  # type: ignore[no-untyped-def]
    """The first candidate at which the running sum of weights exceeds ``aim``, which is below the sum of all.

    A block whose running sum exceeds the aim, where that of the block before does not, has a weight above 0; the last
    such one is taken where a sum in another order rounds to less.
    """
    block = np.searchsorted(sums, aim, side="right")
    running = sums[block - 1] if block > 0 else 0.0
    last = -1
    for i in range(block * BLOCK, min((block + 1) * BLOCK, weights.shape[0])):
        if weights[i] > 0.0:
            running += weights[i]
            last = i
            if running > aim:
                break
    return last


@njit("void(float64[:,::1], float64, float64[::1], int64[::1])", cache=True)
def select(scores, level, uniform, chosen):  # type: ignore[no-untyped-def]
    """A candidate per trial with probability proportional to exp(level score), from one uniform draw in [0, 1) each.

    ``scores`` ``(trials, candidates)``, or ``(1, candidates)`` for all trials; a score of -inf is never chosen, and one
    of each row is above that.
    """
    rows, candidates = scores.shape
    weights, bits = np.empty(candidates), np.empty(candidates, dtype=np.int64)
    sums = np.empty((candidates + BLOCK - 1) // BLOCK)
    whole = 0.0
    for t in range(chosen.shape[0]):
        if t < rows:
            whole = weigh(scores[t], level, weights, sums, bits)
        chosen[t] = find(weights, sums, uniform[t] * whole)
