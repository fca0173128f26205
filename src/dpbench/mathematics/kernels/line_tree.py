"""Trees over a line that is cut into parts again and again, breadth first (DAWA makes one in every trial)."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit("Tuple((int64[::1], int64[::1], int64[::1], int64[::1]))(int64, boolean[::1], int64)", cache=True)
def split_line(size, changes, branching):  # type: ignore[no-untyped-def]
    """Start, stop, first child and depth of each node; see :func:`dpbench.mathematics.greedy.split_line`."""
    differing = np.zeros(size, dtype=np.int64)
    for i in range(1, size):
        differing[i] = differing[i - 1] + changes[i - 1]
    # a node that is cut has two parts at least, so there are fewer of them than positions
    start = np.empty(2 * size, dtype=np.int64)
    stop = np.empty(2 * size, dtype=np.int64)
    first_child = np.empty(2 * size + 1, dtype=np.int64)
    depth = np.empty(2 * size, dtype=np.int64)
    start[0] = 0
    stop[0] = size
    depth[0] = 0
    nodes = 1
    v = 0
    while v < nodes:
        first_child[v] = nodes
        length = stop[v] - start[v]
        if length > 1 and differing[stop[v] - 1] > differing[start[v]]:
            parts = min(branching, length)
            step = length // parts
            shorter = parts - length % parts
            begin = start[v]
            for rank in range(parts):
                start[nodes] = begin
                begin += step + (1 if rank >= shorter else 0)
                stop[nodes] = begin
                depth[nodes] = depth[v] + 1
                nodes += 1
        v += 1
    first_child[nodes] = nodes
    return start[:nodes].copy(), stop[:nodes].copy(), first_child[: nodes + 1].copy(), depth[:nodes].copy()


@njit("float64[::1](float64[::1], int64[::1])", cache=True)
def path_weights(theta, first_child):  # type: ignore[no-untyped-def]
    """1 - theta of what its ancestors pass down for an inner node, all of it for a leaf."""
    nodes = theta.shape[0]
    passed = np.ones(nodes)
    weight = np.empty(nodes)
    for v in range(nodes):
        for c in range(first_child[v], first_child[v + 1]):
            passed[c] = passed[v] * theta[v]
        weight[v] = passed[v] * (1.0 - theta[v]) if first_child[v] < first_child[v + 1] else passed[v]
    return weight


@njit("Tuple((int64[::1], int64[::1]))(int64[::1], boolean[::1])", cache=True)
def without(first_child, kept):  # type: ignore[no-untyped-def]
    """The tree of the kept nodes, the root among them, each below its nearest kept ancestor, breadth first.

    Returns the old number of each new node and the new ``first_child``.
    """
    nodes = kept.shape[0]
    old = np.empty(nodes, dtype=np.int64)
    children = np.empty(nodes + 1, dtype=np.int64)
    waiting = np.empty(nodes, dtype=np.int64)
    old[0] = 0
    many = 1
    v = 0
    while v < many:
        children[v] = many
        # what is below, from left to right, down to the first kept nodes
        top = 0
        for c in range(first_child[old[v] + 1] - 1, first_child[old[v]] - 1, -1):
            waiting[top] = c
            top += 1
        while top > 0:
            top -= 1
            u = waiting[top]
            if kept[u]:
                old[many] = u
                many += 1
            else:
                for c in range(first_child[u + 1] - 1, first_child[u] - 1, -1):
                    waiting[top] = c
                    top += 1
        v += 1
    children[many] = many
    return old[:many].copy(), children[: many + 1].copy()
