"""Trees of nested blocks whose sides are chosen level by level."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.mathematics.tree import Tree

Ints = NDArray[np.int64]


def block_shapes(domain: Domain, sides: Ints) -> Ints:
    """Shapes of the blocks of every level, the root's first, of many chains of sides: ``(many, levels + 1, axes)``.

    ``sides`` is ``(many, levels)``; the sides of a chain divide one another down to 1. The root takes in the domain.
    Along an axis that is shorter than a block the block is cut to the axis, padded to a multiple of the next smaller
    block, so that blocks of a level are alike and tile those above.
    """
    many, levels = sides.shape
    shapes = np.empty((many, levels + 1, domain.ndim), dtype=np.int64)
    for axis, length in enumerate(domain):
        below = np.ones(many, dtype=np.int64)
        for level in range(levels, -1, -1):
            whole = -(-length // below) * below
            below = np.minimum(sides[:, level - 1], whole) if level else whole
            shapes[:, level, axis] = below
    return shapes


def block_tree(domain: Domain, sides: Sequence[int], weights: Sequence[float]) -> Tree:
    """The tree of those blocks, with a weight per level, root first; the order is that of a walk over the leaves."""
    shapes = block_shapes(domain, np.array([sides], dtype=np.int64))[0].tolist()
    coordinates = [np.zeros(1, dtype=np.int64) for _ in domain]
    fanouts = []
    for above, below in pairwise(shapes):
        parts = [whole // part for whole, part in zip(above, below, strict=True)]
        digits = np.indices(parts).reshape(domain.ndim, -1)
        coordinates = [
            (axis[:, None] + digit * part).reshape(-1)
            for axis, digit, part in zip(coordinates, digits, below, strict=True)
        ]
        fanouts.append(prod(parts))
    inside = np.logical_and.reduce([axis < side for axis, side in zip(coordinates, domain, strict=True)])
    clipped = [np.minimum(axis, side - 1) for axis, side in zip(coordinates, domain, strict=True)]
    counts = np.cumprod([1, *fanouts])
    size = [counts[-1] // many for many in counts]
    start = np.concatenate([np.arange(many) * each for many, each in zip(counts, size, strict=True)])
    children = np.repeat([*fanouts, 0], counts)
    return Tree(
        domain=domain,
        order=np.where(inside, np.ravel_multi_index(tuple(clipped), domain.shape), -1),
        start=start,
        stop=start + np.repeat(size, counts),
        first_child=1 + np.concatenate([[0], np.cumsum(children)]).astype(np.int64),
        weight=np.repeat(np.asarray(weights, dtype=np.float64), counts),
    )
