"""Least squares on a tree, two passes."""

from __future__ import annotations

import numpy as np
from numba import njit

_SIGNATURE = (
    "float64[:,::1](float64[:,::1], float64[::1], float64[::1], float64[::1], int64[::1], int64[::1], "
    "int64[::1], int64[::1], float64[::1], int64, int64)"
)


@njit(_SIGNATURE, cache=True)
def least_squares(  # type: ignore[no-untyped-def]
    answers, own, below, share, first_child, start, stop, order, part, skipped, cells
):
    """Up: z = own * y + below * sum of children's z. Down: x_c = z_c + share_c * (x_v - sum z).

    ``answers`` is ``(trials, measured)``; the first ``skipped`` nodes (the root, or none) have no answer. A leaf's
    estimate times ``part`` goes to each of its cells; returns ``(trials, cells)``.
    """
    trials = answers.shape[0]
    nodes = own.shape[0]
    result = np.zeros((trials, cells))
    z = np.empty(nodes)
    sums = np.empty(nodes)
    for t in range(trials):
        # up: the best estimate of each node from what is below it
        for v in range(nodes - 1, -1, -1):
            s = 0.0
            for c in range(first_child[v], first_child[v + 1]):
                s += z[c]
            sums[v] = s
            z[v] = below[v] * s
            if v >= skipped:
                z[v] += own[v] * answers[t, v - skipped]
        # down: what a node's children lack, shared among them
        for v in range(nodes):
            first = first_child[v]
            last = first_child[v + 1]
            if first == last:
                each = z[v] * part[v]
                for position in range(start[v], stop[v]):
                    cell = order[position]
                    if cell >= 0:
                        result[t, cell] = each
            else:
                missing = z[v] - sums[v]
                for c in range(first, last):
                    z[c] += share[c] * missing
    return result


@njit(
    "float64[::1](int64[:,::1], int64[:,::1], int64[:,::1], int64[::1], int64[::1], int64[::1], "
    "float64[::1], float64[::1], float64[::1], float64[::1])",
    cache=True,
)
def box_variances(  # type: ignore[no-untyped-def]
    lower, upper, coordinates, first_child, start, stop, part, leaf_variance, gain, damping
):
    """Variance of each box query: Q = sum f^2 / p over leaves - sum g_v (sum of children's R)^2.

    ``coordinates`` is ``(positions, axes)``, negative in padding. R is f / p at a leaf (f the covered share of its
    cells) and damping times the children's sum above; returns ``(queries,)``.
    """
    queries, axes = lower.shape
    nodes = start.shape[0]
    result = np.empty(queries)
    r = np.empty(nodes)
    for q in range(queries):
        total = 0.0
        for v in range(nodes - 1, -1, -1):
            first = first_child[v]
            last = first_child[v + 1]
            if first == last:
                covered = 0
                for position in range(start[v], stop[v]):
                    inside = 1
                    for a in range(axes):
                        c = coordinates[position, a]
                        if c < lower[q, a] or c >= upper[q, a]:
                            inside = 0
                    covered += inside
                f = covered * part[v]
                r[v] = f * leaf_variance[v]
                total += f * r[v]
            else:
                s = 0.0
                for c in range(first, last):
                    s += r[c]
                total -= gain[v] * s * s
                r[v] = damping[v] * s
        result[q] = total
    return result


@njit(
    "float64[:,::1](float64[:,::1], float64[::1], float64[::1], float64[::1], int64[::1], int64[::1], int64[::1], "
    "int64[::1], float64[::1], int64)",
    cache=True,
)
def influence(queries, own, below, share, first_child, start, stop, order, part, skipped):  # type: ignore[no-untyped-def]
    """How much of each answer :func:`least_squares` puts into each linear query of the cells: its transpose.

    ``queries`` is ``(many, cells)``; returns ``(many, measured)``. The passes run backwards: first what the query takes
    of each node's final estimate, from the leaves up, then of each z, from the root down.
    """
    many = queries.shape[0]
    nodes = own.shape[0]
    result = np.zeros((many, nodes - skipped))
    final = np.empty(nodes)
    missing = np.empty(nodes)
    for t in range(many):
        for v in range(nodes - 1, -1, -1):
            first = first_child[v]
            last = first_child[v + 1]
            if first == last:
                s = 0.0
                for position in range(start[v], stop[v]):
                    cell = order[position]
                    if cell >= 0:
                        s += queries[t, cell]
                final[v] = s * part[v]
            else:
                s = 0.0
                for c in range(first, last):
                    s += share[c] * final[c]
                missing[v] = s
                final[v] = s
        # final[v] is now what the query takes of x_v - z_v and of z_v itself; -missing goes to the sum of children's z
        for v in range(nodes):
            if v >= skipped:
                result[t, v - skipped] = own[v] * final[v]
            for c in range(first_child[v], first_child[v + 1]):
                final[c] += below[v] * final[v] - missing[v]
    return result
