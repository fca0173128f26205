"""Least squares on a tree, two passes."""

from __future__ import annotations

import numpy as np
from numba import njit

FEW = 8
"""Up to so many children that are single cells a node is looked at child by child."""
SPARSE = 16
"""Cells of the least box around a node's single cells, per such cell, up to which they get a table."""

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
    "Tuple((int64[::1], int64[::1], int64[:,::1], float64[::1]))"
    "(int64[:,::1], int64[::1], int64[::1], int64[::1], float64[::1])",
    cache=True,
)
def _cell_tables(coordinates, first_child, start, stop, leaf_variance):  # type: ignore[no-untyped-def]
    """Children that boxes of two axes look at one by one, and a summed-area table of each node's other ones.

    Those are leaves of a single cell, which a box holds all or none of: R and Q are both 1 / p. Returns where the
    children of each node begin ``(nodes + 1,)``, these children, each node's ``(x0, y0, width, height, offset)``, width
    0: no table, and all tables in one array.
    """
    nodes = start.shape[0]
    box = np.zeros((nodes, 5), dtype=np.int64)
    begin = np.zeros(nodes + 1, dtype=np.int64)
    size = np.int64(0)
    for v in range(nodes):
        x0 = y0 = np.int64(2**62)
        x1 = y1 = np.int64(-1)
        many = 0
        for c in range(first_child[v], first_child[v + 1]):
            if first_child[c] == first_child[c + 1] and stop[c] - start[c] == 1:
                many += 1
                x, y = coordinates[start[c], 0], coordinates[start[c], 1]
                if x >= 0:
                    x0, x1, y0, y1 = min(x0, x), max(x1, x), min(y0, y), max(y1, y)
        begin[v + 1] = begin[v] + first_child[v + 1] - first_child[v]
        if x1 >= 0 and many > FEW and (x1 - x0 + 1) * (y1 - y0 + 1) <= SPARSE * many:
            box[v] = x0, y0, x1 - x0 + 1, y1 - y0 + 1, size
            size += (x1 - x0 + 2) * (y1 - y0 + 2)
            begin[v + 1] -= many
    children = np.empty(begin[nodes], dtype=np.int64)
    tables = np.zeros(size)
    for v in range(nodes):
        x0, y0, width, height, offset = box[v]
        at = begin[v]
        for c in range(first_child[v], first_child[v + 1]):
            if width == 0 or first_child[c] < first_child[c + 1] or stop[c] - start[c] != 1:
                children[at] = c
                at += 1
            elif coordinates[start[c], 0] >= 0:
                x, y = coordinates[start[c], 0] - x0, coordinates[start[c], 1] - y0
                tables[offset + (x + 1) * (height + 1) + y + 1] = leaf_variance[c]
        for x in range(1, width + 1):
            row = 0.0
            for y in range(1, height + 1):
                place = offset + x * (height + 1) + y
                row += tables[place]
                tables[place] = tables[place - height - 1] + row
    return begin, children, box, tables


@njit("float64(int64[:,::1], int64[:,::1], int64, int64[::1], float64[::1])", cache=True)
def _in_table(lower, upper, q, box, tables):  # type: ignore[no-untyped-def]
    """What box query q holds of a node's table."""
    x0, y0, width, height, offset = box
    a, b = max(lower[q, 0] - x0, 0), min(upper[q, 0] - x0, width)
    c, d = max(lower[q, 1] - y0, 0), min(upper[q, 1] - y0, height)
    if a >= b or c >= d:
        return 0.0
    low, high = offset + a * (height + 1), offset + b * (height + 1)
    return tables[high + d] - tables[high + c] - tables[low + d] + tables[low + c]


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
    or none of, Q and R are known, so only nodes are looked at that it holds some of. On two axes the single cells of a
    node are added up by a table.
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
    begin, children = first_child - 1, np.arange(1, nodes)
    box, tables = np.zeros((nodes, 5), dtype=np.int64), np.zeros(0)
    if axes == 2:
        begin, children, box, tables = _cell_tables(coordinates, first_child, start, stop, leaf_variance)
    result = np.empty(queries)
    r = np.empty(nodes)
    single = np.zeros(nodes)
    cut = np.empty(nodes, dtype=np.int64)
    for q in range(queries):
        total = 0.0
        cut[0] = 0
        many = 1
        at = 0
        while at < many:  # downwards: which nodes the box cuts
            v = cut[at]
            at += 1
            if box[v, 2] > 0:
                single[v] = _in_table(lower, upper, q, box[v], tables)
                total += single[v]
            for place in range(begin[v], begin[v + 1]):
                c = children[place]
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
                s = single[v]
                for place in range(begin[v], begin[v + 1]):
                    s += r[children[place]]
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
