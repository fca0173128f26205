"""Least squared errors of cutting a line into k bins, for every k and every prefix, exactly.

S(k, j) = min over i < j of S(k-1, i) + SSE[i, j), with SSE[i, j) = Q_j - Q_i - (P_j - P_i)^2 / (j - i).

Three facts make it quick. Moving a boundary through a run of equal counts changes the error by a concave function, so
an end of the run is best: only ends of runs need be looked at. S(k-1, i) grows with i while SSE[i, j) falls, so from
their values at the ends of a stretch of i follows a bound for all of it, and most stretches are never searched. And no
part of a set of bins has a larger error than the whole: where errors up to a limit are wanted, a beginning beyond it
leads to none of them. Few bins over many cells, which take longest, are mostly beyond the error of all bins.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_TILE = 4  # columns done together, which share the bounds of a stretch
_LONG = 32  # candidates that are passed over or looked at together
_SHORT = 4  # and inside these
_NEVER = 1e300
_FAST = {"nnan", "ninf", "nsz", "reassoc", "contract", "arcp"}


@njit("float64(float64[::1], float64[::1], float64[::1], int64)", cache=True)
def packed_error(position, sums, squares, bins):  # type: ignore[no-untyped-def]
    """Squared error of some set of at most ``bins`` bins that end where runs do: not the least, but soon found.

    From the left, each bin takes runs as long as its error stays below a cap; the cap is halved, and halved again
    between what is enough and what is not, while few enough bins come out.
    """
    runs = position.shape[0] - 1
    enough = squares[runs] - squares[0] + 1.0
    least = enough
    too_little = 0.0
    while enough > 1e-9 and enough > 1.02 * too_little:
        cap = (enough + too_little) / 2 if enough < 4 * too_little else max(np.sqrt(enough * too_little), enough / 1e3)
        many = 1
        start = 0
        error = 0.0
        total = 0.0
        for j in range(1, runs + 1):
            d = sums[j] - sums[start]
            longer = max(squares[j] - squares[start] - d * d / (position[j] - position[start]), 0.0)
            if longer > cap and j - 1 > start:
                total += error
                many += 1
                start = j - 1
                longer = 0.0
            error = longer
        if many <= bins:
            enough = cap
            least = min(least, total + error)
        else:
            too_little = cap
    return least


@njit("float64[:,::1](float64[::1], float64[::1], float64[::1], int64, float64)", cache=True, fastmath=_FAST)
def structure_table(position, sums, squares, layers, limit):  # type: ignore[no-untyped-def]
    """S over ends of runs, ``(layers + 1, runs + 1)``: entry [k, b] cuts the first b runs into k bins.

    1e300: cannot be, or exceeds ``limit``. ``position`` are the ends of runs (0 first), ``sums`` and ``squares`` the
    running sums P and Q there.
    """
    runs = position.shape[0] - 1
    table = np.full((layers + 1, runs + 1), _NEVER)
    table[0, 0] = 0.0
    if layers < 1:
        return table
    for j in range(1, runs + 1):
        d = sums[j] - sums[0]
        error = max(squares[j] - squares[0] - d * d / (position[j] - position[0]), 0.0)
        table[1, j] = error if error <= limit else _NEVER
    first = 2  # layers below this exceed the limit from here on
    cost = np.empty((_TILE, runs + 1))
    c0, c1, c2, c3 = cost[0], cost[1], cost[2], cost[3]
    for j0 in range(1, runs + 1, _TILE):
        last = min(j0 + _TILE - 1, runs)
        known = last  # costs of candidates from here on are computed; of the others when they are first looked at
        seed = last  # where the best of the layer before was found: looked at first, for bounds that are close
        for k in range(first, min(layers, last) + 1):
            before = table[k - 1]
            m0 = m1 = m2 = m3 = _NEVER
            for i in range(max(seed, k - 1), min(seed + _SHORT, last)):
                s = before[i]
                m0 = min(m0, s + c0[i])
                m1 = min(m1, s + c1[i])
                m2 = min(m2, s + c2[i])
                m3 = min(m3, s + c3[i])
            stop = last
            while stop > k - 1:
                low = max(stop - _LONG, 0)
                if low < known:
                    for t in range(_TILE):
                        j = min(j0 + t, last)
                        for i in range(low, min(stop, j)):
                            d = sums[j] - sums[i]
                            cost[t, i] = max(squares[j] - squares[i] - d * d / (position[j] - position[i]), 0.0)
                        for i in range(max(low, j), stop):
                            cost[t, i] = _NEVER
                    known = low
                start = max(low, k - 1)
                # the first column has the least errors: what is too much there is too much for all
                worst = max(m0, m1, m2, m3)
                if stop <= j0 and c0[stop - 1] >= worst:
                    break
                if stop > j0 or before[start] + c0[stop - 1] < worst:
                    high = stop
                    while high > start:
                        begin = max(high - _SHORT, start)
                        worst = max(m0, m1, m2, m3)
                        if high > j0 or before[begin] + c0[high - 1] < worst:
                            so_far = m3
                            for i in range(begin, high):
                                s = before[i]
                                m0 = min(m0, s + c0[i])
                                m1 = min(m1, s + c1[i])
                                m2 = min(m2, s + c2[i])
                                m3 = min(m3, s + c3[i])
                            if m3 < so_far:
                                seed = begin
                        high = begin
                stop = low
            now = table[k]
            now[last] = m3 if m3 <= limit else _NEVER  # columns beyond the last run are like the last
            now[min(j0 + 2, last)] = m2 if m2 <= limit else _NEVER
            now[min(j0 + 1, last)] = m1 if m1 <= limit else _NEVER
            now[j0] = m0 if m0 <= limit else _NEVER
        while first < layers and first <= last and table[first, last] == _NEVER:
            first += 1
    return table


@njit(
    "float64(float64, float64[::1], int64[::1], float64[::1], float64[::1], int64, int64, int64)",
    cache=True,
    fastmath=_FAST,
)
def _least_up_to(highest, before, ends, sums, squares, k, b, j):  # type: ignore[no-untyped-def]
    """S(k, j), where the first j cells end in run b, if it is at most ``highest``; else that or 1e300."""
    m = _NEVER
    stop = b + 1
    while stop > k - 1:
        start = max(stop - _SHORT, k - 1)
        d = sums[j] - sums[ends[stop - 1]]
        least = max(squares[j] - squares[ends[stop - 1]] - d * d / (j - ends[stop - 1]), 0.0)
        if least >= m or least > highest:
            break
        if before[start] + least < m and before[start] + least <= highest:
            for i in range(start, stop):
                d = sums[j] - sums[ends[i]]
                cost = max(squares[j] - squares[ends[i]] - d * d / (j - ends[i]), 0.0)
                m = min(m, before[i] + cost)
        stop = start
    return m


@njit(
    "void(float64[::1], float64[::1], int64[::1], float64[::1], float64[::1], int64, int64, float64[::1])",
    cache=True,
    fastmath=_FAST,
)
def structure_layer(before, now, ends, sums, squares, k, first, result):  # type: ignore[no-untyped-def]
    """Set ``result`` to S(k, j) for j = first, first + 1, ...; first is at least k.

    From layers k - 1 and k over the ends of runs; ``sums`` and ``squares`` of cells. Where the first j cells have at
    most k runs the error is 0.
    """
    b = np.searchsorted(ends, first) - 1
    for j in range(first, first + result.shape[0]):
        while ends[b + 1] < j:
            b += 1
        if k > b:
            result[j - first] = 0.0
            continue
        if ends[b + 1] == j:
            result[j - first] = now[b + 1]
            continue
        # the error of more cells is larger, so nothing above that need be looked at; but errors that are the difference
        # of far larger sums may be nothing but rounding, and then all is looked at
        m = _least_up_to(now[b + 1] * (1.0 + 1e-9), before, ends, sums, squares, k, b, j)
        if m == _NEVER:
            m = _least_up_to(_NEVER, before, ends, sums, squares, k, b, j)
        result[j - first] = m


@njit("float64[::1](float64[::1], float64[::1], float64[::1], int64)", cache=True)
def with_last_bin(before, sums, squares, first):  # type: ignore[no-untyped-def]
    """before[j - first] + SSE[j, right) for j = first ... right - 1, where right is one past the last entry's j."""
    many = before.shape[0]
    result = np.empty(many)
    right = first + many
    for c in range(many):
        d = sums[right] - sums[first + c]
        result[c] = before[c] + max(squares[right] - squares[first + c] - d * d / (many - c), 0.0)
    return result


@njit("float64[::1](float64[::1], float64[::1], float64)", cache=True)
def dyadic_costs(sums, squares, price):  # type: ignore[no-untyped-def]
    """Least squared error plus ``price`` per bin of cutting the first j cells into dyadic bins; ``(cells + 1,)``.

    A dyadic bin has 2^h cells and starts at a multiple of 2^h. Going up, each is left whole or cut in halves. The
    first j cells are the dyadic bins that the binary digits of j name, and no dyadic bin crosses one of these.
    """
    cells = sums.shape[0] - 1
    costs = np.zeros(cells + 1)
    best = np.full(cells, price)
    many = cells
    size = 1
    while many > 0:
        # the last of the bins that [0, j) is made of, where it has this size
        for b in range(0, many, 2):
            costs[(b + 1) * size] = best[b]
        many //= 2
        size *= 2
        for b in range(many):
            start = b * size
            d = sums[start + size] - sums[start]
            whole = max(squares[start + size] - squares[start] - d * d / size, 0.0) + price
            best[b] = min(whole, best[2 * b] + best[2 * b + 1])
    for j in range(1, cells + 1):
        costs[j] += costs[j & (j - 1)]
    return costs
