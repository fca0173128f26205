"""The largest of every group of candidates after Gumbel noise."""

from __future__ import annotations

import numpy as np
from numba import njit

_TINY = np.finfo(np.float64).tiny


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
