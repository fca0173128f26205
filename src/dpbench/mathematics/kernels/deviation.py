"""How far the counts of every window of a line are from one value: a window slides over a sorted index of values."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit("void(int64[:,::1], int64, int64, int64)", cache=True, inline="always")
def _add(tree, rank, many, amount):  # type: ignore[no-untyped-def]
    """Add ``many`` cells that hold ``amount`` together at a rank of the Fenwick tree."""
    place = rank + 1
    while place < tree.shape[0]:
        tree[place, 0] += many
        tree[place, 1] += amount
        place += place & -place


@njit("float64[:,::1](int64[::1], int64[::1], int64[::1], int64[::1], boolean)", cache=True)
def window_deviations(line, rank, values, lengths, about_median):  # type: ignore[no-untyped-def]
    """Sum of |x_i - m| over every window, m its median or its mean; ``(lengths, n + 1)``, entry [k, e] of [e - L_k, e).

    ``rank`` is the place of each cell's count among the distinct ``values``, ascending. The tree holds the number and
    the sum of the window's cells by rank; one descent finds those below m, in O(log n).

    Median: the sum less twice the L // 2 lowest, less the middle one where L is odd.
    Mean: 2 (m * how many are at most m - their sum), with m = sum / L.
    """
    n = line.shape[0]
    kinds = lengths.shape[0]
    result = np.zeros((kinds, n + 1))
    tree = np.empty((values.shape[0] + 1, 2), dtype=np.int64)
    top = 1
    while 2 * top <= values.shape[0]:
        top *= 2
    for k in range(kinds):
        length = lengths[k]
        if length == 1:
            continue
        tree[:] = 0
        total = 0
        half = length // 2
        for e in range(1, n + 1):
            total += line[e - 1]
            _add(tree, rank[e - 1], 1, line[e - 1])
            if e < length:
                continue
            if e > length:
                gone = line[e - 1 - length]
                total -= gone
                _add(tree, rank[e - 1 - length], -1, -gone)
            place = 0
            many = 0
            below = 0
            step = top
            if about_median:
                while step > 0:
                    next_place = place + step
                    if next_place < tree.shape[0] and many + tree[next_place, 0] <= half:
                        place = next_place
                        many += tree[place, 0]
                        below += tree[place, 1]
                    step //= 2
                middle = values[place] if place < values.shape[0] else 0
                below += (half - many) * middle
                upper = total - below
                if length % 2 == 1:
                    upper -= middle
                result[k, e] = upper - below
            else:
                mean = total / length
                while step > 0:
                    next_place = place + step
                    if next_place < tree.shape[0] and values[next_place - 1] <= mean:
                        place = next_place
                        many += tree[place, 0]
                        below += tree[place, 1]
                    step //= 2
                result[k, e] = 2.0 * (mean * many - below)
    return result
