"""Grids and boxes of cells: what partitions ask for, on any number of axes.

Counts of boxes come from one summed-area table, computed once per data vector. A box is
``lower <= coordinate < upper``; boxes come as two arrays ``(boxes, axes)``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.errors import InvalidInput
from dpbench.mathematics.tree import Tree
from dpbench.workloads.summed_area import corners, summed_area

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SummedAreas:
    """The statistic ``(side + 1, ...)`` from which the count of any box takes 2^axes look-ups."""

    def of(self, counts: Ints) -> Ints:
        """Running sums along every axis."""
        return np.asarray(summed_area(counts[None])[0])


def steps(side: int, step: int) -> Ints:
    """Where an axis is cut every ``step`` cells, both ends included; the last part may be shorter."""
    return np.append(np.arange(0, side, step), side)


def nearly_equal(side: int, parts: int) -> Ints:
    """Where an axis is cut into ``parts`` nearly equal parts, both ends included."""
    return np.arange(parts + 1) * side // parts


@dataclass(frozen=True, eq=False)
class GridCounts:
    """Ask for the count of every cell of a grid. Its cells are disjoint, so one record moves the answers by 1."""

    domain: Domain
    cuts: tuple[Ints, ...]
    """For each axis where it is cut, ascending from 0 to its side."""

    statistic: ClassVar[SummedAreas] = SummedAreas()
    sensitivity: ClassVar[int] = 1
    lattice: ClassVar[int] = 1

    def __post_init__(self) -> None:
        ends = [(int(cut[0]), int(cut[-1])) for cut in self.cuts]
        if ends != [(0, side) for side in self.domain] or any((np.diff(cut) < 1).any() for cut in self.cuts):
            raise InvalidInput(f"the cuts of a grid on {self.domain} have to ascend from 0 to each side")

    @property
    def shape(self) -> tuple[int, ...]:
        """One answer a cell of the grid."""
        return tuple(len(cut) - 1 for cut in self.cuts)

    @cached_property
    def sizes(self) -> Ints:
        """``(*shape)``: cells of the domain in each cell of the grid."""
        sizes = np.ones((), dtype=np.int64)
        for cut in self.cuts:
            sizes = np.multiply.outer(sizes, np.diff(cut))
        return sizes

    def answer(self, table: Ints) -> Ints:
        """Differences of the table along every axis."""
        found = table[np.ix_(*self.cuts)]
        for axis in range(self.domain.ndim):
            found = np.diff(found, axis=axis)
        return found

    def spread(self, totals: Floats) -> Floats:
        """``(trials, *shape)`` to ``(trials, *domain)``: every total evenly over its cells."""
        cells = totals / self.sizes
        for axis in reversed(range(self.domain.ndim)):
            length = np.diff(self.cuts[axis])
            if (length > 1).any():
                cells = np.repeat(cells, length, axis=axis + 1)
        return cells

    @property
    def boxes(self) -> tuple[Ints, Ints]:
        """Lower and upper corners of the cells of the grid, row by row."""
        lower = np.stack(np.meshgrid(*(cut[:-1] for cut in self.cuts), indexing="ij"), axis=-1)
        upper = np.stack(np.meshgrid(*(cut[1:] for cut in self.cuts), indexing="ij"), axis=-1)
        axes = self.domain.ndim
        return lower.reshape(-1, axes), upper.reshape(-1, axes)


@dataclass(frozen=True, eq=False)
class BoxCounts:
    """Ask for the counts of disjoint boxes, which is checked when it is made: one record moves the answers by 1."""

    domain: Domain
    lower: Ints
    upper: Ints

    statistic: ClassVar[SummedAreas] = SummedAreas()
    sensitivity: ClassVar[int] = 1
    lattice: ClassVar[int] = 1

    def __post_init__(self) -> None:
        from dpbench.mathematics.kernels.boxes import are_apart

        few = len(self.lower) ** 2 <= self.domain.size  # quicker looked at in pairs than painted
        lower, upper = np.ascontiguousarray(self.lower), np.ascontiguousarray(self.upper)
        if not (are_apart(lower, upper, np.array(self.domain.shape)) if few else self._painted[0]):
            raise InvalidInput(
                f"boxes of {self.domain} overlap, are empty or lie outside; give disjoint boxes of cells"
            )

    @cached_property
    def _painted(self) -> tuple[bool, Ints]:
        """Whether all went well, and the labels."""
        from dpbench.mathematics.kernels.boxes import paint

        labels = np.full(self.domain.size, -1, dtype=np.int64)
        lower, upper = np.ascontiguousarray(self.lower), np.ascontiguousarray(self.upper)
        return paint(lower, upper, np.array(self.domain.shape), labels), labels

    @property
    def labels(self) -> Ints:
        """``(cells,)``: the box of every cell, row by row; -1: none."""
        return self._painted[1]

    @property
    def shape(self) -> tuple[int, ...]:
        """One answer a box."""
        return (len(self.lower),)

    @cached_property
    def sizes(self) -> Ints:
        """``(boxes,)``: cells in each."""
        return np.asarray(math.prod((self.upper - self.lower).T))

    def answer(self, table: Ints) -> Ints:
        """Signed sums of the table's entries at the corners."""
        return box_sums(self.domain, table, self.lower, self.upper)

    def spread(self, totals: Floats) -> Floats:
        """``(boxes,)`` to ``(*domain)``: every total evenly over its cells; the boxes have to tile the domain."""
        return np.asarray((totals / self.sizes)[self.labels].reshape(self.domain.shape))


def box_sums(domain: Domain, table: Ints, lower: Ints, upper: Ints) -> Ints:
    """Counts of boxes ``(boxes,)`` from the summed-area table."""
    flat, sums = table.reshape(-1), np.zeros(len(lower), dtype=np.int64)
    for sign, index in corners(domain, lower, upper):
        sums += sign * flat[index]
    return sums


@dataclass(frozen=True, eq=False)
class MedianCuts:
    """Scores of the places where disjoint boxes can be cut along an axis: the nearer to the median the higher.

    The score of a cut is minus the distance of the number of records below it from half of the box's. One record moves
    the first by 0 or 1 and the second by 1/2: the score by exactly 1/2. ``tight=False`` claims 1 instead.
    """

    boxes: BoxCounts
    """Each with at least two cells along the axis."""
    axis: int
    tight: bool = True

    statistic: ClassVar[SummedAreas] = SummedAreas()
    monotone: ClassVar[bool] = False
    lattice: ClassVar[Fraction] = Fraction(1, 2)

    @property
    def sensitivity(self) -> Fraction:
        """Half a record."""
        return Fraction(1, 2) if self.tight else Fraction(1)

    @cached_property
    def starts(self) -> Ints:
        """The candidates of each box, from its first inner boundary to its last."""
        from dpbench.mathematics.kernels.splits import starts_of_cuts

        lower, upper = np.ascontiguousarray(self.boxes.lower), np.ascontiguousarray(self.boxes.upper)
        return np.asarray(starts_of_cuts(lower, upper, self.axis))

    def score(self, table: Ints) -> Floats:
        """-|records below - records / 2|, ``(candidates,)``, exact to the half."""
        from dpbench.mathematics.kernels.splits import median_scores

        lower, upper = np.ascontiguousarray(self.boxes.lower), np.ascontiguousarray(self.boxes.upper)
        strides = _strides(self.boxes.domain.shape)
        return np.asarray(median_scores(table.reshape(-1), strides, lower, upper, self.axis, int(self.starts[-1])))


def box_tree(domain: Domain, lower: Ints, upper: Ints, fanout: Ints, ends: Ints, weights: Floats) -> Tree:
    """The tree of counts of nested boxes on two axes.

    The lower and upper corners of boxes ``(boxes, 2)``, root first and depth by depth, those of depth d before box
    ``ends[d]``; and how many children each has in the next depth, which tile it. ``weights`` has one entry a depth and
    adds up to 1; a leaf gets its own and those of the depths that its path does not reach, so that every path adds up
    to the same.
    """
    from dpbench.mathematics.kernels.boxes import lay_out

    rest = np.ascontiguousarray(np.cumsum(weights[::-1])[::-1])
    start, stop, order, first_child, weight = lay_out(
        lower, upper, fanout, ends, weights, rest, np.array(domain.shape), domain.size
    )
    return Tree(domain=domain, order=order, start=start, stop=stop, first_child=first_child, weight=weight)


def boxes_by_variance(
    cells: Floats, threshold: float, small: int, small_threshold: float, *, at_median: bool
) -> tuple[Ints, Ints]:
    """Boxes that tile ``cells`` ``(*domain)``, inside each of which their sample variance is at most ``threshold``.

    Greedy from the whole domain down: see :func:`dpbench.mathematics.kernels.splits.split_by_variance`.
    """
    from dpbench.mathematics.kernels.splits import split_by_variance

    about_mean = cells - cells.mean()
    mass = summed_area(about_mean[None])
    squares = summed_area(about_mean[None] ** 2)
    guide = summed_area(np.maximum(cells, 0.0)[None]) if at_median else mass
    return split_by_variance(  # type: ignore[no-any-return]
        about_mean.reshape(-1),
        mass.reshape(-1),
        squares.reshape(-1),
        guide.reshape(-1),
        np.array(cells.shape),
        _strides(cells.shape),
        threshold,
        small,
        small_threshold,
        at_median,
    )


def boxes_by_penalty(totals: Floats, grid: GridCounts, penalty: float) -> tuple[Ints, Ints]:
    """Boxes of whole cells of a grid that tile the domain; each was worth ``penalty`` of squared deviations.

    Greedy from the whole domain down: see :func:`~dpbench.mathematics.kernels.splits.split_by_penalty`.
    ``totals`` ``(*shape)`` are spread evenly over the cells of the grid.
    """
    from dpbench.mathematics.kernels.splits import split_by_penalty

    edges = np.zeros((len(grid.shape), max(grid.shape) + 1), dtype=np.int64)
    for axis, cut in enumerate(grid.cuts):
        edges[axis, : len(cut)] = cut
    mass = summed_area(totals[None]).reshape(-1)
    sides = np.array(grid.shape)
    lower, upper = split_by_penalty(mass, edges, sides, _strides(grid.shape), totals.size, penalty)
    axes = np.arange(len(sides))
    return edges[axes, lower], edges[axes, upper]


@lru_cache(maxsize=64)
def _strides(shape: tuple[int, ...]) -> Ints:
    """How far apart neighbours along each axis are in a flattened table of ``side + 1`` entries."""
    sides = np.array([1, *(side + 1 for side in reversed(shape[1:]))])
    return np.ascontiguousarray(np.cumprod(sides)[::-1])
