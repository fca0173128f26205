"""How much of every leaf of a hierarchy every range covers: columns of the workload, reduced to leaves.

Box q covers ``lower[a, q] ... lower[a, q] + sides[a, q] - 1`` along axis a; leaf i is measured on the positions
``first[i] ... last[i] - 1``, whose ``coordinates`` ``(positions, axes)`` are negative in padding. A query's weight on a
leaf is its mean over them.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit("Tuple((int32, int32, int32, int32, int64))(int32[:,::1], int64, int64)", cache=True)
def _surrounding(coordinates, begin, end):  # type: ignore[no-untyped-def]
    """Ends along both axes of the least box around the positions ``begin ... end - 1``, and how many are cells."""
    x0 = y0 = np.int32(2**31 - 1)
    x1 = y1 = np.int32(0)
    cells = 0
    for position in range(begin, end):
        x = coordinates[position, 0]
        if x < 0:
            continue
        y = coordinates[position, 1] if coordinates.shape[1] > 1 else np.int32(0)
        x0, x1 = min(x0, x), max(x1, x + np.int32(1))
        y0, y1 = min(y0, y), max(y1, y + np.int32(1))
        cells += 1
    return x0, x1, y0, y1, cells


@njit("void(int32[:,::1], int32[:,::1], int32[:,::1], int64, int64, int32[::1])", cache=True)
def _count(lower, sides, coordinates, begin, end, covered):  # type: ignore[no-untyped-def]
    """How many of the positions ``begin ... end - 1`` each box covers; in one step if they fill a box of their own."""
    axes, queries = lower.shape
    x0, x1, y0, y1, cells = _surrounding(coordinates, begin, end)
    if cells > 0 and (x1 - x0) * (y1 - y0) == cells:
        for q in range(queries):
            along = np.int32(min(x1, np.int32(lower[0, q] + sides[0, q])) - max(x0, lower[0, q]))
            covered[q] = max(along, np.int32(0))
        if axes == 2:
            for q in range(queries):
                across = np.int32(min(y1, np.int32(lower[1, q] + sides[1, q])) - max(y0, lower[1, q]))
                covered[q] *= max(across, np.int32(0))
        return
    covered[:] = 0
    for position in range(begin, end):
        along = coordinates[position, 0]
        if along < 0:
            continue
        if axes == 1:
            for q in range(queries):
                covered[q] += np.int32(np.uint32(along - lower[0, q]) < np.uint32(sides[0, q]))
        else:
            across = coordinates[position, 1]
            for q in range(queries):
                inside = np.uint32(along - lower[0, q]) < np.uint32(sides[0, q])
                inside &= np.uint32(across - lower[1, q]) < np.uint32(sides[1, q])
                covered[q] += np.int32(inside)


@njit(
    "Tuple((float64[:,::1], float64[::1]))(int32[:,::1], int32[:,::1], float64[::1], int32[:,::1], int64[::1], "
    "int64[::1], int64[::1], int64)",
    cache=True,
)
def bundle_images(  # type: ignore[no-untyped-def]
    lower, sides, weights, coordinates, first, last, bundle, bundles
):
    """Sum over the leaves of each bundle of their columns of W, ``(bundles, queries)``, and of the columns' squares."""
    queries = weights.shape[0]
    images = np.zeros((bundles, queries))
    errors = np.zeros(bundles)
    covered = np.empty(queries, dtype=np.int32)
    squares = np.zeros(queries)
    for i in range(first.shape[0]):
        _count(lower, sides, coordinates, first[i], last[i], covered)
        part = 1.0 / (last[i] - first[i])
        b = bundle[i]
        for q in range(queries):
            share = covered[q] * part
            images[b, q] += share
            squares[q] += share * share
        if i + 1 == first.shape[0] or bundle[i + 1] != b:
            for q in range(queries):
                images[b, q] *= weights[q]
                errors[b] += squares[q] * weights[q] * weights[q]
                squares[q] = 0.0
    return images, errors


@njit("float32[:,::1](int32[:,::1], int32[:,::1], float64[::1], int32[:,::1], int64[::1], int64[::1])", cache=True)
def leaf_rows(lower, sides, weights, coordinates, first, last):  # type: ignore[no-untyped-def]
    """The columns of W of the leaves, ``(leaves, queries)``."""
    queries = weights.shape[0]
    rows = np.empty((first.shape[0], queries), dtype=np.float32)
    covered = np.empty(queries, dtype=np.int32)
    for i in range(first.shape[0]):
        _count(lower, sides, coordinates, first[i], last[i], covered)
        part = 1.0 / (last[i] - first[i])
        for q in range(queries):
            rows[i, q] = covered[q] * part * weights[q]
    return rows


@njit(
    "float64[:,::1](int32[:,::1], int32[:,::1], float64[::1], int32[:,::1], int64[::1], int64[::1], int64[::1], int64)",
    cache=True,
)
def bundle_sums(  # type: ignore[no-untyped-def]
    lower, sides, weights, coordinates, first, last, bundle, bundles
):
    """The images of :func:`bundle_images`, from a summed-area table of each bundle over the least box around it.

    A cell has one over the length of its leaf. Where lengths are powers of two all sums are exact, so both are equal.
    """
    axes, queries = lower.shape
    images = np.zeros((bundles, queries))
    leaves = first.shape[0]
    i = 0
    while i < leaves:
        b = bundle[i]
        end = i
        while end < leaves and bundle[end] == b:
            end += 1
        # the least box around the leaves of the bundle
        x0, x1, y0, y1, cells = _surrounding(coordinates, first[i], last[i])
        for leaf in range(i + 1, end):
            u0, u1, v0, v1, more = _surrounding(coordinates, first[leaf], last[leaf])
            x0, x1, y0, y1 = min(x0, u0), max(x1, u1), min(y0, v0), max(y1, v1)
            cells += more
        if cells > 0:
            table = np.zeros((x1 - x0 + 1, y1 - y0 + 1))
            for leaf in range(i, end):
                part = 1.0 / (last[leaf] - first[leaf])
                for position in range(first[leaf], last[leaf]):
                    x = coordinates[position, 0]
                    if x >= 0:
                        y = coordinates[position, 1] if axes == 2 else np.int32(0)
                        table[x - x0 + 1, y - y0 + 1] = part
            for x in range(1, table.shape[0]):
                row = 0.0
                for y in range(1, table.shape[1]):
                    row += table[x, y]
                    table[x, y] = table[x - 1, y] + row
            for q in range(queries):
                a = max(lower[0, q], x0) - x0
                c = min(lower[0, q] + sides[0, q], x1) - x0
                d = 0
                e = 1
                if axes == 2:
                    d = max(lower[1, q], y0) - y0
                    e = min(lower[1, q] + sides[1, q], y1) - y0
                if a < c and d < e:
                    images[b, q] = table[c, e] - table[a, e] - table[c, d] + table[a, d]
        for q in range(queries):
            images[b, q] *= weights[q]
        i = end
    return images


@njit("void(int32[:,::1], int32[:,::1], int32[:,::1], int64[::1], int64[::1], int64[::1], int64[::1])", cache=True)
def square_sums(lower, sides, coordinates, first, last, place, table):  # type: ignore[no-untyped-def]
    """Fill in ``table[place[i]]`` where it is below 0: the sum over boxes of what they hold of leaf i, squared."""
    covered = np.empty(lower.shape[1], dtype=np.int32)
    for i in range(first.shape[0]):
        if table[place[i]] < 0:
            _count(lower, sides, coordinates, first[i], last[i], covered)
            total = np.int64(0)
            for q in range(covered.shape[0]):
                total += np.int64(covered[q]) * np.int64(covered[q])
            table[place[i]] = total


@njit(
    "Tuple((float64[:,::1], float64[::1]))(int64[:,::1], float64[::1], int64, int64, int64[::1], int64[::1], "
    "float64[::1], int64[::1], int64, int64)",
    cache=True,
)
def sketched_moments(  # type: ignore[no-untyped-def]
    corners, squares, rows, columns, cells, begins, signs, bundle, bundles, sketch
):
    """Sums over bundles of the rows of W^T W under random signs, ``(sketch, bundles)``, and the leaves' squared norms.

    Leaf i has the cells ``begins[i] ... begins[i + 1] - 1``, -1 in padding, and ``signs[i]`` in row i modulo
    ``sketch``. ``corners`` ``(4, ranges)`` are places in a table of ``rows + 1`` by ``columns + 1``: of the upper ends,
    of one and the other lower end, and of both; ``squares`` are the ranges' squared weights. A row of W^T W s is made
    by adding up over each range, and back by adding to its corners.
    """
    leaves = signs.shape[0]
    wide = columns + 1
    images = np.zeros((sketch, bundles))
    norms = np.zeros(leaves)
    table = np.empty((rows + 1) * wide)
    back = np.empty((rows + 1) * wide)
    for row in range(min(sketch, leaves)):
        table[:] = 0.0
        back[:] = 0.0
        for i in range(row, leaves, sketch):
            part = signs[i] / (begins[i + 1] - begins[i])
            for at in range(begins[i], begins[i + 1]):
                if cells[at] >= 0:
                    table[(cells[at] // columns + 1) * wide + cells[at] % columns + 1] = part
        for x in range(1, rows + 1):
            running = 0.0
            for place in range(x * wide + 1, (x + 1) * wide):
                running += table[place]
                table[place] = table[place - wide] + running
        for q in range(squares.shape[0]):
            a, b, c, d = corners[0, q], corners[1, q], corners[2, q], corners[3, q]
            answer = (table[a] - table[b] - table[c] + table[d]) * squares[q]
            back[a] += answer
            back[b] -= answer
            back[c] -= answer
            back[d] += answer
        for x in range(rows):
            running = 0.0
            for place in range(x * wide, x * wide + columns):
                running += back[place]
                back[place] = running + (back[place - wide] if x > 0 else 0.0)
        for i in range(leaves):
            total = 0.0
            for at in range(begins[i], begins[i + 1]):
                if cells[at] >= 0:
                    total += back[cells[at] // columns * wide + cells[at] % columns]
            total /= begins[i + 1] - begins[i]
            images[row, bundle[i]] += total
            norms[i] += total * total
    return images, norms
