"""What least squares on a tree multiplies by, and what is asked of it: one pass over the nodes each.

Nodes are breadth first; the children of v are ``first_child[v] ... first_child[v + 1] - 1``. A tree that follows from
private cuts is another one in every trial, so all of this is computed as often as it is used.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit("float64(float64[::1])", cache=True)
def _sum(values):  # type: ignore[no-untyped-def]
    """The sum in numpy's order: by eights up to 128, beyond that by halves."""
    many = values.shape[0]
    if many > 128:
        half = many // 2 // 8 * 8
        return _sum(values[:half]) + _sum(values[half:])
    if many < 8:
        total = 0.0
        for value in values:
            total += value
        return total
    r0, r1, r2, r3 = values[0], values[1], values[2], values[3]
    r4, r5, r6, r7 = values[4], values[5], values[6], values[7]
    whole = many // 8 * 8
    for i in range(8, whole, 8):
        r0 += values[i]
        r1 += values[i + 1]
        r2 += values[i + 2]
        r3 += values[i + 3]
        r4 += values[i + 4]
        r5 += values[i + 5]
        r6 += values[i + 6]
        r7 += values[i + 7]
    total = ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7))
    for i in range(whole, many):
        total += values[i]
    return total


@njit("Tuple((float64[::1], float64[::1]))(float64[::1], int64[::1])", cache=True)
def recurrence(weight, first_child):  # type: ignore[no-untyped-def]
    """k_v, the variance of the children's sum (0 for a leaf), and P_v = w_v^2 + 1 / k_v, from the leaves up.

    Sums are in the order of ``numpy.add.reduceat``: the first child, plus the sum of the others.
    """
    nodes = weight.shape[0]
    variance = np.zeros(nodes)
    precision = np.empty(nodes)
    inverse = np.empty(nodes)
    for v in range(nodes - 1, -1, -1):
        precision[v] = weight[v] * weight[v]
        first = first_child[v]
        last = first_child[v + 1]
        if first < last:
            variance[v] = inverse[first]
            if last - first > 1:
                variance[v] += _sum(inverse[first + 1 : last])
            precision[v] += 1.0 / variance[v]
        inverse[v] = 1.0 / precision[v]
    return variance, precision


@njit(
    "Tuple((float64[::1], float64[::1], float64[::1]))(float64[::1], int64[::1], float64[::1], float64[::1])",
    cache=True,
)
def coefficients(weight, first_child, variance, precision):  # type: ignore[no-untyped-def]
    """What the two passes multiply by: own answer w / P, children's sum 1 / (k P), share of the excess 1 / P / k."""
    nodes = weight.shape[0]
    own = np.empty(nodes)
    below = np.zeros(nodes)
    share = np.empty(nodes)
    share[0] = 1.0 / precision[0]
    for v in range(nodes):
        own[v] = weight[v] / precision[v]
        if first_child[v] < first_child[v + 1]:
            below[v] = 1.0 / (variance[v] * precision[v])
            for c in range(first_child[v], first_child[v + 1]):
                share[c] = 1.0 / precision[c] / variance[v]
    return own, below, share


@njit("float64(float64[::1], int64[::1])", cache=True)
def heaviest_path(weight, first_child):  # type: ignore[no-untyped-def]
    """The largest sum of weights from the root to a leaf."""
    path = weight.copy()
    heaviest = 0.0
    for v in range(weight.shape[0]):
        for c in range(first_child[v], first_child[v + 1]):
            path[c] += path[v]
        if first_child[v] == first_child[v + 1]:
            heaviest = max(heaviest, path[v])
    return heaviest


@njit("float64[::1](int64[::1], int64[::1], int64[::1], int64[::1], float64[::1], int64)", cache=True)
def weighted_totals(counts, order, start, stop, weight, skipped):  # type: ignore[no-untyped-def]
    """Weighted counts of all nodes but the first ``skipped``, from one running sum of the cells along the line."""
    running = np.empty(order.shape[0] + 1, dtype=np.int64)
    running[0] = 0
    for position in range(order.shape[0]):
        cell = order[position]
        running[position + 1] = running[position] + (counts[cell] if cell >= 0 else 0)
    result = np.empty(start.shape[0] - skipped)
    for v in range(skipped, start.shape[0]):
        result[v - skipped] = weight[v] * (running[stop[v]] - running[start[v]])
    return result


@njit("int64[::1](int64[::1], int64[::1], int64[::1])", cache=True)
def cells_inside(order, start, stop):  # type: ignore[no-untyped-def]
    """How many positions of each node are cells of the domain."""
    running = np.empty(order.shape[0] + 1, dtype=np.int64)
    running[0] = 0
    for position in range(order.shape[0]):
        running[position + 1] = running[position] + (order[position] >= 0)
    result = np.empty(start.shape[0], dtype=np.int64)
    for v in range(start.shape[0]):
        result[v] = running[stop[v]] - running[start[v]]
    return result
