"""p-Identity strategies: every cell by itself with part of the budget, and a few wide rows with the rest.

Along one axis the matrix is [diag(c); B]: c_j is what cell j gets by itself, B_kj what it gets in row k, and every
column adds up to 1. Several axes: the Kronecker product of one such matrix per axis. All weights are multiples of
2^-16, so columns add up to 1 exactly, and one record moves the answers by exactly 1.

McKenna, Miklau, Hay, Machanavajjhala. Optimizing error of high-dimensional statistical queries under differential
privacy. PVLDB 11(10), 2018.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.errors import InvalidInput

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

UNIT = 2**16
"""Weights are multiples of one over this number."""


@dataclass(frozen=True, eq=False)
class AxisStrategy:
    """A p-Identity matrix along one axis."""

    side: int
    """Cells of the axis: columns of the matrix."""
    rows: Ints
    """``(side, width)``: the wide rows that hold each cell."""
    units: Ints
    """``(side, width)``: its weight in each of them, in units of 2^-16; 0 where there is none."""

    def __post_init__(self) -> None:
        fits = self.rows.shape == self.units.shape and len(self.rows) == self.side
        if not fits or (self.rows < 0).any() or (self.units < 0).any() or (self.units.sum(axis=1) >= UNIT).any():
            raise InvalidInput(
                f"rows {self.rows.shape} with weights {self.units.shape} are no p-Identity strategy of {self.side} "
                f"cells; each cell needs weights of at least 0 that leave part of {UNIT} units to the cell itself"
            )

    @classmethod
    def cells(cls, side: int) -> AxisStrategy:
        """No wide rows: every cell by itself."""
        nothing = np.zeros((side, 0), dtype=np.int64)
        return cls(side, nothing, nothing)

    @cached_property
    def count(self) -> int:
        """How many wide rows there are (p)."""
        return int(self.rows.max(initial=-1)) + 1

    @cached_property
    def cell(self) -> Floats:
        """``(side,)``: c, what a cell gets by itself."""
        return np.asarray((UNIT - self.units.sum(axis=1)) / UNIT)

    @cached_property
    def weight(self) -> Floats:
        """``(side, width)``: the entries of B."""
        return self.units / UNIT

    @cached_property
    def squared_l2(self) -> Fraction:
        """The largest sum of squares of a column, exact."""
        columns = (UNIT - self.units.sum(axis=1)) ** 2 + (self.units**2).sum(axis=1)
        return Fraction(int(columns.max()), UNIT**2)

    def measure(self, values: Floats) -> Floats:
        """The matrix applied to columns ``(side, lanes)``: ``(side + count, lanes)``."""
        from dpbench.mathematics.kernels.p_identity import measure

        return np.asarray(measure(self.rows, self.weight, self.cell, self.count, values))

    def measure_units(self, values: NDArray[Any]) -> NDArray[Any]:
        """The matrix in units of 2^-16 applied to columns of whole numbers: whole numbers."""
        wide = np.zeros((self.count, values.shape[1]), dtype=values.dtype)
        for each in range(self.rows.shape[1]):
            np.add.at(wide, self.rows[:, each], self.units[:, each, np.newaxis] * values)
        return np.concatenate([(UNIT - self.units.sum(axis=1))[:, np.newaxis] * values, wide])


@dataclass(frozen=True, eq=False)
class PIdentity:
    """Ask for the answers of one p-Identity matrix per axis, over groups of neighbouring cells.

    A record is in one column, and the columns of a Kronecker product add up to the product of those of its factors,
    which is 1.
    """

    domain: Domain
    edges: tuple[Ints, ...]
    """Per axis ``(groups + 1,)``: the cells where groups begin, and the side of the axis."""
    axes: tuple[AxisStrategy, ...]
    """Per axis the matrix over its groups."""
    sensitivity = 1

    @property
    def shape(self) -> tuple[int, ...]:
        """Groups and wide rows along each axis."""
        return tuple(axis.side + axis.count for axis in self.axes)

    @property
    def squared_l2_sensitivity(self) -> Fraction:
        """The largest sum of squares of a column, exact."""
        return prod((axis.squared_l2 for axis in self.axes), start=Fraction(1))

    @property
    def units(self) -> float:
        """Answers are whole multiples of this."""
        return float(UNIT) ** -len(self.axes)

    def whole(self, counts: Ints) -> NDArray[Any]:
        """The whole numbers that answers are multiples of units by; beyond int64 as numbers of any size."""
        fits = int(counts.sum()) < 2**62 // UNIT ** len(self.axes)
        values: NDArray[Any] = counts.astype(np.int64 if fits else object)
        for number, (edges, axis) in enumerate(zip(self.edges, self.axes, strict=True)):
            values = along(number, axis.measure_units, np.add.reduceat(values, edges[:-1], axis=number))
        return values

    def answer(self, counts: Ints) -> Floats:
        """True answers, one axis after the other."""
        values = counts
        for number, edges in enumerate(self.edges):
            values = np.add.reduceat(values, edges[:-1], axis=number)
        answers = values.astype(np.float64)
        for number, axis in enumerate(self.axes):
            answers = along(number, axis.measure, answers)
        return answers


def along(number: int, change: Callable[[NDArray[Any]], NDArray[Any]], values: NDArray[Any]) -> NDArray[Any]:
    """A map of columns ``(side, lanes)`` applied along an axis of an array."""
    moved = np.moveaxis(values, number, 0)
    changed = change(np.ascontiguousarray(moved).reshape(len(moved), -1))
    return np.moveaxis(changed.reshape(len(changed), *moved.shape[1:]), 0, number)
