"""The simplest strategy: every cell by itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain


@dataclass(frozen=True)
class Cells:
    """Ask for every cell's count. One record is in one cell, so the sensitivity is 1."""

    domain: Domain
    sensitivity = 1
    lattice = 1

    @property
    def shape(self) -> tuple[int, ...]:
        """One answer a cell."""
        return self.domain.shape

    def influence(self, queries: NDArray[np.float64]) -> NDArray[np.float64]:
        """What each query takes of every answer: its cells."""
        return queries

    def answer(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The counts."""
        return counts
