"""Boxes of cells in any number of dimensions: painting them, laying them along a line, cutting them at given places.

A box is ``lower <= coordinate < upper``; boxes come as two arrays ``(boxes, axes)``.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit("boolean(int64[:,::1], int64[:,::1], int64[::1])", cache=True)
def are_apart(lower, upper, sides):  # type: ignore[no-untyped-def]
    """Whether no box is empty or outside, and no two have a cell in common, by looking at every pair."""
    boxes, axes = lower.shape
    for b in range(boxes):
        for axis in range(axes):
            if not 0 <= lower[b, axis] < upper[b, axis] <= sides[axis]:
                return False
        for other in range(b):
            meet = True
            for axis in range(axes):
                meet &= lower[b, axis] < upper[other, axis] and lower[other, axis] < upper[b, axis]
            if meet:
                return False
    return True


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
    "Tuple((int64[::1], int64[::1], int64[::1], int64[::1], float64[::1]))(int64[:,::1], int64[:,::1], int64[::1], "
    "int64[::1], float64[::1], float64[::1], int64[::1], int64)",
    cache=True,
)
def lay_out(lower, upper, fanout, ends, inner, leaf, sides, cells):  # type: ignore[no-untyped-def]
    """Lay the cells along a line so that every node of a tree of boxes on two axes is an interval of it.

    Nodes are breadth first, the root first; those of depth d stop before node ``ends[d]``. Returns the start and the
    stop of each node, the flat cell number at each position (a leaf's cells row by row), the first child of each node
    and its weight: ``inner`` or ``leaf`` of its depth.
    """
    nodes = lower.shape[0]
    columns = sides[1]
    first_child = np.empty(nodes + 1, dtype=np.int64)
    first_child[0] = 1
    weight = np.empty(nodes)
    start = np.empty(nodes, dtype=np.int64)
    stop = np.empty(nodes, dtype=np.int64)
    order = np.empty(cells, dtype=np.int64)
    start[0] = 0
    begin = 0
    for depth in range(ends.shape[0]):
        of_inner = inner[depth]
        of_leaf = leaf[depth]
        for v in range(begin, ends[depth]):
            position = start[v]
            children = first_child[v]
            first_child[v + 1] = children + fanout[v]
            if fanout[v] > 0:
                weight[v] = of_inner
                for child in range(children, children + fanout[v]):
                    start[child] = position
                    position += (upper[child, 0] - lower[child, 0]) * (upper[child, 1] - lower[child, 1])
            else:
                weight[v] = of_leaf
                for row in range(lower[v, 0], upper[v, 0]):
                    for column in range(lower[v, 1], upper[v, 1]):
                        order[position] = row * columns + column
                        position += 1
            stop[v] = position
        begin = ends[depth]
    return start, stop, order, first_child, weight


@njit("UniTuple(int64[:,::1], 2)(int64[:,::1], int64[:,::1], int64)", cache=True)
def long_boxes(lower, upper, axis):  # type: ignore[no-untyped-def]
    """The boxes on two axes that have more than one cell along an axis."""
    boxes = lower.shape[0]
    low = np.empty((boxes, 2), dtype=np.int64)
    high = np.empty((boxes, 2), dtype=np.int64)
    k = 0
    for b in range(boxes):
        if upper[b, axis] - lower[b, axis] > 1:
            for each in range(2):
                low[k, each] = lower[b, each]
                high[k, each] = upper[b, each]
            k += 1
    return low[:k], high[:k]


@njit(
    "Tuple((int64[:,::1], int64[:,::1], int64[::1]))"
    "(int64[:,::1], int64[:,::1], int64, int64[::1], int64[::1], boolean)",
    cache=True,
)
def cut_boxes(lower, upper, axis, chosen, owner, single_cells):  # type: ignore[no-untyped-def]
    """Cut each of the :func:`long_boxes` along an axis in two, at its boundary with the number ``chosen`` from 0.

    Returns the parts, those of a box side by side, and the ``owner`` of each: that of its box. Other boxes stay whole,
    those of a single cell only with ``single_cells``.
    """
    boxes = lower.shape[0]
    low = np.empty((2 * boxes, 2), dtype=np.int64)
    high = np.empty((2 * boxes, 2), dtype=np.int64)
    owners = np.empty(2 * boxes, dtype=np.int64)
    k = 0
    long = 0
    for b in range(boxes):
        length = upper[b, axis] - lower[b, axis]
        if length == 1 and upper[b, 1 - axis] - lower[b, 1 - axis] == 1 and not single_cells:
            continue
        for part in range(2 if length > 1 else 1):
            for each in range(2):
                low[k, each] = lower[b, each]
                high[k, each] = upper[b, each]
            if length > 1:
                cut = lower[b, axis] + 1 + chosen[long]
                if part == 0:
                    high[k, axis] = cut
                else:
                    low[k, axis] = cut
            owners[k] = owner[b]
            k += 1
        long += length > 1
    return low[:k], high[:k], owners[:k]


@njit(
    "Tuple((int64[:,::1], int64[:,::1], int64[::1], int64[::1]))(int64[:,::1], int64[:,::1], int64, int64, int64)",
    cache=True,
)
def quarters(lower, upper, first, depths, above):  # type: ignore[no-untyped-def]
    """Cut boxes on two axes at the middle of each, the first parts longer, and their parts again, ``depths`` times.

    A side of one cell is not cut. Parts of a box are side by side, by the parts of axis ``first``, which alternates
    with the depth. Returns all boxes, depth by depth from the given ones on; how many parts each has: none for a
    single cell, or at the last depth; and where each depth begins. In front of them is room for ``above`` other boxes.
    """
    boxes = lower.shape[0]
    # after d cuts a side is in 2^d parts, or in single cells
    room = above + boxes
    for b in range(boxes):
        one = upper[b, 0] - lower[b, 0]
        other = upper[b, 1] - lower[b, 1]
        for depth in range(depths):
            if max(one, other) <= 1 << depth:  # single cells
                break
            room += min(one, 2 << depth) * min(other, 2 << depth)
    low = np.empty((room, 2), dtype=np.int64)
    high = np.empty((room, 2), dtype=np.int64)
    fanout = np.zeros(room, dtype=np.int64)
    begins = np.empty(depths + 2, dtype=np.int64)
    k = above + boxes
    low[above:k] = lower
    high[above:k] = upper
    begins[0] = above
    begins[1] = k
    for depth in range(depths):
        second = 1 - first
        for b in range(begins[depth], begins[depth + 1]):
            here = low[b, first]
            there = low[b, second]
            one = high[b, first] - here
            other = high[b, second] - there
            if one * other == 1:
                continue
            for i in range(min(one, 2)):
                for j in range(min(other, 2)):
                    low[k, first] = here + i * ((one + 1) >> 1)
                    high[k, first] = high[b, first] if i or one == 1 else here + ((one + 1) >> 1)
                    low[k, second] = there + j * ((other + 1) >> 1)
                    high[k, second] = high[b, second] if j or other == 1 else there + ((other + 1) >> 1)
                    k += 1
            fanout[b] = min(one, 2) * min(other, 2)
        begins[depth + 2] = k
        first = second
    return low[:k], high[:k], fanout[:k], begins
