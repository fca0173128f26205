"""Greedy clustering of sorted values (AHP of Zhang, Chen, Xu, Meng, Xie, SDM 2014)."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit("boolean(float64[::1], int64[::1], int64, float64, float64, float64)", cache=True)
def better_apart(values, run_end, j, price, last, now):  # type: ignore[no-untyped-def]
    """Whether now >= last + opt(j), opt(j) = min over l >= j of (v_j - mean(v_j..v_l))^2 + price / (l - j + 1)^2.

    The first term never falls with l and the second never rises. So the search begins at the end of the run of values
    that equal v_j, where the first term is still 0, and stops where even the smallest second term would be too much.
    """
    n = values.shape[0]
    least = price / (float(n - j) * float(n - j))
    above = 0.0
    for end in range(run_end[j], n):
        above += values[end] - values[j]
        size = float(end - j + 1)
        bias = (above / size) ** 2
        if now >= last + (bias + price / (size * size)):
            return True
        if not now >= last + (bias + least):
            return False
    return False


@njit("int64[:,::1](float64[:,::1], float64)", cache=True)
def greedy_clusters(values, price):  # type: ignore[no-untyped-def]
    """Cluster number of every position of ascending ``values``, both ``(trials, n)``.

    A cluster's cost is its sum of squared deviations plus ``price`` over its size. Position j starts a new cluster
    where cost(i..j) >= cost(i..j-1) + opt(j), i being where the current one starts. Sums are of differences
    from the cluster's mean (Welford), so that large counts lose nothing to cancellation.
    """
    trials, n = values.shape
    clusters = np.empty((trials, n), dtype=np.int64)
    run_end = np.empty(n, dtype=np.int64)
    for t in range(trials):
        v = values[t]
        for j in range(n - 1, -1, -1):
            run_end[j] = run_end[j + 1] if j + 1 < n and v[j + 1] == v[j] else j
        cluster = 0
        size = 0
        mean = 0.0
        squares = 0.0
        last = np.inf
        for j in range(n):
            delta = v[j] - mean
            joined = squares + delta * delta * size / (size + 1.0)
            now = joined + price / (size + 1.0)
            # opt is never negative: a cost that falls settles it
            if size > 0 and now >= last and better_apart(v, run_end, j, price, last, now):
                cluster += 1
                size = 1
                mean = v[j]
                squares = 0.0
                last = price
            else:
                size += 1
                mean += delta / size
                squares = joined
                last = now
            clusters[t, j] = cluster
    return clusters
