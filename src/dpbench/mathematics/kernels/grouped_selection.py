"""A candidate of every group: by the inverse of its distribution, or the largest after Gumbel noise."""

from __future__ import annotations

import numpy as np
from numba import njit

from dpbench.mathematics.kernels.exponentials import exponentials

_TINY = np.finfo(np.float64).tiny


@njit("int64[:,::1](float64[:,::1], float64, float64[:,::1], int64[::1])", cache=True, fastmath={"nnan", "nsz"})
def select_of_groups(scores, level, uniforms, starts):  # type: ignore[no-untyped-def]
    """A candidate per group with probability proportional to exp(level score), counted from its group's first.

    ``uniforms`` ``(trials, groups)`` are draws from [0, 1). ``scores`` is ``(1, candidates)``, the same for all trials,
    or ``(trials, candidates)``; group g has the candidates ``starts[g] ... starts[g + 1] - 1``, of which one at least
    is above -inf: its weight is 1. Returns ``(trials, groups)``.
    """
    trials, groups = uniforms.shape
    result = np.empty((trials, groups), dtype=np.int64)
    weights = np.empty(scores.shape[1])
    bits = np.empty(scores.shape[1], dtype=np.int64)
    wholes = np.empty(groups)
    for t in range(trials):
        if t < scores.shape[0]:
            row = scores[t]
            for g in range(groups):
                best = row[starts[g]]
                for c in range(starts[g] + 1, starts[g + 1]):
                    best = max(best, row[c])
                for c in range(starts[g], starts[g + 1]):
                    weights[c] = row[c] - best
            exponentials(weights, 0.0, level, bits)  # of all groups in one loop
            for g in range(groups):
                whole = 0.0
                for weight in weights[starts[g] : starts[g + 1]]:
                    whole += weight
                wholes[g] = whole
        for g in range(groups):
            aim = uniforms[t, g] * wholes[g]  # below the whole, rounded too
            running = 0.0
            chosen = starts[g]
            for c in range(starts[g], starts[g + 1]):
                running += weights[c]
                if running > aim:
                    chosen = c
                    break
            result[t, g] = chosen - starts[g]
    return result


@njit("int64[:,::1](float64[:,::1], float64[:,::1], int64[::1], float64)", cache=True)
def largest_of_groups(scores, draws, starts, level):  # type: ignore[no-untyped-def]
    """Where (score - best score of its group) * level - log(draw) is largest, counted from its group's first.

    ``draws`` ``(trials, candidates)`` are exponential, so that minus their logarithm is Gumbel noise. ``scores`` is
    ``(1, candidates)``, the same for all trials, or ``(trials, candidates)``; group g has the candidates
    ``starts[g] ... starts[g + 1] - 1``. The first of several that are equal. Returns ``(trials, groups)``.

    The first term is at most 0: a draw above exp(-highest so far) cannot win, and most logarithms are never taken.
    """
    trials = draws.shape[0]
    groups = starts.shape[0] - 1
    result = np.empty((trials, groups), dtype=np.int64)
    for t in range(trials):
        row = scores[t if scores.shape[0] > 1 else 0]
        for g in range(groups):
            best = row[starts[g]]
            for c in range(starts[g] + 1, starts[g + 1]):
                best = max(best, row[c])
            chosen = starts[g]
            highest = -np.inf
            limit = np.inf
            for c in range(starts[g], starts[g + 1]):
                draw = draws[t, c]
                if draw <= limit:
                    value = (row[c] - best) * level - np.log(max(draw, _TINY))
                    if value > highest:
                        highest = value
                        chosen = c
                        limit = np.exp(-highest) * (1.0 + 1e-9)
            result[t, g] = chosen - starts[g]
    return result
