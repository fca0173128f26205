"""Sums over boxes of a plane: the summed-area table in one pass over the cells, and four of its corners per box."""

from __future__ import annotations

import numpy as np
from numba import float64, int64, njit, types

_FLOATS, _WHOLE = types.Array(float64, 3, "C", readonly=True), types.Array(int64, 3, "C", readonly=True)
_CORNERS = types.Array(int64, 2, "C", readonly=True)
"""Counts and corners may be kept from being changed."""


@njit([float64[:, :, ::1](_FLOATS), int64[:, :, ::1](_WHOLE)], cache=True)
def summed_plane(values):  # type: ignore[no-untyped-def]
    """Sums below every pair of boundaries, by trial; numbers are added first along the second axis, then the third."""
    trials, rows, columns = values.shape
    table = np.zeros((trials, rows + 1, columns + 1), dtype=values.dtype)
    if rows == 0 or columns == 0:
        return table
    below = np.empty(columns, dtype=values.dtype)
    for trial in range(trials):
        for row in range(rows):
            if row == 0:
                below[:] = values[trial, row]
            else:
                for column in range(columns):
                    below[column] += values[trial, row, column]
            total = below[0]
            table[trial, row + 1, 1] = total
            for column in range(1, columns):
                total += below[column]
                table[trial, row + 1, column + 1] = total
    return table


@njit([float64[:, ::1](_FLOATS, _CORNERS, _CORNERS), int64[:, ::1](_WHOLE, _CORNERS, _CORNERS)], cache=True)
def boxes_of_plane(table, lower, upper):  # type: ignore[no-untyped-def]
    """The sum over every box, by trial, from its corners in a summed-area table."""
    trials, boxes = table.shape[0], lower.shape[0]
    sums = np.zeros((trials, boxes), dtype=table.dtype)
    for trial in range(trials):
        for box in range(boxes):
            top, bottom, left, right = lower[box, 0], upper[box, 0], lower[box, 1], upper[box, 1]
            sums[trial, box] += table[trial, bottom, right]
            sums[trial, box] -= table[trial, bottom, left]
            sums[trial, box] -= table[trial, top, right]
            sums[trial, box] += table[trial, top, left]
    return sums
