"""Grids inside boxes."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(
    "Tuple((int64[:,::1], int64[:,::1], int64[::1]))(int64[:,::1], int64[:,::1], int64[::1])",
    cache=True,
)
def cut_into_squares(lower, upper, side):  # type: ignore[no-untyped-def]
    """Cut every box along each axis every ``side[box]`` cells, the last part shorter where it does not fit.

    Returns the parts, box by box and row by row inside, and how many each box has.
    """
    boxes, axes = lower.shape
    many = np.ones(boxes, dtype=np.int64)
    for b in range(boxes):
        for axis in range(axes):
            many[b] *= (upper[b, axis] - lower[b, axis] + side[b] - 1) // side[b]
    parts = many.sum()
    low = np.empty((parts, axes), dtype=np.int64)
    high = np.empty((parts, axes), dtype=np.int64)
    k = 0
    for b in range(boxes):
        low[k] = lower[b]
        for part in range(k, k + many[b]):
            if part > k:
                low[part] = low[part - 1]
                axis = axes - 1
                low[part, axis] += side[b]
                while low[part, axis] >= upper[b, axis]:
                    low[part, axis] = lower[b, axis]
                    axis -= 1
                    low[part, axis] += side[b]
            for axis in range(axes):
                high[part, axis] = min(low[part, axis] + side[b], upper[b, axis])
        k += many[b]
    return low, high, many
