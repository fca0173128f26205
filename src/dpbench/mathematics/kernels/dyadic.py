"""Dyadic boxes between a square and the squares inside it: their numbers, extents and grids.

With (rows, columns) the squares inside, boxes are numbered 2 * columns * p + q by heap indices (p, q) along the axes:
(1, 1) is the square itself, and a box is cut into (2p, q), (2p + 1, q) or (p, 2q), (p, 2q + 1).
"""

from __future__ import annotations

import math

from numba import njit


@njit(inline="always")
def halves(p, q, wide, axis):  # type: ignore[no-untyped-def]
    """The two boxes that box (p, q) is cut into along an axis."""
    if axis == 0:
        return 2 * p * wide + q, (2 * p + 1) * wide + q
    return p * wide + 2 * q, p * wide + 2 * q + 1


@njit(inline="always")
def depth(p):  # type: ignore[no-untyped-def]
    """How many cuts an index of a heap is below the first."""
    found = 0
    while (p >> (found + 1)) > 0:
        found += 1
    return found


@njit(inline="always")
def kind_of(logs, p, q, rows, cols, columns):  # type: ignore[no-untyped-def]
    """The class of a box: its extents, and which axes it can be cut along."""
    cuttable = 0 if p < rows and q < cols else 1 if p < rows else 2
    return ((logs[0] - depth(p)) * columns + logs[1] - depth(q)) * 3 + cuttable


@njit(inline="always")
def middle_of(v, p, q, axis, logs, lean, first, both):  # type: ignore[no-untyped-def]
    """The first half's part of a box that is cut along an axis: by cells, and by how the density leans in its square.

    ``lean`` is the change of the density per cell, over the density in the middle of the square, along each axis.
    """
    part = first / both
    if lean[v, axis] == 0.0 or part <= 0.0 or part >= 1.0:
        return part
    own, other = (p, q) if axis == 0 else (q, p)
    extent = math.ldexp(1.0, logs[v, axis] - depth(own))
    place = (own - (1 << depth(own)) + 0.5) * extent - math.ldexp(0.5, logs[v, axis])
    across = math.ldexp(1.0, logs[v, 1 - axis] - depth(other))
    place_across = (other - (1 << depth(other)) + 0.5) * across - math.ldexp(0.5, logs[v, 1 - axis])
    here = 1.0 + lean[v, axis] * place + lean[v, 1 - axis] * place_across
    change = 0.25 * extent * lean[v, axis]
    one, two = first * (here - change), (both - first) * (here + change)
    return one / (one + two)


@njit(inline="always")
def alone(u, rows, cols, wide, first_child, v):  # type: ignore[no-untyped-def]
    """Whether a box is a square without squares inside."""
    p = u // wide
    q = u - p * wide
    if p < rows or q < cols:
        return False
    return first_child[first_child[v] + (p - rows) * cols + (q - cols)] < 0


@njit(inline="always")
def grid_around(z, sd, top, most, reach):  # type: ignore[no-untyped-def]
    """Lowest point, points per record, number of points: ``reach`` standard deviations around z, not below 0."""
    sd = max(sd, 1e-9 * abs(z), 1e-12)
    low = max(z - reach * sd, 0.0)
    high = min(max(z + reach * sd, 4.0 * sd), top)
    if low > high - 4.0 * sd:
        low = max(high - 4.0 * sd, 0.0)
    points = min(max(math.ceil((high - low) / (2.0 * reach * sd) * (most - 1) - 1e-9) + 1, 5), most)
    return low, (points - 1) / max(high - low, 1e-12), points
