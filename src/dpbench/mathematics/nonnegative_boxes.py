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
    """Noisy totals of one trial, more of them in each round, and the estimate that they give; it starts uniform."""

    def __init__(self, domain: Domain, total: float, precision: float) -> None:
        self._domain = domain
        self._sides = np.array([side + 1 for side in domain], dtype=np.int64)
        inner = np.indices(domain.shape).reshape(domain.ndim, -1) + 1
        self._place = np.ravel_multi_index(tuple(inner), tuple(self._sides)).astype(np.int64)
        whole = np.array([domain.shape], dtype=np.int64)
        self._signs = np.array([sign for sign, _ in corners(domain, whole, whole)], dtype=np.float64)
        self._corner = np.empty((0, len(self._signs)), dtype=np.int64)
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
            self._place,
            self._corner,
            self._signs,
            self._sides,
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
