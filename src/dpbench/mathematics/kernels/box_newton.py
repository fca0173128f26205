"""Non-negative least squares on totals of a tree of boxes and of a few boxes across it, by Newton's method on the dual.

Every measured total pulls at its parts with a force, its precision times its misfit. A part has what the forces on it
leave: max(0, slack / own), where slack is its own pull less the forces. As long as the same parts have slack all of
that is linear. Forces of a tree are eliminated from the leaves up and put back from the root down; a box across the
tree is one dense equation. Then the parts that have slack are found anew, until they stay the same: the minimum.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from dpbench.mathematics.kernels.matrices import inverse
from dpbench.mathematics.kernels.multiplicative_weights import next_row

_SUMS = {"reassoc", "contract"}


@njit("void(int32[::1], boolean[::1], float64[::1], float64[::1], int32[::1], float64[::1], float64[::1])", cache=True)
def take_over(above, cells, weight, pull, leaf, own, own_pull):  # type: ignore[no-untyped-def]
    """Parts right below a node that is one of the single ``cells`` take over its totals, and go to the node above."""
    for c in range(leaf.shape[0]):
        v = leaf[c]
        if cells[v]:
            own[c] += weight[v]
            own_pull[c] += pull[v]
            leaf[c] = above[v]


@njit("int64(int64[::1], int64[::1], int64[::1])", cache=True)
def first_row(shape, lower, corner):  # type: ignore[no-untyped-def]
    """Set ``corner`` to the first row of a box; flat number of its first part."""
    first = 0
    for axis in range(shape.shape[0]):
        corner[axis] = lower[axis]
        first = first * shape[axis] + lower[axis]
    return first


@njit("int64(int32[::1], int32[::1], int64[::1], int64[::1], int64[::1], int64[::1], int32[::1])", cache=True)
def nodes_above(above, leaf, shape, lower, upper, corner, places):  # type: ignore[no-untyped-def]
    """List the nodes above the parts of a box, ascending, in ``places``; how many. ``corner`` is work space."""
    seen = np.zeros(above.shape[0], dtype=np.bool_)
    width = upper[-1] - lower[-1]
    row = first_row(shape, lower, corner)
    while row >= 0:
        for c in range(row, row + width):
            seen[leaf[c]] = True
        row = next_row(shape, lower, upper, corner)
    for v in range(above.shape[0] - 1, 0, -1):
        if seen[v]:
            seen[above[v]] = True
    many = 0
    for v in range(above.shape[0]):
        places[many] = v
        many += seen[v]
    return many


@njit("float64(float64[::1], int64[::1], int64[:,::1], int64[:,::1], int64, int64, int64[:,::1])", cache=True)
def total_in_both(running, shape, lower, upper, one, other, work):  # type: ignore[no-untyped-def]
    """Sum over the parts in two boxes of what ``running`` sums along the last axis; ``work`` is ``(3, axes)``."""
    low, high, corner = work[0], work[1], work[2]
    for axis in range(shape.shape[0]):
        low[axis] = max(lower[one, axis], lower[other, axis])
        high[axis] = min(upper[one, axis], upper[other, axis])
        if high[axis] <= low[axis]:
            return 0.0
    total = 0.0
    width = high[-1] - low[-1]
    row = first_row(shape, low, corner)
    while row >= 0:
        total += running[row + width - 1] - (running[row - 1] if low[-1] > 0 else 0.0)
        row = next_row(shape, low, high, corner)
    return total


@njit("float64(int32[::1], float64[::1], float64[::1], float64[::1])", cache=True, fastmath=_SUMS)
def product(places, one, other, third):  # type: ignore[no-untyped-def]
    """Sum of the products of three vectors at some places."""
    total = 0.0
    for v in places:
        total += one[v] * other[v] * third[v]
    return total


@njit(
    "int64(int32[::1], float64[::1], float64[::1], int32[::1], float64[::1], float64[::1], int64[::1], int64[:,::1], "
    "int64[:,::1], float64[::1], float64[::1], float64[::1], int64)",
    cache=True,
)
def fit(  # type: ignore[no-untyped-def]
    above, weight, pull, leaf, own, own_pull, shape, lower, upper, precision, answers, mass, steps
):
    """Set ``mass`` of the parts of a grid to the non-negative minimum; how many steps it took.

    The minimum is of 1/2 own m^2 - own_pull m over parts, 1/2 weight S^2 - pull S over nodes of a tree with the masses
    S below them, and 1/2 precision (B - answers)^2 over boxes with the masses B in them. ``above`` is the parent of a
    node, which comes before it; ``leaf`` the node right above a part. Boxes are ``lower`` to ``upper`` ``(boxes,
    axes)`` of a grid of ``shape``. It starts from the parts that have a mass.
    """
    parts, nodes, boxes = leaf.shape[0], above.shape[0], answers.shape[0]
    room = 1.0 / own  # what a part gives way to a unit of force, if it has slack
    give, slack = np.where(mass > 0.0, room, 0.0), np.empty(parts)
    shrink, loss, force = np.empty(nodes), np.empty(nodes), np.empty(nodes)
    response, listed = np.zeros((boxes, nodes)), np.empty((boxes, nodes + 1), dtype=np.int32)
    matrix, misfit, across = np.empty((boxes, boxes)), np.empty(boxes), np.empty(boxes)
    work = np.empty((3, shape.shape[0]), dtype=np.int64)
    many = np.empty(boxes, dtype=np.int64)
    for k in range(boxes):
        many[k] = nodes_above(above, leaf, shape, lower[k], upper[k], work[0], listed[k])
    for step in range(steps):
        # up: what is below a node gives way by alpha to a unit of force, and has beta without any
        alpha, beta = np.zeros(nodes), np.zeros(nodes)
        for c in range(parts):
            alpha[leaf[c]] += give[c]
            beta[leaf[c]] += give[c] * own_pull[c]
        for v in range(nodes - 1, -1, -1):
            shrink[v] = 1.0 / (1.0 + alpha[v] * weight[v])
            loss[v] = weight[v] * shrink[v]
            if v > 0:
                alpha[above[v]] += alpha[v] * shrink[v]
                beta[above[v]] += (beta[v] + alpha[v] * pull[v]) * shrink[v]
        # across: how the boxes give way to each other
        running = slack
        for row in range(0, parts if boxes > 0 else 0, shape[-1]):
            run = 0.0
            for c in range(row, row + shape[-1]):
                run += give[c]
                running[c] = run
        for k in range(boxes):
            mine, places = response[k], listed[k, : many[k]]
            for v in places:
                mine[v] = 0.0
            inside = -answers[k]
            row = first_row(shape, lower[k], work[0])
            while row >= 0:
                for c in range(row, row + upper[k, -1] - lower[k, -1]):
                    mine[leaf[c]] += give[c]
                    inside += give[c] * own_pull[c]
                row = next_row(shape, lower[k], upper[k], work[0])
            for v in places[:0:-1]:
                mine[above[v]] += mine[v] * shrink[v]
            for v in places:
                inside += mine[v] * shrink[v] * (pull[v] - weight[v] * beta[v])
            misfit[k] = inside
            for other in range(k + 1):
                fewer = places if many[k] <= many[other] else listed[other, : many[other]]
                shared = product(fewer, loss, mine, response[other])
                both = total_in_both(running, shape, lower, upper, k, other, work) - shared
                matrix[k, other] = matrix[other, k] = both
            matrix[k, k] += 1.0 / precision[k]
        inverted = inverse(matrix)
        for k in range(boxes):
            across[k] = 0.0
            for other in range(boxes):
                across[k] += inverted[k, other] * misfit[other]
            for v in listed[k, : many[k]]:
                beta[v] -= across[k] * response[k, v]
        # down: forces, by the difference that rounding spoils less, and what they leave
        for v in range(nodes):
            before = force[above[v]] if v > 0 else 0.0
            total = (beta[v] + alpha[v] * (pull[v] - before)) * shrink[v]
            if alpha[v] * weight[v] > 1.0:
                force[v] = (beta[v] - total) / alpha[v]
            else:
                force[v] = before + weight[v] * total - pull[v]
        for c in range(parts):
            slack[c] = own_pull[c] - force[leaf[c]]
        for k in range(boxes):
            row = first_row(shape, lower[k], work[0])
            while row >= 0:
                for c in range(row, row + upper[k, -1] - lower[k, -1]):
                    slack[c] -= across[k]
                row = next_row(shape, lower[k], upper[k], work[0])
        changed = 0
        for c in range(parts):
            now = room[c] if slack[c] > 0.0 else 0.0
            changed += now != give[c]
            give[c] = now
            mass[c] = now * slack[c]
        if changed == 0:
            return step + 1
    return steps
