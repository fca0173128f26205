"""Non-negative least squares on box sums, by projected gradients with momentum; sums by tables, not by matrices."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit("void(float64[::1], int64[::1], int64)", cache=True)
def accumulate(table, sides, direction):  # type: ignore[no-untyped-def]
    """Running sums of a flat table along every axis, in place: forward (1) or backward (-1)."""
    inner = 1
    for axis in range(sides.shape[0] - 1, -1, -1):
        side = sides[axis]
        for outer in range(table.shape[0] // (side * inner)):
            first = outer * side * inner
            if direction > 0:
                for i in range(first + inner, first + side * inner):
                    table[i] += table[i - inner]
            else:
                for i in range(first + (side - 1) * inner - 1, first - 1, -1):
                    table[i] += table[i + inner]
        inner *= side


@njit(
    "void(float64[::1], float64[::1], int64[::1], int64[:,::1], float64[::1], int64[::1], float64[::1], float64[::1], "
    "float64[::1], float64[::1], float64[::1], float64[::1])",
    cache=True,
)
def gradient(  # type: ignore[no-untyped-def]
    cells, many, place, corner, sign, sides, answers, precision, own_answers, own_precision, table, result
):
    """Gradient of half the weighted squared misfit of boxes and of single cells, into ``result`` ``(cells,)``.

    Each of ``cells`` stands for ``many`` equal ones; the gradient is that along one of these.
    ``place`` ``(cells,)`` is where a cell lies in the table of ``sides``; ``corner`` ``(boxes, 2^axes)`` says where the
    corners of a box lie, with ``sign`` each. The adjoint of running sums are running sums the other way.
    """
    for i in range(table.shape[0]):
        table[i] = 0.0
    for c in range(cells.shape[0]):
        table[place[c]] = cells[c] * many[c]
    accumulate(table, sides, 1)
    boxes, corners = corner.shape
    misfit = np.empty(boxes)
    for j in range(boxes):
        inside = 0.0
        for k in range(corners):
            inside += sign[k] * table[corner[j, k]]
        misfit[j] = precision[j] * (inside - answers[j])
    for i in range(table.shape[0]):
        table[i] = 0.0
    for j in range(boxes):
        for k in range(corners):
            table[corner[j, k]] += sign[k] * misfit[j]
    accumulate(table, sides, -1)
    for c in range(cells.shape[0]):
        result[c] = table[place[c]] + own_precision[c] * (cells[c] - own_answers[c])


@njit(
    "int64(float64[::1], float64[::1], int64[::1], int64[:,::1], float64[::1], int64[::1], float64[::1], float64[::1], "
    "float64[::1], float64[::1], int64, float64)",
    cache=True,
)
def descend(  # type: ignore[no-untyped-def]
    cells, many, place, corner, sign, sides, answers, precision, own_answers, own_precision, steps, tolerance
):
    """Move ``cells``, each for ``many`` equal ones, to the minimum over non-negative ones; how many steps it took.

    The step is one over the largest row sum of the Hessian, which has no negative entries, so its largest eigenvalue is
    no larger. Momentum starts again where it points uphill. It stops where no cell moves by more than ``tolerance``
    times the largest.
    """
    n = cells.shape[0]
    size = 1
    for axis in range(sides.shape[0]):
        size *= sides[axis]
    table = np.empty(size)
    ahead, slope = cells.copy(), np.empty(n)
    gradient(
        np.ones(n),
        many,
        place,
        corner,
        sign,
        sides,
        np.zeros(answers.shape[0]),
        precision,
        np.zeros(n),
        own_precision,
        table,
        slope,
    )
    largest = slope.max()
    momentum = 1.0
    for step in range(steps):
        gradient(ahead, many, place, corner, sign, sides, answers, precision, own_answers, own_precision, table, slope)
        uphill, moved, top = 0.0, 0.0, 0.0
        for c in range(n):
            new = max(0.0, ahead[c] - slope[c] / largest)
            change = new - cells[c]
            uphill += (ahead[c] - new) * change * many[c]
            moved = max(moved, abs(change))
            top = max(top, new)
            slope[c] = change
            cells[c] = new
        if uphill > 0.0:
            momentum = 1.0
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum * momentum))
        carried = (momentum - 1.0) / following
        momentum = following
        for c in range(n):
            ahead[c] = cells[c] + carried * slope[c]
        if moved <= tolerance * top:
            return step + 1
    return steps
