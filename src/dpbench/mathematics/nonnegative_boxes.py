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
LARGEST_BY_CELL = 2**17
"""Cells up to which the fit has a number per cell; beyond, one per cell of the grid that the sides of boxes span."""


class _Layout:
    """Where cells and the corners of boxes lie in a table of running sums."""

    def __init__(self, domain: Domain) -> None:
        self.sides = np.array([side + 1 for side in domain], dtype=np.int64)
        inner = np.indices(domain.shape).reshape(domain.ndim, -1) + 1
        self.place = np.ravel_multi_index(tuple(inner), tuple(self.sides)).astype(np.int64)
        whole = np.array([domain.shape], dtype=np.int64)
        self.signs = np.array([sign for sign, _ in corners(domain, whole, whole)], dtype=np.float64)


def box_fit(domain: Domain, total: float, precision: float) -> BoxFit | GridFit:
    """The fit of a total, to which boxes are added; it starts uniform."""
    return (BoxFit if domain.size <= LARGEST_BY_CELL else GridFit)(domain, total, precision)


class GridFit:
    """Noisy totals of one trial on a large domain.

    Cells that no measured box tells apart start equal and have the same gradient, so they stay equal: one number
    for all of them is the same fit.
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
        # the grid that all sides span, with the values so far
        many = np.ones((), dtype=np.float64)
        for axis, edges in enumerate(self._edges):
            finer = np.unique(np.concatenate([edges, lower[:, axis], upper[:, axis]]))
            self._values = np.repeat(self._values, np.diff(np.searchsorted(finer, edges)), axis=axis)
            self._edges[axis] = finer
            many = np.multiply.outer(many, np.diff(finer))
        ends = [
            np.stack([np.searchsorted(edges, end[:, axis]) for axis, edges in enumerate(self._edges)], axis=1)
            for end in (self._lower, self._upper)
        ]
        # fit
        grid = Domain(self._values.shape)
        layout, cells, largest = _Layout(grid), self._values.reshape(-1).copy(), self._precision.max()
        descend(
            cells,
            many.reshape(-1),
            layout.place,
            np.ascontiguousarray(np.stack([place for _, place in corners(grid, *ends)], axis=1)),
            layout.signs,
            layout.sides,
            self._answers,
            self._precision / largest,
            np.full(len(cells), self._level),
            np.full(len(cells), RIDGE),
            STEPS,
            TOLERANCE,
        )
        self._values = cells.reshape(grid.shape)


class BoxFit:
    """Noisy totals of one trial, more of them in each round, and the estimate that they give; it starts uniform."""

    def __init__(self, domain: Domain, total: float, precision: float) -> None:
        self._domain = domain
        self._layout = _Layout(domain)
        whole = np.array([domain.shape], dtype=np.int64)
        self._many = np.ones(domain.size)
        self._corner = np.empty((0, len(self._layout.signs)), dtype=np.int64)
        self._answers, self._precision = np.empty(0), np.empty(0)
        self._own_precision, self._own_sum = np.zeros(domain.size), np.zeros(domain.size)
        self._largest = 0.0
        self._add(np.zeros_like(whole), whole, np.array([total]), precision)
        self._level = max(0.0, total) / domain.size
        self._cells = np.full(domain.size, self._level)

    @property
    def estimate(self) -> Floats:
        """``(*domain)``."""
        return self._cells.reshape(self._domain.shape).copy()

    def learn(self, lower: Ints, upper: Ints, answers: Floats, precision: float) -> None:
        """Take in noisy totals of boxes ``(boxes, axes)``, all of one precision, and fit all again from where it is."""
        from dpbench.mathematics.kernels.box_gradient import descend

        self._add(lower, upper, np.asarray(answers, dtype=np.float64), precision)
        own = self._own_precision / self._largest + RIDGE
        descend(
            self._cells,
            self._many,
            self._layout.place,
            self._corner,
            self._layout.signs,
            self._layout.sides,
            self._answers,
            self._precision / self._largest,
            (self._own_sum / self._largest + RIDGE * self._level) / own,
            own,
            STEPS,
            TOLERANCE,
        )

    def _add(self, lower: Ints, upper: Ints, answers: Floats, precision: float) -> None:
        """Totals of single cells are added up by cell, which keeps the number of boxes small; the others are listed."""
        self._largest = max(self._largest, precision)
        single = (upper - lower == 1).all(axis=1)
        cell = np.ravel_multi_index(tuple(lower[single].T), self._domain.shape)
        np.add.at(self._own_precision, cell, precision)
        np.add.at(self._own_sum, cell, precision * answers[single])
        places = np.stack([place for _, place in corners(self._domain, lower[~single], upper[~single])], axis=1)
        self._corner = np.ascontiguousarray(np.concatenate([self._corner, places]))
        self._answers = np.concatenate([self._answers, answers[~single]])
        self._precision = np.concatenate([self._precision, np.full(len(places), precision)])
