"""Nested squares in which least squares needs no help: every count stands out from its noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from dpbench.mathematics.cascade import Squares

Floats = NDArray[np.float64]

CLEAR, MANY = 5.0, 0.25
"""Standard deviations of its noise, and variances of it, that a count has at least."""


class Settled:
    """Squares whose inside is settled, and the rest.

    A count that is far from 0 has no use for non-negativity; and one that is as large as the variance of its noise has
    sampling noise of that order, so no belief about even cells improves it much. Where all counts in a square are such,
    the inside is taken out, the square keeps what least squares knows of it as its answer, and whatever total it gets
    is shared out as least squares does.
    """

    def __init__(self, squares: Squares) -> None:
        from dpbench.mathematics.kernels.squares import inside_of, settled_squares

        self.squares = squares
        self._moments = squares.moments()
        factor = 1.0 if squares.gaussian else 2.0
        found = settled_squares(
            squares.first_child,
            squares._children,
            squares.cells.astype(np.float64),
            self._moments[2],
            factor * self._moments[3],
            CLEAR,
            MANY,
        )
        inner = found & (squares.first_child >= 0)
        inner[0] = False
        self._inside = inside_of(squares.first_child, squares._children, inner)
        self._ends = inner & ~self._inside

    @property
    def any(self) -> bool:
        """Whether there are such squares."""
        return bool(self._ends.any())

    @property
    def rest(self) -> Squares:
        """The squares that are not inside settled ones."""
        return self._without() if self.any else self.squares

    def share_out(self, totals: Floats) -> Floats:
        """Totals ``(squares,)`` of the squares without squares inside, from those of the rest."""
        from dpbench.mathematics.kernels.squares import share_out

        squares, every = self.squares, np.zeros(self.squares.count)
        every[~self._inside] = totals
        share_out(
            squares.first_child,
            squares._children,
            squares.cells.astype(np.float64),
            *self._moments[:2],
            self._ends | self._inside,
            every,
        )
        return every

    def _without(self) -> Squares:
        kept, old = ~self._inside, self.squares
        number = np.cumsum(kept) - 1
        rest = type(old)(old.domain, gaussian=old.gaussian)
        for name in ("corner", "logs", "log_grid", "first_child", "answer", "rate", "asked", "cells"):
            setattr(rest, name, getattr(old, name)[kept])
        ends = self._ends[kept]
        rest.first_child = np.where(ends | (rest.first_child < 0), -1, number[rest.first_child])
        rest.log_grid[ends] = 0
        rest.answer[ends], rest.rate[ends] = 0.0, 0.0
        rest.answer[ends, 0] = self._moments[0][self._ends]
        rest.rate[ends, 0] = 1 / np.sqrt(self._moments[1][self._ends])
        return rest
