"""From the whole domain down to its cells: what a half may have is what its parent has.

The domain is cut in halves, the longest axis first, until cells are left. Sums of such boxes stay in charge: cutting
each *cell* at zero instead adds up to a large bias, because half of the empty cells have noise above zero. After the
Census Bureau's TopDown algorithm (Abowd et al. 2022), whose post-processing is here at its simplest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Halves:
    """A domain cut in halves down to its cells, breadth first."""

    child: Ints
    """``(nodes,)``: the first of a node's two halves, which stand side by side; -1: it is a cell."""
    cell: Ints
    """``(nodes,)``: the cell of a leaf, row by row; -1 elsewhere."""


@lru_cache(maxsize=4)
def halves(domain: Domain) -> Halves:
    """Cut a domain in halves, kept between calls."""
    lower, upper = np.zeros((1, domain.ndim), dtype=np.int64), np.array([domain.shape])
    children, cells, first = [], [], 1
    while len(lower):
        sides = upper - lower
        axis = np.argmax(sides, axis=1)
        inner = np.flatnonzero(sides.max(axis=1) > 1)
        child = np.full(len(lower), -1)
        child[inner] = first + 2 * np.arange(len(inner))
        cell = np.asarray(np.ravel_multi_index(tuple(lower.T), domain.shape))
        cell[inner] = -1
        children.append(child)
        cells.append(cell)
        first += 2 * len(inner)
        lower, upper = (np.repeat(corner[inner], 2, axis=0) for corner in (lower, upper))
        pair, cut = 2 * np.arange(len(inner)), axis[inner]
        middle = (lower[pair, cut] + upper[pair, cut] + 1) // 2
        upper[pair, cut] = middle
        lower[pair + 1, cut] = middle
    return Halves(np.concatenate(children), np.concatenate(cells))


def top_down(estimate: Floats) -> Floats:
    """The estimate ``(trials, *domain)`` made non-negative from the top, boxes before cells.

    A total below 0 becomes 0. Each pair of halves becomes the nearest pair of non-negative numbers that adds up to
    what their parent has. Where no box of the tree is below zero the estimate stays, to rounding.
    """
    from dpbench.mathematics.kernels.top_down import share_out

    rows, tree = _rows(estimate)
    return np.asarray(share_out(rows, tree.child, tree.cell)).reshape(estimate.shape)


def integral(estimate: Floats) -> Floats:
    """Whole numbers, with every box of the tree of halves less than 1 away from its estimate.

    So the total is rounded to the nearest whole number, a range is off by a few records however long it is, and a
    non-negative estimate stays non-negative.
    """
    from dpbench.mathematics.kernels.top_down import round_down_the_tree

    rows, tree = _rows(estimate)
    return np.asarray(round_down_the_tree(rows, tree.child, tree.cell)).reshape(estimate.shape)


def _rows(estimate: Floats) -> tuple[Floats, Halves]:
    rows = np.ascontiguousarray(estimate.reshape(len(estimate), -1), dtype=np.float64)
    return rows, halves(Domain(estimate.shape[1:]))
