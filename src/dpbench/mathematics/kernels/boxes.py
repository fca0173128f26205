"""Boxes of cells in any number of dimensions: painting them, laying them along a line, cutting them at given places.

A box is ``lower <= coordinate < upper``; boxes come as two arrays ``(boxes, axes)``.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit("boolean(int64[:,::1], int64[:,::1], int64[::1], int64[::1])", cache=True)
def paint(lower, upper, sides, labels):  # type: ignore[no-untyped-def]
    """Write each box's number into its cells of ``labels``, ``(cells,)``.

    Whether all went well: no box empty or outside, no cell met twice.
    """
    boxes, axes = lower.shape
    last = axes - 1
    at = np.empty(axes, dtype=np.int64)
    for b in range(boxes):
        for axis in range(axes):
            if not 0 <= lower[b, axis] < upper[b, axis] <= sides[axis]:
                return False
        at[:] = lower[b]
        while at[0] < upper[b, 0]:
            row = np.int64(0)
            for axis in range(axes):
                row = row * sides[axis] + (at[axis] if axis < last else lower[b, axis])
            for cell in range(row, row + upper[b, last] - lower[b, last]):
                if labels[cell] >= 0:
                    return False
                labels[cell] = b
            at[last] = upper[b, last]
            for axis in range(last, 0, -1):
                if at[axis] == upper[b, axis]:
                    at[axis] = lower[b, axis]
                    at[axis - 1] += 1
    return True


@njit(
    "Tuple((int64[::1], int64[::1], int64[::1]))(int64[:,::1], int64[:,::1], int64[::1], int64[::1], int64)",
    cache=True,
)
def lay_out(lower, upper, first_child, sides, cells):  # type: ignore[no-untyped-def]
    """Lay the cells along a line so that every node of a tree of boxes is an interval of it.

    Nodes are breadth first, the root first. Returns the start and the stop of each node and the flat cell number at
    each position: a leaf's cells row by row.
    """
    nodes, axes = lower.shape
    last = axes - 1
    start = np.zeros(nodes, dtype=np.int64)
    stop = np.empty(nodes, dtype=np.int64)
    order = np.empty(cells, dtype=np.int64)
    at = np.empty(axes, dtype=np.int64)
    for v in range(nodes):
        position = start[v]
        for child in range(first_child[v], first_child[v + 1]):
            start[child] = position
            size = np.int64(1)
            for axis in range(axes):
                size *= upper[child, axis] - lower[child, axis]
            position += size
        if first_child[v] == first_child[v + 1]:
            at[:] = lower[v]
            while at[0] < upper[v, 0]:
                row = np.int64(0)
                for axis in range(axes):
                    row = row * sides[axis] + (at[axis] if axis < last else lower[v, axis])
                for cell in range(row, row + upper[v, last] - lower[v, last]):
                    order[position] = cell
                    position += 1
                at[last] = upper[v, last]
                for axis in range(last, 0, -1):
                    if at[axis] == upper[v, axis]:
                        at[axis] = lower[v, axis]
                        at[axis - 1] += 1
        stop[v] = position
    return start, stop, order


@njit(
    "Tuple((int64[:,::1], int64[:,::1], int64[::1]))(int64[:,::1], int64[:,::1], int64, int64[::1])",
    cache=True,
)
def cut_boxes(lower, upper, axis, cut):  # type: ignore[no-untyped-def]
    """Cut boxes in two along an axis; one that has its cut not inside stays whole.

    Returns the parts, those of a box side by side, and how many each box has.
    """
    boxes, axes = lower.shape
    parts = np.empty(boxes, dtype=np.int64)
    low = np.empty((2 * boxes, axes), dtype=np.int64)
    high = np.empty((2 * boxes, axes), dtype=np.int64)
    k = 0
    for b in range(boxes):
        low[k] = lower[b]
        high[k] = upper[b]
        parts[b] = 1
        if lower[b, axis] < cut[b] < upper[b, axis]:
            high[k, axis] = cut[b]
            k += 1
            low[k] = lower[b]
            high[k] = upper[b]
            low[k, axis] = cut[b]
            parts[b] = 2
        k += 1
    return low[:k].copy(), high[:k].copy(), parts


@njit("Tuple((int64[:,::1], int64[:,::1], int64[::1]))(int64[:,::1], int64[:,::1], int64)", cache=True)
def quarter(lower, upper, first):  # type: ignore[no-untyped-def]
    """Cut boxes on two axes at the middle of each, the first parts longer; a side of one cell is not cut.

    Returns the parts, those of a box side by side, by the parts of axis ``first``, and how many each box has: none
    for a single cell.
    """
    boxes = lower.shape[0]
    second = 1 - first
    fanout = np.zeros(boxes, dtype=np.int64)
    low = np.empty((4 * boxes, 2), dtype=np.int64)
    high = np.empty((4 * boxes, 2), dtype=np.int64)
    k = 0
    for b in range(boxes):
        one = upper[b, first] - lower[b, first]
        other = upper[b, second] - lower[b, second]
        if one * other == 1:
            continue
        for i in range(min(one, 2)):
            for j in range(min(other, 2)):
                low[k, first] = lower[b, first] + i * ((one + 1) // 2)
                high[k, first] = upper[b, first] if i or one == 1 else lower[b, first] + (one + 1) // 2
                low[k, second] = lower[b, second] + j * ((other + 1) // 2)
                high[k, second] = upper[b, second] if j or other == 1 else lower[b, second] + (other + 1) // 2
                k += 1
                fanout[b] += 1
    return low[:k].copy(), high[:k].copy(), fanout
