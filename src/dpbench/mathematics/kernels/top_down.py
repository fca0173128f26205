"""From the whole domain down: a parent's value is shared between its two halves."""

from __future__ import annotations

import numpy as np
from numba import njit

_SIGNATURE = "float64[:,::1](float64[:,::1], int64[::1], int64[::1])"


@njit("void(float64[::1], float64[::1], int64[::1], int64[::1])", cache=True, inline="always")
def _add_up(value, row, child, cell):  # type: ignore[no-untyped-def]
    """The value of every node: a leaf's is its cell's, any other's the sum of its two halves'."""
    for v in range(child.shape[0] - 1, -1, -1):
        c = child[v]
        value[v] = row[cell[v]] if c < 0 else value[c] + value[c + 1]


@njit(_SIGNATURE, cache=True)
def share_out(estimate, child, cell):  # type: ignore[no-untyped-def]
    """x_root = max(0, z_root); halves c >= 0 with c_l + c_r = x_v, nearest to (z_l, z_r).

    ``child`` is the first of the two halves of each node, -1 at a leaf, whose cell ``cell`` has.
    """
    trials, cells = estimate.shape
    result = np.empty((trials, cells))
    z = np.empty(child.shape[0])
    for t in range(trials):
        _add_up(z, estimate[t], child, cell)
        z[0] = max(z[0], 0.0)
        for v in range(child.shape[0]):
            c = child[v]
            if c < 0:
                result[t, cell[v]] = z[v]
                continue
            left = 0.5 * (z[v] + z[c] - z[c + 1])
            left = min(max(left, 0.0), z[v])
            z[c] = left
            z[c + 1] = z[v] - left
    return result


@njit(_SIGNATURE, cache=True)
def round_down_the_tree(estimate, child, cell):  # type: ignore[no-untyped-def]
    """X_root = round(x_root); X_l = round(x_l + (X_v - x_v) / 2), X_r = X_v - X_l.

    What a node is off by, each half is off by half of, and by at most 1/2 more: every node stays within 1 of x.
    """
    trials, cells = estimate.shape
    result = np.empty((trials, cells))
    x = np.empty(child.shape[0])
    off = np.empty(child.shape[0])
    for t in range(trials):
        _add_up(x, estimate[t], child, cell)
        off[0] = np.floor(x[0] + 0.5) - x[0]
        for v in range(child.shape[0]):
            c = child[v]
            if c < 0:
                result[t, cell[v]] = np.rint(x[v] + off[v])
                continue
            off[c] = np.floor(x[c] + 0.5 * off[v] + 0.5) - x[c]
            off[c + 1] = off[v] - off[c]
    return result
