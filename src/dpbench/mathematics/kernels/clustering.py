"""Greedy clustering of sorted values (AHP of Zhang, Chen, Xu, Meng, Xie, SDM 2014)."""

from __future__ import annotations

import numpy as np
from numba import njit

ROUNDING = 2.0**-53
"""Relative error of one operation."""
SLACK = 2.0**-48
"""Relative error of the few operations of one comparison, and more."""


@njit("boolean(float64[::1], int64, int64, float64, float64, float64)", cache=True)
def better_apart(values, j, end, price, last, now):  # type: ignore[no-untyped-def]
    """Whether now >= last + opt(j), opt(j) = min over l >= j of (v_j - mean(v_j..v_l))^2 + price / (l - j + 1)^2.

    The first term never falls with l and the second never rises. So the search begins at the ``end`` of the run of
    values that equal v_j, where the first term is still 0, and stops where even the smallest second term would be too
    much.
    """
    n = values.shape[0]
    least = price / (float(n - j) * float(n - j))
    above = 0.0
    for stop in range(end, n):
        above += values[stop] - values[j]
        size = float(stop - j + 1)
        bias = (above / size) ** 2
        if now >= last + (bias + price / (size * size)):
            return True
        if not now >= last + (bias + least):
            return False
    return False


@njit("boolean(float64[::1], float64[::1], int64, int64, float64, float64, float64)", cache=True)
def galloped_apart(values, sums, j, end, price, last, now):  # type: ignore[no-untyped-def]
    """The same by few of the l, from running ``sums`` ``(n + 1,)`` of the values, none of which is negative.

    Where l does not pay, nor does any up to l + step if bias(l) + price / (size + step)^2 is still too much; steps
    are as long as the values seen so far. Sums round otherwise than one difference after the other. So each bias is
    known between two bounds, and where a comparison with ``now`` depends on which it is, :func:`better_apart` decides.
    """
    n = values.shape[0]
    least = price / (float(n - j) * float(n - j))
    stop = end
    while stop < n:
        size = float(stop - j + 1)
        mean = (sums[stop + 1] - sums[j]) / size - values[j]
        error = ROUNDING * (4.0 * float(stop + 1) * sums[stop + 1] / size + 4.0 * size * abs(mean))
        most = (mean + error) ** 2
        bias = max(mean - error, 0.0) ** 2
        own = price / (size * size)
        if now * (1.0 - SLACK) >= last + (most + own):
            return True
        if now * (1.0 + SLACK) >= last + (bias + own):
            return better_apart(values, j, end, price, last, now)
        if now * (1.0 + SLACK) < last + (bias + least):
            return False
        step = min(stop - j + 1, n - stop)
        while step > 1:
            longest = size + step - 1.0
            if now * (1.0 + SLACK) < last + (bias + price / (longest * longest)):
                break
            step >>= 1
        stop += step
    return False


@njit("int64[::1](float64[::1], int64, float64)", cache=True)
def greedy_clusters(values, zeros, price):  # type: ignore[no-untyped-def]
    """Cluster number of every one of ascending positive ``values`` ``(n,)``, which come after so many ``zeros``.

    A cluster's cost is its sum of squared deviations plus ``price`` over its size. Position j starts a new cluster
    where cost(i..j) >= cost(i..j-1) + opt(j), i being where the current one starts. Sums are of differences
    from the cluster's mean (Welford), so that large counts lose nothing to cancellation. Zeros are in cluster 0: each
    lowers its cost.
    """
    n = values.shape[0]
    clusters = np.empty(n, dtype=np.int64)
    run_end = np.empty(n, dtype=np.int64)
    sums = np.empty(n + 1)
    sums[0] = 0.0
    for j in range(n):
        sums[j + 1] = sums[j] + values[j]
    for j in range(n - 1, -1, -1):
        run_end[j] = run_end[j + 1] if j + 1 < n and values[j + 1] == values[j] else j
    cluster = 0
    size = zeros
    mean = 0.0
    squares = 0.0
    last = price / zeros if zeros > 0 else np.inf
    for j in range(n):
        delta = values[j] - mean
        joined = squares + delta * delta * size / (size + 1.0)
        now = joined + price / (size + 1.0)
        # opt is never negative: a cost that falls settles it
        if size > 0 and now >= last and galloped_apart(values, sums, j, run_end[j], price, last, now):
            cluster += 1
            size = 1
            mean = values[j]
            squares = 0.0
            last = price
        else:
            size += 1
            mean += delta / size
            squares = joined
            last = now
        clusters[j] = cluster
    return clusters


@njit("float64[:,::1](float64[:,::1], int64[:,::1])", cache=True)
def spread(totals, labels):  # type: ignore[no-untyped-def]
    """Each cluster's total evenly over its cells, ``(trials, cells)``; there are at most as many as cells."""
    trials, cells = labels.shape
    result = np.empty((trials, cells))
    each = np.empty(cells)
    sizes = np.empty(cells, dtype=np.int64)
    for t in range(trials):
        clusters = 0
        for i in range(cells):
            clusters = max(clusters, labels[t, i] + 1)
        sizes[:clusters] = 0
        for i in range(cells):
            sizes[labels[t, i]] += 1
        for c in range(clusters):
            each[c] = totals[t, c] / max(sizes[c], 1)
        for i in range(cells):
            result[t, i] = each[labels[t, i]]
    return result
