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

RIDGE = 1e-6
"""Pull towards a uniform histogram, over the largest precision: it decides where totals leave the cells open."""
STEPS = 200
"""Steps at most."""


class Halvings:
    """The boxes of a domain that is halved again and again, depth by depth: a public tree that :class:`BoxFit` fits."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        tree = BoxTree(domain)
        self._lower, self._upper = tree.lower, tree.upper
        self.above = np.zeros(tree.nodes, dtype=np.int32)
        """``(nodes,)``: the parent of each box, breadth first; the root's is the root."""
        self.above[1:] = np.repeat(np.arange(tree.nodes), np.diff(tree.first_child))
        self.single = np.diff(tree.first_child) == 0
        """``(nodes,)``: which boxes are single cells; the root counts as none."""
        self.single[0] = False
        self.spans = [slice(0, 1)]
        """Which nodes are of each depth."""
        while (last := self.spans[-1].stop) < tree.nodes:
            self.spans.append(slice(last, int(tree.first_child[last])))
        self._cells = np.flatnonzero(np.diff(tree.first_child) == 0)[tree.labels(np.flatnonzero(np.diff(tree.first_child) == 0))]

    @property
    def depth(self) -> int:
        """Of the deepest boxes, which are single cells."""
        return len(self.spans) - 1

    @cached_property
    def boxes(self) -> list[Ranges]:
        """The boxes of each depth."""
        return [Ranges(self.domain, self._lower[span], self._upper[span]) for span in self.spans]

    @cached_property
    def leaves(self) -> list[NDArray[np.int32]]:
        """For each depth ``(*domain)``: the deepest box up to it that each cell is in."""
        found = [self._cells.astype(np.int32)]
        for span in reversed(self.spans[1:]):
            found.append(np.where(found[-1] >= span.start, self.above[found[-1]], found[-1]))
        return [leaf.reshape(self.domain.shape) for leaf in reversed(found)]

    @cached_property
    def edges(self) -> list[list[Ints]]:
        """For each depth and axis: where the sides of the boxes up to it lie."""
        return [
            [np.unique([self._lower[: span.stop, axis], self._upper[: span.stop, axis]]) for axis in range(self.domain.ndim)]
            for span in self.spans
        ]


@lru_cache(maxsize=4)
def halvings_of(domain: Domain) -> Halvings:
    """The halvings of a domain, kept between calls: they are public."""
    return Halvings(domain)


class BoxFit:
    """Noisy totals of one trial, more of them in each round, and the estimate that they give; it starts uniform.

    Cells that no measured box tells apart have one number between them, on the grid that the sides of the boxes span.
    """

    def __init__(self, halvings: Halvings, total: float, precision: float) -> None:
        domain = halvings.domain
        self._halvings = halvings
        self._weight, self._pull = np.zeros((2, len(halvings.above)))
        self._weight[0], self._pull[0] = precision, precision * total
        self._largest = precision
        self._lower, self._upper = np.zeros((2, 0, domain.ndim), dtype=np.int64)
        self._answers, self._precision = np.zeros(0), np.zeros(0)
        self._level = max(0.0, total) / domain.size
        self._edges = list(halvings.edges[0])
        self._values = np.full((1,) * domain.ndim, self._level)

    @property
    def estimate(self) -> Floats:
        """``(*domain)``."""
        cells = self._values
        for axis, edges in enumerate(self._edges):
            if len(edges) <= self._halvings.domain.shape[axis]:
                cells = np.repeat(cells, np.diff(edges), axis=axis)
        return cells

    def learn(
        self, lower: Ints, upper: Ints, answer: float, depth: int, apart: NDArray[np.bool_], answers: Floats, precision: float
    ) -> None:
        """Take in the noisy total of any box, and of those boxes of a depth that are ``apart``; fit all again."""
        span = self._halvings.spans[depth]
        self._weight[span] += precision * apart
        self._pull[span] += precision * np.where(apart, answers, 0.0)
        self._lower, self._upper = np.vstack([self._lower, lower]), np.vstack([self._upper, upper])
        self._answers, self._precision = np.append(self._answers, answer), np.append(self._precision, precision)
        self._largest = max(self._largest, precision)
        self._refine(depth)
        self._fit(depth)

    def _refine(self, depth: int) -> None:
        """Cut the grid at the sides of new boxes, values as they are."""
        for axis, edges in enumerate(self._edges):
            sides = [edges, self._halvings.edges[depth][axis], self._lower[-1:, axis], self._upper[-1:, axis]]
            self._edges[axis] = finer = np.unique(np.concatenate(sides))
            self._values = np.repeat(self._values, np.diff(np.searchsorted(finer, edges)), axis=axis)

    def _fit(self, depth: int) -> None:
        from dpbench.mathematics.kernels.box_newton import fit

        halvings = self._halvings
        many = np.ones(())
        for edges in self._edges:
            many = np.multiply.outer(many, np.diff(edges).astype(np.float64))
        leaf = halvings.leaves[depth][np.ix_(*(edges[:-1] for edges in self._edges))].reshape(-1)
        # a box of one cell is a part of the grid itself
        nodes = halvings.spans[depth].start if 0 < depth == halvings.depth else halvings.spans[depth].stop
        single = halvings.single[leaf]
        weight, pull = self._weight / self._largest, self._pull / self._largest
        own = RIDGE / many.reshape(-1) + np.where(single, weight[leaf], 0.0)
        own_pull = RIDGE * self._level + np.where(single, pull[leaf], 0.0)
        mass = (self._values * many).reshape(-1)
        first, end = (
            np.stack([np.searchsorted(edges, side[:, axis]) for axis, edges in enumerate(self._edges)], axis=1)
            for side in (self._lower, self._upper)
        )
        self.steps = fit(
            halvings.above[:nodes],
            np.where(halvings.single[:nodes], 0.0, weight[:nodes]),
            np.where(halvings.single[:nodes], 0.0, pull[:nodes]),
            np.where(single, halvings.above[leaf], leaf),
            own,
            own_pull,
            np.array(many.shape, dtype=np.int64),
            np.ascontiguousarray(first),
            np.ascontiguousarray(end),
            self._precision / self._largest,
            self._answers,
            mass,
            STEPS,
        )
        self._values = mass.reshape(many.shape) / many
