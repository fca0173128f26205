"""Means, variances and covariances down a line that is halved again and again: node i has the halves 2i and 2i + 1."""

from __future__ import annotations

import numpy as np
from numba import njit

from dpbench.mathematics.kernels.cascade import TREE
from dpbench.mathematics.kernels.dyadic import depth

NOTHING, MEAN, BOTH = 0, 1, 2
"""What the posterior of boxes says of a node."""


@njit(
    f"void({TREE}, int64[:,::1], int64[::1], float64[:,::1], float64[::1], int64, int64, float64[::1], float64[::1], "
    "float64[::1], float64[::1])",
    cache=True,
    error_model="numpy",
)
def node_moments(  # type: ignore[no-untyped-def]
    tree, corner, places, noted, estimate, until, height, below_mean, below_variance, mean, variance
):
    """Mean and variance of every node: the posterior's of its box, and where there is no box least squares' given it.

    ``below_*`` are least squares of the nodes by what is inside; 0 in padding. Boxes are those of squares up to
    ``until``; a square without squares inside has a mean and no box. The variance of the root comes in as least
    squares'. Mass that lies on the points of a coarse grid varies more than what it stands for, so no variance is
    larger than that of least squares.
    """
    first_child, log_grid, logs, cells = tree
    known = np.zeros(len(mean), dtype=np.int64)
    largest = np.zeros(len(mean))
    largest[1] = variance[1]
    for here in range(2, len(mean)):
        both = below_variance[here] + below_variance[here ^ 1]
        if both > 0.0:
            share = below_variance[here] / both
            largest[here] = below_variance[here] * (1.0 - share) + share * share * largest[here // 2]
    for v in range(until):
        if first_child[v] < 0 or cells[v] <= 0.0:
            continue
        rows = 1 << log_grid[v, 0]
        node = (1 << (height - logs[v, 0])) + (corner[v, 0] >> logs[v, 0])
        for p in range(1, 2 * rows):
            here = (node << depth(p)) + p - (1 << depth(p))
            c = first_child[v] + p - rows
            if p >= rows and first_child[c] < 0:
                mean[here], known[here] = estimate[c], MEAN
            else:
                b = places[v] + 2 * p + 1
                mean[here], variance[here], known[here] = noted[0, b], min(noted[1, b], largest[here]), BOTH
    for here in range(2, len(mean)):
        around, other = here // 2, here ^ 1
        both = below_variance[here] + below_variance[other]
        if known[here] == BOTH or both <= 0.0:
            continue
        share = below_variance[here] / both
        variance[here] = below_variance[here] * (1.0 - share) + share * share * variance[around]
        if known[here] == NOTHING:
            mean[here] = below_mean[here] + share * (mean[around] - below_mean[here] - below_mean[other])


@njit("float64[:,::1](float64[::1], float64[::1], float64[:,::1])", cache=True, error_model="numpy")
def times_covariance(mean, variance, columns):  # type: ignore[no-untyped-def]
    """The covariance of the last nodes, by the variances of all, applied to columns ``(blocks, lanes)``.

    The regression of the half l on the node v is (V_l - V_r + V_v) / (2 V_v); the split adds V_l less what that gives.
    """
    nodes, lanes = len(mean), columns.shape[1]
    blocks = columns.shape[0]
    share = np.zeros(nodes)
    split = np.zeros(nodes // 2)
    inner = np.zeros((nodes, lanes))
    inner[nodes // 2 : nodes // 2 + blocks] = columns
    for v in range(nodes // 2 - 1, 0, -1):
        one, two = 2 * v, 2 * v + 1
        if variance[v] > 0.0:
            share[one] = min(max(0.5 + 0.5 * (variance[one] - variance[two]) / variance[v], 0.0), 1.0)
        elif mean[v] > 0.0:
            share[one] = min(max(mean[one] / mean[v], 0.0), 1.0)
        share[two] = 1.0 - share[one]
        by_node = (share[one] * share[one] + share[two] * share[two]) * variance[v]
        split[v] = max(0.5 * (variance[one] + variance[two] - by_node), 0.0)
        for k in range(lanes):
            inner[v, k] = share[one] * inner[one, k] + share[two] * inner[two, k]
    result = np.zeros((nodes, lanes))
    for k in range(lanes):
        result[1, k] = variance[1] * inner[1, k]
    for v in range(1, nodes // 2):
        one, two = 2 * v, 2 * v + 1
        for k in range(lanes):
            added = split[v] * (inner[one, k] - inner[two, k])
            result[one, k] = share[one] * result[v, k] + added
            result[two, k] = share[two] * result[v, k] - added
    return result[nodes // 2 : nodes // 2 + blocks].copy()
