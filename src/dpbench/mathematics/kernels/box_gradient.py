"""Non-negative least squares on box sums, by projected gradients with momentum; sums by tables, not by matrices.

A table has a row and a column more than the grid, before the first. Running sums along the last axis are taken where
cells are read or moved anyway; those along the others add whole rows.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit("void(float64[::1], int64[::1], int64)", cache=True)
def accumulate(table, sides, direction):  # type: ignore[no-untyped-def]
    """Running sums of a flat table along every axis but the last, in place: forward (1) or backward (-1)."""
    inner = sides[-1]
    for axis in range(sides.shape[0] - 2, -1, -1):
        side = sides[axis]
        for outer in range(table.shape[0] // (side * inner)):
            first = outer * side * inner
            for step in range(1, side):
                to = first + (step if direction > 0 else side - 1 - step) * inner
                by = to - direction * inner
                row, other = table[to : to + inner], table[by : by + inner]
                for i in range(inner):
                    row[i] += other[i]
        inner *= side


@njit(
    "void(float64[::1], float64[::1], int64[::1], int64[:,::1], float64[::1], int64[::1], float64[::1], float64[::1], "
    "float64[::1], float64[::1])",
    cache=True,
)
def misfits(cells, many, begin, corner, sign, sides, answers, precision, sums, table):  # type: ignore[no-untyped-def]
    """Misfits of the boxes, each by its precision, summed backward along every axis but the last, into ``table``.

    Each of ``cells`` stands for ``many`` equal ones. ``begin`` is where each row of the grid begins in a table of
    ``sides``; ``corner`` ``(boxes, 2^axes)`` says where the corners of a box lie, with ``sign`` each. ``sums`` is 0
    where no cell lies. The adjoint of running sums are running sums the other way.
    """
    width = sides[-1] - 1
    for row in range(begin.shape[0]):
        run = 0.0
        for j in range(width):
            run += cells[row * width + j] * many[row * width + j]
            sums[begin[row] + j] = run
    accumulate(sums, sides, 1)
    table[:] = 0.0
    boxes, corners = corner.shape
    for b in range(boxes):
        inside = 0.0
        for k in range(corners):
            inside += sign[k] * sums[corner[b, k]]
        misfit = precision[b] * (inside - answers[b])
        for k in range(corners):
            table[corner[b, k]] += sign[k] * misfit
    accumulate(table, sides, -1)


@njit(
    "int64(float64[::1], float64[::1], int64[::1], int64[:,::1], float64[::1], int64[::1], float64[::1], float64[::1], "
    "float64[::1], float64[::1], int64, float64)",
    cache=True,
)
def descend(  # type: ignore[no-untyped-def]
    cells, many, begin, corner, sign, sides, answers, precision, own_answers, own_precision, steps, tolerance
):
    """Move ``cells``, each for ``many`` equal ones, to the minimum over non-negative ones; how many steps it took.

    Half the weighted squared misfit of boxes and of single cells is made small; its gradient is that along one of the
    equal cells. The step is one over the largest row sum of the Hessian, which has no negative entries, so its largest
    eigenvalue is no larger. Momentum starts again where it points uphill. It stops where no cell moves by more than
    ``tolerance`` times the largest.
    """
    n, width = cells.shape[0], sides[-1] - 1
    size = 1
    for axis in range(sides.shape[0]):
        size *= sides[axis]
    sums, table = np.zeros(size), np.empty(size)
    ahead, change = cells.copy(), np.empty(n)
    misfits(np.ones(n), many, begin, corner, sign, sides, np.zeros(answers.shape[0]), precision, sums, table)
    largest = 0.0
    for row in range(begin.shape[0]):
        run = 0.0
        for j in range(width - 1, -1, -1):
            run += table[begin[row] + j]
            largest = max(largest, run + own_precision[row * width + j])
    momentum = 1.0
    for step in range(steps):
        misfits(ahead, many, begin, corner, sign, sides, answers, precision, sums, table)
        uphill, moved, top = 0.0, 0.0, 0.0
        for row in range(begin.shape[0]):
            run = 0.0
            for j in range(width - 1, -1, -1):
                c = row * width + j
                run += table[begin[row] + j]
                slope = run + own_precision[c] * (ahead[c] - own_answers[c])
                new = max(0.0, ahead[c] - slope / largest)
                change[c] = new - cells[c]
                uphill += (ahead[c] - new) * change[c] * many[c]
                moved = max(moved, abs(change[c]))
                top = max(top, new)
                cells[c] = new
        if uphill > 0.0:
            momentum = 1.0
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum * momentum))
        carried = (momentum - 1.0) / following
        momentum = following
        for c in range(n):
            ahead[c] = cells[c] + carried * change[c]
        if moved <= tolerance * top:
            return step + 1
    return steps
