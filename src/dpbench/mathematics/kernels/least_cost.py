"""The partition of a line that costs least, by dynamic programming."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit("boolean[::1](float64[:,::1], int64[::1])", cache=True)
def least_cost(costs, lengths):  # type: ignore[no-untyped-def]
    """C(0) = 0, C(e) = min over L of C(e - L) + cost of [e - L, e); True at each cut, ``(n + 1,)``.

    ``costs[k, e]`` belongs to the interval [e - L_k, e); of equal costs the longer interval wins.
    """
    kinds, ends = costs.shape
    total = np.empty(ends)
    chosen = np.zeros(ends, dtype=np.int64)
    total[0] = 0.0
    for e in range(1, ends):
        best = np.inf
        for k in range(kinds):
            if lengths[k] > e:
                break
            value = total[e - lengths[k]] + costs[k, e]
            if value <= best:
                best = value
                chosen[e] = lengths[k]
        total[e] = best
    cuts = np.zeros(ends, dtype=np.bool_)
    e = ends - 1
    cuts[e] = True
    while e > 0:
        e -= chosen[e]
        cuts[e] = True
    return cuts
