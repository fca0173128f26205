"""The non-negative histogram that fits noisy totals of boxes best: least squares, each total by its precision."""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.mathematics.box_tree import BoxTree
from dpbench.workloads import Ranges

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

RIDGE = 1e-6
"""Pull towards a uniform histogram, over the largest precision: it decides where totals leave the cells open."""
STEPS = 200
"""Steps at most. Of 15,936 fits on random data none took more than nine."""


class Halvings:
    """The boxes of a domain that is halved again and again, depth by depth: the public tree of :class:`BoxFit`."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self._tree = tree = BoxTree(domain)
        self.above = np.zeros(tree.nodes, dtype=np.int32)
        """``(nodes,)``: the box that each was cut from, breadth first; for the whole domain itself."""
        self.above[1:] = np.repeat(np.arange(tree.nodes), np.diff(tree.first_child))
        self.spans = [slice(0, 1)]
        """Which nodes are of each depth; those of the last are single cells."""
        while (last := self.spans[-1].stop) < tree.nodes:
            self.spans.append(slice(last, int(tree.first_child[last])))
        self.boxes = [Ranges(domain, tree.lower[span], tree.upper[span]) for span in self.spans]
        """The boxes of each depth."""
        self.edges = [
            [np.unique([tree.lower[: span.stop, axis], tree.upper[: span.stop, axis]]) for axis in range(domain.ndim)]
            for span in self.spans
        ]
        """For each depth and axis: where the sides of the boxes up to it lie."""

    @cached_property
    def cells(self) -> Bools:
        """``(nodes,)``: which boxes are single cells; a domain of one cell counts as none."""
        found: Bools = np.diff(self._tree.first_child) == 0
        found[0] = False
        return found

    @cached_property
    def leaves(self) -> list[NDArray[np.int32]]:
        """For each depth ``(*domain)``: the smallest box up to it that each cell is in."""
        ends = np.flatnonzero(np.diff(self._tree.first_child) == 0)
        found = [ends[self._tree.labels(ends)].astype(np.int32)]
        for span in reversed(self.spans[1:]):
            found.append(np.where(found[-1] >= span.start, self.above[found[-1]], found[-1]))
        return [leaf.reshape(self.domain.shape) for leaf in reversed(found)]


@lru_cache(maxsize=4)
def halvings_of(domain: Domain) -> Halvings:
    """The halvings of a domain, kept between calls: they are public."""
    return Halvings(domain)


class BoxFit:
    """Noisy totals of one trial, more of them in each round, and the estimate that they give; it starts uniform.

    Cells that no measured box tells apart have one number between them: the fit is over the parts of the grid that the
    sides of all boxes span.
    """

    def __init__(self, halvings: Halvings, total: float, precision: float) -> None:
        domain = halvings.domain
        self._halvings = halvings
        self._weight, self._pull = np.zeros((2, len(halvings.above)))
        self._weight[0], self._pull[0] = precision, precision * total
        self._largest = precision
        self._lower, self._upper = np.zeros((2, 0, domain.ndim), dtype=np.int64)
        self._answers, self._precision = np.zeros((2, 0))
        self._level = max(0.0, total) / domain.size
        self._edges = list(halvings.edges[0])
        self._values = np.full((1,) * domain.ndim, self._level)

    @property
    def estimate(self) -> Floats:
        """``(*domain)``."""
        cells = self._values
        for axis, edges in enumerate(self._edges):
            if cells.shape[axis] < self._halvings.domain.shape[axis]:
                cells = np.repeat(cells, np.diff(edges), axis=axis)
        return cells

    def learn(
        self, box: tuple[Ints, Ints], answer: float, depth: int, answers: Floats, apart: Bools, precision: float
    ) -> None:
        """Take in noisy totals of a box and of those boxes of a depth that are ``apart`` from it, and fit all again.

        ``answers`` and ``apart`` are of all boxes of the depth; the box has a lower and an upper corner.
        """
        # the boxes of the tree add up node by node
        span = self._halvings.spans[depth]
        self._weight[span] += precision * apart
        self._pull[span] += np.where(apart, precision * answers, 0.0)
        # those across it are kept one by one
        self._lower, self._upper = np.vstack([self._lower, box[0]]), np.vstack([self._upper, box[1]])
        self._answers, self._precision = np.append(self._answers, answer), np.append(self._precision, precision)
        self._largest = max(self._largest, precision)
        self._refine(depth, *box)
        self._fit(depth)

    def _refine(self, depth: int, lower: Ints, upper: Ints) -> None:
        """Cut the grid at the sides of new boxes, values as they are."""
        for axis, edges in enumerate(self._edges):
            if len(edges) <= self._halvings.domain.shape[axis]:
                sides = (edges, self._halvings.edges[depth][axis], lower[axis : axis + 1], upper[axis : axis + 1])
                self._edges[axis] = finer = np.unique(np.concatenate(sides))
                self._values = np.repeat(self._values, np.diff(np.searchsorted(finer, edges)), axis=axis)

    def _fit(self, depth: int) -> None:
        """The minimum, from the parts on that have a value."""
        from dpbench.mathematics.kernels.box_newton import fit, take_over

        halvings, span = self._halvings, self._halvings.spans[depth]
        many = np.ones(())
        for edges in self._edges:
            many = np.multiply.outer(many, np.diff(edges).astype(np.float64))
        mass = (self._values * many).reshape(-1)
        weight, pull = self._weight[: span.stop] / self._largest, self._pull[: span.stop] / self._largest
        own, own_pull = RIDGE / many.reshape(-1), np.full(many.size, RIDGE * self._level)
        # a box of one cell is a part of the grid: its totals are the part's own, and no longer of the tree
        leaf = halvings.leaves[depth][np.ix_(*(edges[:-1] for edges in self._edges))].reshape(-1)
        take_over(halvings.above, halvings.cells, weight, pull, leaf, own, own_pull)
        tree = slice(0, span.start if depth == len(halvings.spans) - 1 > 0 else span.stop)
        weight, pull = (np.where(halvings.cells[tree], 0.0, each[tree]) for each in (weight, pull))
        first, end = (
            np.stack([np.searchsorted(edges, side[:, axis]) for axis, edges in enumerate(self._edges)], axis=1)
            for side in (self._lower, self._upper)
        )
        shape, precision = np.array(many.shape, dtype=np.int64), self._precision / self._largest
        tree_and_parts = halvings.above[tree], weight, pull, leaf, own, own_pull
        fit(*tree_and_parts, shape, first, end, precision, self._answers, mass, STEPS)
        self._values = mass.reshape(many.shape) / many
