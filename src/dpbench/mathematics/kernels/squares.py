"""Noisy counts of nested squares: least squares, and the answers in an order that keeps a square's together."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(
    "Tuple((float64[::1], float64[::1], float64[::1], float64[::1]))"
    "(int64[::1], int64[::1], float64[::1], float64[:,::1], float64[:,::1])",
    cache=True,
)
def square_moments(first_child, children, cells, answer, rate):  # type: ignore[no-untyped-def]
    """Least squares on the tree of squares, where an answer has a variance of 1 / rate^2.

    Returns mean and variance by what is asked at and below each square, then by everything.
    """
    n = first_child.shape[0]
    below_mean = np.zeros(n)
    below_variance = np.zeros(n)
    mean = np.zeros(n)
    variance = np.zeros(n)
    sum_mean = np.zeros(n)
    sum_variance = np.zeros(n)
    for v in range(n - 1, -1, -1):
        if cells[v] <= 0.0:
            continue
        precision = 0.0
        weighted = 0.0
        for a in range(answer.shape[1]):
            p = rate[v, a] * rate[v, a]
            precision += p
            weighted += p * answer[v, a]
        if first_child[v] >= 0:
            for c in range(first_child[v], first_child[v] + children[v]):
                sum_mean[v] += below_mean[c]
                sum_variance[v] += below_variance[c]
            precision += 1.0 / sum_variance[v]
            weighted += sum_mean[v] / sum_variance[v]
        below_mean[v] = weighted / precision
        below_variance[v] = 1.0 / precision
    mean[0] = below_mean[0]
    variance[0] = below_variance[0]
    for v in range(n):
        if first_child[v] < 0 or cells[v] <= 0.0:
            continue
        for c in range(first_child[v], first_child[v] + children[v]):
            share = below_variance[c] / sum_variance[v]
            mean[c] = below_mean[c] + share * (mean[v] - sum_mean[v])
            variance[c] = max(below_variance[c] - share * share * (sum_variance[v] - variance[v]), 0.0)
    return below_mean, below_variance, mean, variance


@njit(
    "Tuple((int64[::1], int64[::1], float64[::1], float64[::1], float64[::1]))"
    "(int64[::1], int64[::1], float64[::1], float64[:,::1], float64[:,::1])",
    cache=True,
)
def list_answers(first_child, children, cells, answer, rate):  # type: ignore[no-untyped-def]
    """The answers depth first, so that those at and below a square are one slice: start, stop, answer, rate, cells."""
    n = first_child.shape[0]
    size = np.zeros(n, dtype=np.int64)
    for v in range(n - 1, -1, -1):
        for a in range(answer.shape[1]):
            size[v] += rate[v, a] > 0.0
        if first_child[v] >= 0:
            for c in range(first_child[v], first_child[v] + children[v]):
                size[v] += size[c]
    start = np.zeros(n, dtype=np.int64)
    listed = np.empty((3, size[0]))
    for v in range(n):
        here = start[v]
        for a in range(answer.shape[1]):
            if rate[v, a] > 0.0:
                listed[0, here] = answer[v, a]
                listed[1, here] = rate[v, a]
                listed[2, here] = cells[v]
                here += 1
        if first_child[v] >= 0:
            for c in range(first_child[v], first_child[v] + children[v]):
                start[c] = here
                here += size[c]
    return start, start + size, listed[0].copy(), listed[1].copy(), listed[2].copy()


@njit(
    "Tuple((float64[:,::1], int64[:,:,::1]))(int64[:,::1], int64[:,::1], int64[::1], int64[::1], int64[:,::1], "
    "int64[:,::1], int64[::1], float64[:,::1], int64[:,::1], int64)",
    cache=True,
)
def cover(lower, upper, first_child, children, corner, logs, sides, answer, kind, kinds):  # type: ignore[no-untyped-def]
    """Boxes from squares: the largest measured ones inside by their first answers; then with those at the border too.

    ``kind`` is the number of an answer's round and scale, -1 where there is none. A square at the border that is not
    cut enters by its last answer. Returns both sums ``(2, q)`` and how many answers of each kind are in them.
    """
    many = lower.shape[0]
    sums = np.zeros((2, many))
    counts = np.zeros((2, many, kinds), dtype=np.int64)
    stack = np.empty(first_child.shape[0], dtype=np.int64)
    for q in range(many):
        stack[0] = 0
        waiting = 1
        while waiting:
            waiting -= 1
            v = stack[waiting]
            apart = False
            inside = True
            for axis in range(2):
                begin = corner[v, axis]
                end = min(begin + (1 << logs[v, axis]), sides[axis])
                if end <= begin or begin >= upper[q, axis] or end <= lower[q, axis]:
                    apart = True
                if begin < lower[q, axis] or end > upper[q, axis]:
                    inside = False
            if apart:
                continue
            if inside and kind[v, 0] >= 0:
                for side in range(2):
                    sums[side, q] += answer[v, 0]
                    counts[side, q, kind[v, 0]] += 1
            elif first_child[v] >= 0:
                for c in range(first_child[v], first_child[v] + children[v]):
                    stack[waiting] = c
                    waiting += 1
            else:
                slot = 1 if kind[v, 1] >= 0 else 0
                sums[1, q] += answer[v, slot]
                counts[1, q, kind[v, slot]] += 1
    return sums, counts


@njit(
    "boolean[::1](int64[::1], int64[::1], float64[::1], float64[::1], float64[::1], float64, float64)",
    cache=True,
)
def settled_squares(first_child, children, cells, mean, variance, clear, dense):  # type: ignore[no-untyped-def]
    """Which squares hold only clear counts: ``clear`` deviations above 0, and more records than ``dense`` variances."""
    n = first_child.shape[0]
    settled = np.zeros(n, dtype=np.bool_)
    for v in range(n - 1, -1, -1):
        if cells[v] <= 0.0:
            settled[v] = True
        elif first_child[v] < 0:
            settled[v] = mean[v] > clear * np.sqrt(variance[v]) and mean[v] > dense * variance[v]
        else:
            settled[v] = True
            for c in range(first_child[v], first_child[v] + children[v]):
                settled[v] = settled[v] and settled[c]
    return settled


@njit("void(int64[::1], int64[::1], float64[::1], float64[::1], float64[::1], boolean[::1], float64[::1])", cache=True)
def share_out(first_child, children, cells, mean, variance, settled, totals):  # type: ignore[no-untyped-def]
    """Give each square inside a settled one what least squares gives it, for a total that is known; in place.

    ``mean`` and ``variance`` are by what was asked at and below each square. Nothing goes below 0.
    """
    for v in range(first_child.shape[0]):
        if not settled[v] or first_child[v] < 0 or cells[v] <= 0.0:
            continue
        last = first_child[v] + children[v]
        sum_mean = mean[first_child[v] : last].sum()
        sum_variance = variance[first_child[v] : last].sum()
        given = 0.0
        for c in range(first_child[v], last):
            if cells[c] > 0.0:
                totals[c] = max(mean[c] + variance[c] / sum_variance * (totals[v] - sum_mean), 0.0)
                given += totals[c]
        if given > 0.0:
            for c in range(first_child[v], last):
                totals[c] *= totals[v] / given
        totals[v] = 0.0


@njit("boolean[::1](int64[::1], int64[::1], boolean[::1])", cache=True)
def inside_of(first_child, children, chosen):  # type: ignore[no-untyped-def]
    """Which squares are inside a chosen one."""
    inside = np.zeros(first_child.shape[0], dtype=np.bool_)
    for v in range(first_child.shape[0]):
        if first_child[v] >= 0 and (chosen[v] or inside[v]):
            inside[first_child[v] : first_child[v] + children[v]] = True
    return inside
