"""A line cut into bins, with a binary tree of counts over each bin."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.mathematics.tree import Tree

Ints = NDArray[np.int64]


def binned_tree(domain: Domain, edges: Ints, padded: bool) -> Tree:
    """One tree whose root is not measured and has a binary tree for each bin ``[edges[b], edges[b + 1])`` below it.

    The nodes of a bin of L cells have the weight 1 / h, where h = ceil(log2 L) + 1 is the height of its tree: one
    record moves the answers by at most 1. ``padded`` lengthens each bin to a power of two with positions that are no
    cell; otherwise a node of odd length has the longer part on the left.
    """
    lengths = np.diff(edges)
    heights = np.array([int(length - 1).bit_length() + 1 for length in lengths])
    extents = 2 ** (heights - 1) if padded else lengths
    places = np.concatenate([[0], np.cumsum(extents)])
    order = np.full(places[-1], -1, dtype=np.int64)
    cell = np.arange(domain.size)
    order[cell + np.repeat(places[:-1] - edges[:-1], lengths)] = cell

    start, size, weight = places[:-1], extents, 1.0 / heights
    levels = [(np.zeros(1, dtype=np.int64), places[-1:], np.zeros(1))]
    fanouts = [np.array([len(lengths)])]
    while len(start):
        levels.append((start, start + size, weight))
        inner = size > 1
        fanouts.append(2 * inner.astype(np.int64))
        left = (size[inner] + 1) // 2
        start = np.stack([start[inner], start[inner] + left], axis=1).reshape(-1)
        size = np.stack([left, size[inner] - left], axis=1).reshape(-1)
        weight = np.repeat(weight[inner], 2)
    starts, stops, weights = (np.concatenate(part) for part in zip(*levels, strict=True))
    return Tree(
        domain=domain,
        order=order,
        start=starts,
        stop=stops,
        first_child=1 + np.concatenate([[0], np.cumsum(np.concatenate(fanouts))]),
        weight=weights,
    )
