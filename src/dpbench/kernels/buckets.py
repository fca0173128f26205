"""GreedyH's weights over buckets of cells, where a query's weight on a bucket is its mean over the bucket's cells.

The buckets differ from trial to trial, so nothing is kept and speed matters. Notation as in ``kernels.greedy``.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from dpbench.kernels.greedy import best_share


@njit("float64[::1](int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64, int64, boolean)", cache=True)
def prefix_shares(  # type: ignore[no-untyped-def]
    start, stop, first_child, depth, lengths, branching, steps, gram
):
    """Theta of every node over buckets of ``lengths`` cells, for the Prefix workload on their cells.

    A prefix covers a part of one bucket, whose weight is that share. With bucket length L_c and end u_c the reduced
    Gram matrix is G_cd = h_max(c,d) for c != d, h_c = (L_c + 1) / 2 + n - u_c, and
    G_cc = (L_c + 1)(2 L_c + 1) / (6 L_c) + n - u_c. Every node is a bucket or has children: no two columns agree.
    """
    nodes = start.shape[0]
    buckets = lengths.shape[0]
    height = np.empty(buckets)
    diagonal = np.empty(buckets)
    beyond = np.empty(buckets + 1)
    squares = np.zeros(buckets + 1)
    beyond[buckets] = 0.0
    for c in range(buckets - 1, -1, -1):
        size = float(lengths[c])
        height[c] = (size + 1.0) / 2.0 + beyond[c + 1]
        diagonal[c] = (size + 1.0) * (2.0 * size + 1.0) / (6.0 * size) + beyond[c + 1]
        beyond[c] = beyond[c + 1] + size
        squares[c] = squares[c + 1] + height[c] * height[c]
    r = np.ones(buckets)
    error = np.empty(nodes)
    norm = np.empty(nodes)
    theta = np.ones(nodes)
    for v in range(nodes - 1, -1, -1):
        lo = start[v]
        hi = stop[v]
        k = 0.0
        moment = 0.0
        for i in range(lo, hi):
            k += r[i]
            moment += height[i] * r[i]
        inside = 0.0
        running = 0.0
        seen = 0.0
        for i in range(lo, hi):
            if gram:
                seen += height[i] * r[i]
                value = height[i] * running + diagonal[i] * r[i] + (moment - seen)
                inside += value * value
            else:
                size = float(lengths[i])
                inside += running * running * size + running * r[i] * (size + 1.0)
                inside += r[i] * r[i] * (diagonal[i] - beyond[i + 1])
            running += r[i]
        outside = lo * moment * moment + k * k * squares[hi] if gram else beyond[hi] * k * k
        mu = inside + outside
        if first_child[v] == first_child[v + 1]:
            error[v] = mu
            norm[v] = mu
            continue
        total = 0.0
        mu1 = 0.0
        for c in range(first_child[v], first_child[v + 1]):
            total += error[c]
            mu1 += norm[c]
        theta[v], error[v] = best_share(total, mu, mu1, k, branching ** (-0.5 * depth[v]), steps)
        f = 1.0 / (theta[v] ** 2 + k * (1.0 - theta[v]) ** 2)
        norm[v] = f * f * mu
        for i in range(lo, hi):
            r[i] *= f
    return theta


@njit(
    "float64[::1](int64[::1], int64[::1], int64[::1], int64[::1], float64[::1], float64[::1], float64[:,::1], int64, "
    "int64)",
    cache=True,
)
def bundle_shares(  # type: ignore[no-untyped-def]
    start, stop, first_child, depth, leaves, errors, products, branching, steps
):
    """Theta of every node of a tree whose leaves are bundles of unmeasured nodes.

    Node v holds the bundles ``start[v] ... stop[v] - 1``; a bundle has K = ``leaves``, E = ``errors`` and an image t,
    of which only the inner products with the other images are needed, ``products``.
    """
    nodes = start.shape[0]
    r = np.ones(leaves.shape[0])
    variance = np.empty(nodes)
    error = np.empty(nodes)
    norm = np.empty(nodes)
    theta = np.ones(nodes)
    for v in range(nodes - 1, -1, -1):
        lo = start[v]
        hi = stop[v]
        if first_child[v] == first_child[v + 1]:
            variance[v] = leaves[lo]
            error[v] = errors[lo]
            norm[v] = products[lo, lo]
            continue
        mu = 0.0
        for i in range(lo, hi):
            row = 0.0
            for j in range(lo, hi):
                row += products[i, j] * r[j]
            mu += r[i] * row
        k = 0.0
        total = 0.0
        mu1 = 0.0
        for c in range(first_child[v], first_child[v + 1]):
            k += variance[c]
            total += error[c]
            mu1 += norm[c]
        theta[v], error[v] = best_share(total, mu, mu1, k, branching ** (-0.5 * depth[v]), steps)
        f = 1.0 / (theta[v] ** 2 + k * (1.0 - theta[v]) ** 2)
        variance[v] = f * k
        norm[v] = f * f * mu
        for i in range(lo, hi):
            r[i] *= f
    return theta


@njit(
    "Tuple((float64[:,::1], float64[::1]))(int32[:,::1], int32[:,::1], float64[::1], int32[:,::1], int64[::1], "
    "int64[::1], int64[::1], int64)",
    cache=True,
)
def bundle_images(  # type: ignore[no-untyped-def]
    lower, sides, weights, coordinates, first, last, bundle, bundles
):
    """Sum over the leaves of each bundle of their columns of W, ``(bundles, queries)``, and of the columns' squares.

    Box q covers ``lower[a, q] ... lower[a, q] + sides[a, q] - 1`` along axis a; leaf i is measured on the positions
    ``first[i] ... last[i] - 1``, whose ``coordinates`` ``(positions, axes)`` are negative in padding.
    """
    axes, queries = lower.shape
    images = np.zeros((bundles, queries))
    errors = np.zeros(bundles)
    covered = np.empty(queries, dtype=np.int32)
    squares = np.zeros(queries)
    for i in range(first.shape[0]):
        covered[:] = 0
        for position in range(first[i], last[i]):
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
    """The columns of W of the leaves, ``(leaves, queries)``; arguments as for :func:`bundle_images`."""
    axes, queries = lower.shape
    rows = np.zeros((first.shape[0], queries), dtype=np.float32)
    covered = np.empty(queries, dtype=np.int32)
    for i in range(first.shape[0]):
        covered[:] = 0
        for position in range(first[i], last[i]):
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
        part = 1.0 / (last[i] - first[i])
        for q in range(queries):
            rows[i, q] = covered[q] * part * weights[q]
    return rows
