"""How far the counts of every window of a line are from one value: their median, or their mean."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit("float64[:,::1](int64[::1], int64[::1], int64[::1], int64[::1], boolean)", cache=True)
def median_deviations(line, rank, values, lengths, aligned):  # type: ignore[no-untyped-def]
    """Sum of |x_i - median| over every window; ``(lengths, n + 1)``, entry [k, e] of [e - L_k, e).

    With ``aligned`` only of windows that start at a multiple of their length. ``rank`` is the place of each cell's
    count among the distinct ``values``, ascending. It is the sum less twice the L // 2 lowest, less the middle one
    where L is odd.

    A table per bit of the ranks, highest first, finds the lowest cells of any window in O(log n): the line is sorted
    by the bits seen so far, in order; ``zeros`` counts the cells before a place whose next bit is 0, and ``sums`` adds
    up the counts in the order that this bit leads to, zeros first.
    """
    n = line.shape[0]
    bits = 0
    while 1 << bits < values.shape[0]:
        bits += 1
    zeros = np.zeros((bits, n + 1), dtype=np.int32)
    sums = np.zeros((bits, n + 1), dtype=np.int64)
    order = rank.copy()
    sorted_further = np.empty(n, dtype=np.int64)
    for level in range(bits):
        shift = bits - 1 - level
        for i in range(n):
            zeros[level, i + 1] = zeros[level, i] + 1 - (order[i] >> shift & 1)
        low = 0
        high = np.int64(zeros[level, n])
        for i in range(n):
            one = order[i] >> shift & 1
            sorted_further[high if one else low] = order[i]
            high += one
            low += 1 - one
        for i in range(n):
            order[i] = sorted_further[i]
            sums[level, i + 1] = sums[level, i] + values[order[i]]
    running = np.zeros(n + 1, dtype=np.int64)
    for i in range(n):
        running[i + 1] = running[i] + line[i]
    # all windows of a length go down bit by bit together: that keeps the processor busy while one waits for memory
    result = np.zeros((lengths.shape[0], n + 1))
    first = np.empty(n, dtype=np.int32)
    last = np.empty(n, dtype=np.int32)
    left = np.empty(n, dtype=np.int32)
    place = np.empty(n, dtype=np.int32)
    below = np.empty(n, dtype=np.int64)
    for k in range(lengths.shape[0]):
        length = lengths[k]
        if length == 1:
            continue
        step = length if aligned else 1
        windows = (n - length) // step + 1
        for w in range(windows):
            first[w] = w * step
            last[w] = w * step + length
            left[w] = length // 2
            place[w] = 0
            below[w] = 0
        for level in range(bits):
            for w in range(windows):
                a = zeros[level, first[w]]
                b = zeros[level, last[w]]
                ones = left[w] >= b - a
                below[w] += sums[level, b] - sums[level, a] if ones else 0
                left[w] -= b - a if ones else 0
                first[w] = zeros[level, n] + first[w] - a if ones else a
                last[w] = zeros[level, n] + last[w] - b if ones else b
                place[w] = 2 * place[w] + (1 if ones else 0)
        for w in range(windows):
            e = w * step + length
            middle = values[place[w]]
            lowest = below[w] + left[w] * middle
            result[k, e] = running[e] - running[e - length] - 2 * lowest - (middle if length % 2 == 1 else 0)
    return result


@njit("void(int64[:,::1], int64, int64, int64)", cache=True, inline="always")
def _add(tree, rank, many, amount):  # type: ignore[no-untyped-def]
    """Add ``many`` cells that hold ``amount`` together at a rank of the Fenwick tree."""
    place = rank + 1
    while place < tree.shape[0]:
        tree[place, 0] += many
        tree[place, 1] += amount
        place += place & -place


@njit("float64[:,::1](int64[::1], int64[::1], int64[::1], int64[::1])", cache=True)
def mean_deviations(line, rank, values, lengths):  # type: ignore[no-untyped-def]
    """The same about the mean: 2 (m * how many are at most m - their sum), with m = sum / L.

    A window slides over a Fenwick tree, which holds the number and the sum of its cells by rank; one descent finds
    those up to m, in O(log n).
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
