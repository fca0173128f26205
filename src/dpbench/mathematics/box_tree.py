"""The public tree of boxes that halves a domain along its longest axes, down to single cells."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.workloads.summed_area import corners, summed_area

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BoxTree:
    """Boxes in breadth-first order; a box of more than one cell has children, which tile it.

    A box is halved along every axis that is longer than half of its longest: a square into quarters, a long box along
    its length alone. An odd side has the longer half first. Sides need not be equal, or powers of two.
    """

    domain: Domain

    sensitivity = 1
    """A record is in one box of each level, and counts once there."""

    @cached_property
    def _boxes(self) -> tuple[Ints, Ints, Ints]:
        """Lower corners, upper corners (beyond), and number of children of every box."""
        lower = np.zeros((1, self.domain.ndim), dtype=np.int64)
        upper = np.array([self.domain.shape], dtype=np.int64)
        levels = []
        while len(lower):
            side = upper - lower
            cut = (side > 1) & (2 * side > side.max(axis=1, keepdims=True))
            children = np.where(cut.any(axis=1), 2 ** cut.sum(axis=1), 0)
            levels.append((lower, upper, children))
            lower, upper = _halves(lower, upper, cut, children)
        lowers, uppers, fanouts = (np.concatenate(part) for part in zip(*levels, strict=True))
        return lowers, uppers, fanouts

    @property
    def lower(self) -> Ints:
        """``(nodes, axes)``: first cell of each box."""
        return self._boxes[0]

    @property
    def upper(self) -> Ints:
        """``(nodes, axes)``: one past its last cell."""
        return self._boxes[1]

    @cached_property
    def first_child(self) -> Ints:
        """``(nodes + 1,)``: children of v are ``first_child[v] ... first_child[v + 1] - 1``; none: a single cell."""
        return 1 + np.concatenate([[0], np.cumsum(self._boxes[2])])

    @property
    def nodes(self) -> int:
        """Number of boxes."""
        return len(self.lower)

    @property
    def fanout(self) -> int:
        """2 for each axis of more than one cell; 2 where there is none."""
        return int(2 ** max(1, sum(side > 1 for side in self.domain)))

    def counts(self, counts: Ints) -> Ints:
        """Records in each box, ``(nodes,)``, from the corners of a summed-area table."""
        table = summed_area(counts.reshape(1, *self.domain.shape)).reshape(-1)
        total = np.zeros(self.nodes, dtype=np.int64)
        for sign, corner in corners(self.domain, self.lower, self.upper):
            total += sign * table[corner]
        return total

    def leaves(self, cut: NDArray[np.bool_]) -> Ints:
        """The boxes that a decomposition ends in: not cut, with a parent that is; ``cut`` is ``(nodes,)``."""
        reached = np.concatenate([[True], np.repeat(cut, self._boxes[2])])
        return np.flatnonzero(reached & ~cut)

    def labels(self, leaves: Ints) -> Ints:
        """``(cells,)``: which of the leaves, which tile the domain, each cell is in; in row-major order."""
        grid = np.zeros([side + 1 for side in self.domain], dtype=np.int64)
        for sign, corner in corners(self.domain, self.lower[leaves], self.upper[leaves]):
            np.add.at(grid.reshape(-1), corner, sign * (-1) ** self.domain.ndim * np.arange(len(leaves)))
        for axis in range(self.domain.ndim):
            np.add.accumulate(grid, axis=axis, out=grid)
        return grid[tuple(slice(0, side) for side in self.domain)].reshape(-1)


def _halves(lower: Ints, upper: Ints, cut: NDArray[np.bool_], children: Ints) -> tuple[Ints, Ints]:
    """The children of the boxes of a level, those of one box side by side in row-major order."""
    middle, lower, upper, cut = (
        np.repeat(each, children, axis=0) for each in ((lower + upper + 1) // 2, lower, upper, cut)
    )
    place = np.arange(len(lower)) - np.repeat(np.cumsum(children) - children, children)
    for axis in reversed(range(lower.shape[1])):
        second = cut[:, axis] & (place % 2 == 1)
        first = cut[:, axis] & ~second
        lower[second, axis], upper[first, axis] = middle[second, axis], middle[first, axis]
        place = np.where(cut[:, axis], place // 2, place)
    return lower, upper
