"""Non-negative least squares on totals of a tree of boxes and of a few boxes across it, by Newton's method on the dual.

Every measured total pulls its cells by a force, its precision times its misfit. A part of the grid has what the
forces on it leave: max(0, slack / own), where slack is its own pull less the forces. For a fixed set of parts that are
not empty everything is linear. Sums over a tree are then eliminated from the leaves up and put back from the root down;
boxes across the tree are one dense equation each. The next set is that of the parts with slack.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from dpbench.mathematics.kernels.matrices import inverse
from dpbench.mathematics.kernels.multiplicative_weights import next_row


@njit("int64(int64[::1], int64[::1], int64[::1])", cache=True)
def first_row(shape, lower, corner):  # type: ignore[no-untyped-def]
    """Set ``corner`` to the first row of a box; flat number of its first part."""
    first = 0
    for axis in range(shape.shape[0]):
        corner[axis] = lower[axis]
        first = first * shape[axis] + lower[axis]
    return first


@njit(
    "float64(float64[::1], int64[::1], int64[::1], int64[::1], int64[::1])",
    cache=True,
    fastmath={"reassoc", "contract"},
)
def total_in(values, shape, lower, upper, corner):  # type: ignore[no-untyped-def]
    """Sum of values of a grid over a box; ``corner`` is work space."""
    total = 0.0
    for axis in range(shape.shape[0]):
        if upper[axis] <= lower[axis]:
            return total
    width = upper[-1] - lower[-1]
    row = first_row(shape, lower, corner)
    while row >= 0:
        for c in range(row, row + width):
            total += values[c]
        row = next_row(shape, lower, upper, corner)
    return total


@njit("float64(float64[::1], float64[::1], float64[::1])", cache=True, fastmath={"reassoc", "contract"})
def product(one, other, third):  # type: ignore[no-untyped-def]
    """Sum of the products of three vectors."""
    total = 0.0
    for i in range(one.shape[0]):
        total += one[i] * other[i] * third[i]
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

    The minimum is of 1/2 sum own m^2 - own_pull m over parts, 1/2 weight S^2 - pull S over nodes of a tree with the
    masses S below them, and 1/2 precision (B - answers)^2 over boxes with the masses B in them. ``above`` is the parent
    of a node, which comes before it; ``leaf`` the node right above a part. Boxes are ``lower`` to ``upper`` ``(boxes,
    axes)`` of a grid of ``shape``. It starts with the parts that have a mass, which should not be empty.
    """
    parts, nodes, boxes = leaf.shape[0], above.shape[0], answers.shape[0]
    give, slack = np.empty(parts), np.empty(parts)
    alpha, beta, shrink, loss, force = (
        np.empty(nodes),
        np.empty(nodes),
        np.empty(nodes),
        np.empty(nodes),
        np.empty(nodes),
    )
    response = np.empty((boxes, nodes))
    matrix, misfit, across = np.empty((boxes, boxes)), np.empty(boxes), np.empty(boxes)
    corner, low, high = np.empty_like(shape), np.empty_like(shape), np.empty_like(shape)
    for c in range(parts):
        give[c] = 1.0 / own[c] if mass[c] > 0.0 else 0.0
    for step in range(steps):
        # up: what is below a node gives way by alpha to a unit of force, and has beta without any
        alpha[:] = 0.0
        beta[:] = 0.0
        for c in range(parts):
            alpha[leaf[c]] += give[c]
            mass[c] = give[c] * own_pull[c]
            beta[leaf[c]] += mass[c]
        for v in range(nodes - 1, -1, -1):
            shrink[v] = 1.0 / (1.0 + alpha[v] * weight[v])
            loss[v] = weight[v] * shrink[v]
            if v > 0:
                alpha[above[v]] += alpha[v] * shrink[v]
                beta[above[v]] += (beta[v] + alpha[v] * pull[v]) * shrink[v]
        # across: how the boxes give way to each other
        for k in range(boxes):
            mine = response[k]
            mine[:] = 0.0
            width = upper[k, -1] - lower[k, -1]
            row = first_row(shape, lower[k], corner)
            while row >= 0:
                for c in range(row, row + width):
                    mine[leaf[c]] += give[c]
                row = next_row(shape, lower[k], upper[k], corner)
            for v in range(nodes - 1, 0, -1):
                mine[above[v]] += mine[v] * shrink[v]
            misfit[k] = total_in(mass, shape, lower[k], upper[k], corner) - answers[k]
            for v in range(nodes):
                misfit[k] += mine[v] * shrink[v] * (pull[v] - weight[v] * beta[v])
            for other in range(k + 1):
                for axis in range(shape.shape[0]):
                    low[axis] = max(lower[k, axis], lower[other, axis])
                    high[axis] = min(upper[k, axis], upper[other, axis])
                both = total_in(give, shape, low, high, corner) - product(loss, mine, response[other])
                matrix[k, other] = matrix[other, k] = both
            matrix[k, k] += 1.0 / precision[k]
        inverted = inverse(matrix)
        for k in range(boxes):
            across[k] = 0.0
            for other in range(boxes):
                across[k] += inverted[k, other] * misfit[other]
        # down: forces, and what they leave
        for k in range(boxes):
            for v in range(nodes):
                beta[v] -= across[k] * response[k, v]
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
            width = upper[k, -1] - lower[k, -1]
            row = first_row(shape, lower[k], corner)
            while row >= 0:
                for c in range(row, row + width):
                    slack[c] -= across[k]
                row = next_row(shape, lower[k], upper[k], corner)
        changed = 0
        for c in range(parts):
            changed += (slack[c] > 0.0) != (give[c] > 0.0)
            give[c] = 1.0 / own[c] if slack[c] > 0.0 else 0.0
            mass[c] = give[c] * slack[c]
        if changed == 0:
            return step + 1
    return steps
