"""How much of every leaf of a hierarchy every range covers: columns of the workload, reduced to leaves.

Box q covers ``lower[a, q] ... lower[a, q] + sides[a, q] - 1`` along axis a; leaf i is measured on the positions
``first[i] ... last[i] - 1``, whose ``coordinates`` ``(positions, axes)`` are negative in padding. A query's weight on a
leaf is its mean over them.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit("void(int32[:,::1], int32[:,::1], int32[:,::1], int64, int64, int32[::1])", cache=True)
def _count(lower, sides, coordinates, begin, end, covered):  # type: ignore[no-untyped-def]
    """How many of the positions ``begin ... end - 1`` each box covers."""
    axes, queries = lower.shape
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
