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
    cells) and damping times the children's sum above; returns ``(queries,)``. Below a node whose cells a box holds all
    or none of, Q and R are known, so only nodes are looked at that it holds some of.
    """
    queries, axes = lower.shape
    nodes = start.shape[0]
    least = np.full((nodes, axes), np.iinfo(np.int64).max)
    most = np.full((nodes, axes), -1)
    whole_q = np.zeros(nodes)
    whole_r = np.zeros(nodes)
    for v in range(nodes - 1, -1, -1):
        first = first_child[v]
        last = first_child[v + 1]
        if first == last:
            held = 0
            for position in range(start[v], stop[v]):
                if coordinates[position, 0] >= 0:
                    held += 1
                    for a in range(axes):
                        least[v, a] = min(least[v, a], coordinates[position, a])
                        most[v, a] = max(most[v, a], coordinates[position, a])
            f = held * part[v]
            whole_r[v] = f * leaf_variance[v]
            whole_q[v] = f * whole_r[v]
        else:
            s = 0.0
            for c in range(first, last):
                s += whole_r[c]
                whole_q[v] += whole_q[c]
                for a in range(axes):
                    least[v, a] = min(least[v, a], least[c, a])
                    most[v, a] = max(most[v, a], most[c, a])
            whole_q[v] -= gain[v] * s * s
            whole_r[v] = damping[v] * s
    result = np.empty(queries)
    r = np.empty(nodes)
    cut = np.empty(nodes, dtype=np.int64)
    for q in range(queries):
        total = 0.0
        cut[0] = 0
        many = 1
        at = 0
        while at < many:  # downwards: which nodes the box cuts
            v = cut[at]
            at += 1
            for c in range(first_child[v], first_child[v + 1]):
                within = True
                apart = False
                for a in range(axes):
                    if least[c, a] < lower[q, a] or most[c, a] >= upper[q, a]:
                        within = False
                    if most[c, a] < lower[q, a] or least[c, a] >= upper[q, a]:
                        apart = True
                if apart:
                    r[c] = 0.0
                elif within:
                    r[c] = whole_r[c]
                    total += whole_q[c]
                else:
                    cut[many] = c
                    many += 1
        for at in range(many - 1, -1, -1):  # and upwards through these
            v = cut[at]
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
