"""Least squared errors of cutting a line into k bins, for every k and every prefix, exactly.

S(k, j) = min over i < j of S(k-1, i) + SSE[i, j), with SSE[i, j) = Q_j - Q_i - (P_j - P_i)^2 / (j - i).

Two facts make it quick. Moving a boundary through a run of equal counts changes the error by a concave function, so an
end of the run is best: only ends of runs need be looked at. And S(k-1, i) grows with i while SSE[i, j) falls, so from
their values at the ends of a stretch of i follows a bound for all of it, and most stretches are never searched.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_TILE = 8  # columns done together, so that a layer is read once for all of them
_STRETCH = 64  # candidates that are passed over or searched together
_NEVER = 1e300
_FAST = {"nnan", "ninf", "nsz", "reassoc", "contract", "arcp"}


@njit("float64[:,::1](float64[::1], float64[::1], float64[::1], int64)", cache=True, fastmath=_FAST)
def structure_table(position, sums, squares, layers):  # type: ignore[no-untyped-def]
    """S over ends of runs, ``(layers + 1, runs + 1)``: entry [k, b] cuts the first b runs into k bins; 1e300: cannot.

    ``position`` are the ends of runs (0 first), ``sums`` and ``squares`` the running sums P and Q there.
    """
    runs = position.shape[0] - 1
    table = np.full((layers + 1, runs + 1), _NEVER)
    table[0, 0] = 0.0
    cost = np.empty((_TILE, runs + 1))
    c0, c1, c2, c3 = cost[0], cost[1], cost[2], cost[3]
    c4, c5, c6, c7 = cost[4], cost[5], cost[6], cost[7]
    found = np.empty(_TILE)
    for j0 in range(1, runs + 1, _TILE):
        width = min(_TILE, runs + 1 - j0)
        # the error of every last bin that ends in the tile
        for t in range(_TILE):
            j = min(j0 + t, runs)
            for i in range(j):
                d = sums[j] - sums[i]
                cost[t, i] = max(squares[j] - squares[i] - d * d / (position[j] - position[i]), 0.0)
        for k in range(1, min(layers, j0 + width - 1) + 1):
            # last bins that start before the tile, by stretches, while one can still be better
            before = table[k - 1]
            now = table[k]
            m0 = m1 = m2 = m3 = m4 = m5 = m6 = m7 = _NEVER
            stop = j0
            while stop > k - 1:
                start = max(stop - _STRETCH, k - 1)
                worst = max(m0, m1, m2, m3, m4, m5, m6, m7)
                if c0[stop - 1] >= worst:
                    break
                if before[start] + c0[stop - 1] < worst:
                    for i in range(start, stop):
                        s = before[i]
                        m0 = min(m0, s + c0[i])
                        m1 = min(m1, s + c1[i])
                        m2 = min(m2, s + c2[i])
                        m3 = min(m3, s + c3[i])
                        m4 = min(m4, s + c4[i])
                        m5 = min(m5, s + c5[i])
                        m6 = min(m6, s + c6[i])
                        m7 = min(m7, s + c7[i])
                stop = start
            found[0], found[1], found[2], found[3] = m0, m1, m2, m3
            found[4], found[5], found[6], found[7] = m4, m5, m6, m7
            # last bins that start inside the tile: layer k - 1 is complete there
            for t in range(width):
                m = found[t]
                for i in range(max(j0, k - 1), j0 + t):
                    m = min(m, before[i] + cost[t, i])
                now[j0 + t] = m
    return table


@njit(
    "float64[::1](float64[::1], float64[::1], int64[::1], float64[::1], float64[::1], int64, int64)",
    cache=True,
    fastmath=_FAST,
)
def structure_layer(before, now, ends, sums, squares, k, stop):  # type: ignore[no-untyped-def]
    """S(k, j) for j = k ... stop - 1, from layers k - 1 and k over the ends of runs; ``sums`` and ``squares`` of cells.

    Where the first j cells have at most k runs the error is 0.
    """
    result = np.zeros(max(stop - k, 0))
    b = 0
    for j in range(k, stop):
        while ends[b + 1] < j:
            b += 1
        if k > b:
            continue
        if ends[b + 1] == j:
            result[j - k] = now[b + 1]
            continue
        m = _NEVER
        for i in range(b, k - 2, -1):
            d = sums[j] - sums[ends[i]]
            cost = max(squares[j] - squares[ends[i]] - d * d / (j - ends[i]), 0.0)
            if cost >= m:
                break
            m = min(m, before[i] + cost)
        result[j - k] = m
    return result
