"""Nested squares in which least squares needs no help: every count stands out from its noise."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from dpbench.mathematics.cascade import Squares

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Moments = tuple[Floats, Floats, Floats, Floats]

CLEAR, MANY = 5.0, 0.25
"""Standard deviations of its noise, and variances of it, that a count has at least."""


class Settled:
    """Squares whose inside is settled, and the rest.

    A count that is far from 0 has no use for non-negativity; and one that is as large as the variance of its noise has
    sampling noise of that order, so no belief about even cells improves it much. Where all counts in a square are such,
    the inside is taken out, the square keeps what least squares knows of it as its answer, and whatever total it gets
    is shared out as least squares does. With ``nothing`` no square is taken for settled.
    """

    def __init__(self, squares: Squares, *, nothing: bool = False) -> None:
        from dpbench.mathematics.kernels.squares import inside_of, settled_squares

        self.squares = squares
        self.moments = squares.moments()
        """Least squares of every square."""
        factor = 1.0 if squares.gaussian else 2.0
        found = settled_squares(
            squares.first_child,
            squares._children,
            squares.cells.astype(np.float64),
            self.moments[2],
            factor * self.moments[3],
            CLEAR,
            MANY,
        )
        inner = found & (squares.first_child >= 0)
        inner[0] = False
        inner &= not nothing
        self.inside = inside_of(squares.first_child, squares._children, inner)
        """Which squares are taken out."""
        self.ends = inner & ~self.inside
        """Which squares they are taken out of."""

    @property
    def any(self) -> bool:
        """Whether there are such squares."""
        return bool(self.ends.any())

    @cached_property
    def rest(self) -> Squares:
        """The squares that are not inside settled ones."""
        return _emptied(self.squares, self.ends, self.inside, self.moments) if self.any else self.squares

    def share_out(self, totals: Floats) -> Floats:
        """Totals ``(squares,)`` of the squares without squares inside, from those of the rest."""
        every = np.zeros(self.squares.count)
        every[~self.inside] = totals
        return self.share_out_within(every, np.ones(self.squares.count, dtype=np.bool_))

    def share_out_within(self, totals: Floats, some: Bools) -> Floats:
        """The same from totals of all squares, inside those of some settled squares alone; in place."""
        from dpbench.mathematics.kernels.squares import share_out

        squares = self.squares
        share_out(
            squares.first_child,
            squares._children,
            squares.cells.astype(np.float64),
            *self.moments[:2],
            (self.ends | self.inside) & some,
            totals,
        )
        return totals


def _emptied(squares: Squares, ends: Bools, inside: Bools, moments: Moments) -> Squares:
    """Squares without those inside some: each of these ends has what least squares knows of it as its answer."""
    kept = np.flatnonzero(~inside)
    number = np.cumsum(~inside) - 1
    rest = type(squares)(squares.domain, gaussian=squares.gaussian)
    for name in ("corner", "logs", "log_grid", "first_child", "answer", "rate", "asked", "cells"):
        setattr(rest, name, getattr(squares, name).take(kept, axis=0))
    there = ends[kept]
    rest.first_child = np.where(there | (rest.first_child < 0), -1, number[rest.first_child])
    rest.log_grid[there] = 0
    rest.answer[there], rest.rate[there] = 0.0, 0.0
    rest.answer[there, 0] = moments[0][ends]
    rest.rate[there, 0] = 1 / np.sqrt(moments[1][ends])
    return rest


def sample(squares: Squares, many: int) -> tuple[Squares, Ints]:
    """The same, where of the squares that hold no more than uncut squares about ``many`` of each size are left as such.

    Also the numbers that its squares had before.

    They are chosen evenly by their counts, so that full and empty ones are there in proportion, and a mirrored or
    transposed table has the mirrored or transposed sample.
    """
    from dpbench.mathematics.kernels.squares import inside_of

    children, moments = squares._children, squares.moments()
    inner = np.flatnonzero(squares.first_child >= 0)
    deeper = np.cumsum(squares.first_child >= 0)
    first, end = squares.first_child[inner], squares.first_child[inner] + children[inner] - 1
    last = inner[(deeper[end] == deeper[first - 1]) & (squares.cells[inner] > 0) & (inner > 0)]
    ends = np.zeros(squares.count, dtype=np.bool_)
    for _, which in squares.by_size(last):
        mine = last[which]
        step = len(mine) // many
        if step > 1:
            mine = mine[np.argsort(moments[2][mine], kind="stable")]
            left_out = np.ones(len(mine), dtype=np.bool_)
            left_out[len(mine) - 1 - step // 2 :: -step] = False
            ends[mine[left_out]] = True
    if not ends.any():
        return squares, np.arange(squares.count)
    inside = inside_of(squares.first_child, children, ends)
    return _emptied(squares, ends, inside, moments), np.flatnonzero(~inside)
