"""The largest of every group of candidates."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit("int64[:,::1](float64[:,::1], float64[:,::1], int64[::1], float64)", cache=True)
def largest_of_groups(scores, noise, starts, level):  # type: ignore[no-untyped-def]
    """Where (score - best score of its group) * level + noise is largest, counted from its group's first.

    ``scores`` is ``(1, candidates)``, the same for all trials, or ``(trials, candidates)``, like ``noise``; group g has
    the candidates ``starts[g] ... starts[g + 1] - 1``. The first of several that are equal. ``(trials, groups)``.
    """
    trials = noise.shape[0]
    groups = starts.shape[0] - 1
    result = np.empty((trials, groups), dtype=np.int64)
    for t in range(trials):
        row = scores[t if scores.shape[0] > 1 else 0]
        for g in range(groups):
            best = row[starts[g]]
            for c in range(starts[g] + 1, starts[g + 1]):
                best = max(best, row[c])
            chosen = starts[g]
            highest = (row[chosen] - best) * level + noise[t, chosen]
            for c in range(starts[g] + 1, starts[g + 1]):
                value = (row[c] - best) * level + noise[t, c]
                if value > highest:
                    highest = value
                    chosen = c
            result[t, g] = chosen - starts[g]
    return result
