"""Loops over a p-Identity strategy: per cell of an axis, the few rows that hold it and its weights in them.

``rows`` and ``theta`` are ``(cells, width)``; an entry of weight 0 counts for nothing. Values along the axis are
``(cells, lanes)``: what happens to a lane does not depend on how many there are.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_ROWS = "int64[:,::1], float64[:,::1]"


@njit(f"float64[:,::1]({_ROWS}, int64)", cache=True)
def gram(rows, theta, count):  # type: ignore[no-untyped-def]
    """G = I + Theta Theta^T, ``(count, count)``."""
    result = np.eye(count)
    cells, width = rows.shape
    for j in range(cells):
        for a in range(width):
            t = theta[j, a]
            if t != 0.0:
                for b in range(width):
                    result[rows[j, a], rows[j, b]] += t * theta[j, b]
    return result


@njit(f"float64[:,::1]({_ROWS}, float64[::1], int64)", cache=True)
def spread(rows, theta, s, count):  # type: ignore[no-untyped-def]
    """S Theta^T, ``(cells, count)``."""
    cells, width = rows.shape
    result = np.zeros((cells, count))
    for j in range(cells):
        for a in range(width):
            result[j, rows[j, a]] += theta[j, a] * s[j]
    return result


@njit(f"float64[:,::1]({_ROWS}, float64[::1], float64[:,::1])", cache=True)
def gather(rows, theta, s, h):  # type: ignore[no-untyped-def]
    """(Theta S) H, ``(count, count)``, for H ``(cells, count)``."""
    cells, width = rows.shape
    count = h.shape[1]
    result = np.zeros((count, count))
    for j in range(cells):
        for a in range(width):
            weight = theta[j, a] * s[j]
            if weight != 0.0:
                k = rows[j, a]
                for m in range(count):
                    result[k, m] += weight * h[j, m]
    return result


@njit(
    f"float64[:,::1]({_ROWS}, float64[::1], float64[::1], float64[:,::1], float64[:,::1], float64[:,::1])",
    cache=True,
    fastmath={"reassoc", "contract"},
)
def gradient(rows, theta, s, diagonal, inverse, z, h):  # type: ignore[no-untyped-def]
    """df/dTheta = 2 d_j - 2 (q_kj s_j - z_kj) at every stored entry, with q = G^-1 H and d_j = K_jj s_j - theta . q."""
    cells, width = rows.shape
    count = h.shape[1]
    result = np.empty((cells, width))
    q = np.empty(width)
    for j in range(cells):
        d = diagonal[j] * s[j]
        for a in range(width):
            k = rows[j, a]
            total = 0.0
            for m in range(count):
                total += inverse[k, m] * h[j, m]
            q[a] = total
            d -= theta[j, a] * total
        for a in range(width):
            total = 0.0
            for b in range(width):
                total += z[rows[j, a], rows[j, b]] * theta[j, b]
            result[j, a] = 2.0 * (d - q[a] * s[j] + total)
    return result


@njit(f"float64[:,::1]({_ROWS}, float64[::1], int64, float64[:,::1])", cache=True)
def measure(rows, weight, cell, count, values):  # type: ignore[no-untyped-def]
    """Weighted cells, then the rows: ``(cells + count, lanes)`` from ``(cells, lanes)``."""
    cells, width = rows.shape
    lanes = values.shape[1]
    result = np.zeros((cells + count, lanes))
    for j in range(cells):
        for i in range(lanes):
            result[j, i] = cell[j] * values[j, i]
        for a in range(width):
            w = weight[j, a]
            if w != 0.0:
                k = cells + rows[j, a]
                for i in range(lanes):
                    result[k, i] += w * values[j, i]
    return result


@njit(f"float64[:,::1]({_ROWS}, float64[::1], float64[:,::1], float64[:,::1])", cache=True)
def solve(rows, theta, s, inverse, answers):  # type: ignore[no-untyped-def]
    """S (y_cells + Theta^T G^-1 (y_rows - Theta y_cells)): ``(cells, lanes)``."""
    cells, width = rows.shape
    count = inverse.shape[0]
    lanes = answers.shape[1]
    surprise = answers[cells:].copy()
    for j in range(cells):
        for a in range(width):
            t = theta[j, a]
            if t != 0.0:
                k = rows[j, a]
                for i in range(lanes):
                    surprise[k, i] -= t * answers[j, i]
    solved = np.zeros((count, lanes))
    for k in range(count):
        for m in range(count):
            g = inverse[k, m]
            for i in range(lanes):
                solved[k, i] += g * surprise[m, i]
    result = answers[:cells].copy()
    for j in range(cells):
        for a in range(width):
            t = theta[j, a]
            if t != 0.0:
                k = rows[j, a]
                for i in range(lanes):
                    result[j, i] += t * solved[k, i]
        for i in range(lanes):
            result[j, i] *= s[j]
    return result
