"""The non-negative histogram that fits noisy totals of boxes best: least squares, each total by its precision."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.workloads.summed_area import corners

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

RIDGE = 1e-6
"""Pull towards a uniform histogram, over the largest precision: it decides where totals leave the cells open."""
STEPS = 200
TOLERANCE = 1e-6
"""Steps at most, and the largest move of a cell over the largest cell at which they end before."""


class BoxFit:
    """Noisy totals of one trial, more of them in each round, and the estimate that they give; it starts uniform.

    Cells that no measured box tells apart start equal and have the same gradient, so they stay equal: the fit has one
    number for all of them, on the grid that the sides of the boxes span.
    """

    def __init__(self, domain: Domain, total: float, precision: float) -> None:
        whole = np.array([domain.shape], dtype=np.int64)
        self._edges = [np.array([0, side], dtype=np.int64) for side in domain]
        self._lower, self._upper = np.zeros_like(whole), whole
        self._answers, self._precision = np.array([total]), np.array([precision])
        self._level = max(0.0, total) / domain.size
        self._values = np.full((1,) * domain.ndim, self._level)

    @property
    def estimate(self) -> Floats:
        """``(*domain)``."""
        cells = self._values
        for axis, edges in enumerate(self._edges):
            cells = np.repeat(cells, np.diff(edges), axis=axis)
        return cells

    def learn(self, lower: Ints, upper: Ints, answers: Floats, precision: float) -> None:
        """Take in noisy totals of boxes ``(boxes, axes)``, all of one precision, and fit all again from where it is."""
        from dpbench.mathematics.kernels.box_gradient import descend

        self._lower, self._upper = np.concatenate([self._lower, lower]), np.concatenate([self._upper, upper])
        self._answers = np.concatenate([self._answers, answers])
        self._precision = np.concatenate([self._precision, np.full(len(answers), precision)])
        many = self._refine(lower, upper).reshape(-1)
        grid = Domain(self._values.shape)
        first, end = (
            np.stack([np.searchsorted(edges, side[:, axis]) for axis, edges in enumerate(self._edges)], axis=1)
            for side in (self._lower, self._upper)
        )
        weight = self._precision / self._precision.max()
        # totals of one part of the grid are added up by part, which keeps the number of boxes small
        single = (end - first == 1).all(axis=1)
        part = np.ravel_multi_index(tuple(first[single].T), grid.shape)
        own = np.full(grid.size, RIDGE)
        own_sum = RIDGE * self._level * np.ones(grid.size)
        np.add.at(own, part, weight[single] * many[part])
        np.add.at(own_sum, part, weight[single] * self._answers[single])
        # fit
        sides = np.array([side + 1 for side in grid.shape], dtype=np.int64)
        rows = np.indices((*grid.shape[:-1], 1)).reshape(grid.ndim, -1) + 1
        boxes = list(corners(grid, first[~single], end[~single]))
        cells = self._values.reshape(-1).copy()
        descend(
            cells,
            many,
            np.ravel_multi_index(tuple(rows), tuple(sides)).astype(np.int64),
            np.ascontiguousarray(np.stack([place for _, place in boxes], axis=1)),
            np.array([sign for sign, _ in boxes], dtype=np.float64),
            sides,
            self._answers[~single],
            weight[~single],
            own_sum / own,
            own,
            STEPS,
            TOLERANCE,
        )
        self._values = cells.reshape(grid.shape)

    def _refine(self, lower: Ints, upper: Ints) -> Floats:
        """Cut the grid at the sides of new boxes, values as they are; how many cells each part of it has."""
        many = np.ones(())
        for axis, edges in enumerate(self._edges):
            finer = np.unique(np.concatenate([edges, lower[:, axis], upper[:, axis]]))
            self._values = np.repeat(self._values, np.diff(np.searchsorted(finer, edges)), axis=axis)
            self._edges[axis] = finer
            many = np.multiply.outer(many, np.diff(finer).astype(np.float64))
        return many
