"""Every range of a domain, without listing them."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.errors import InvalidWorkload
from dpbench.workloads.axis import AxisRanges
from dpbench.workloads.ranges import Ranges
from dpbench.workloads.summed_area import BLOCK, by_row, corners, summed_area, trial_blocks
from dpbench.workloads.workload import Workload

LIST_LIMIT = 5 * 10**6
"""How many ranges are listed or answered one by one."""


class AllRange(Workload):
    """Every range: all side * (side + 1) / 2 intervals along each axis, and all their boxes.

    Where they are listed, the order is lexicographic in (lower0, upper0, lower1, upper1, ...).

    >>> import dpbench as dpb
    >>> dpb.workloads.AllRange(4).queries
    10
    >>> dpb.workloads.AllRange(3).answer([1, 2, 4])
    array([1, 3, 7, 2, 6, 4])
    """

    name: ClassVar[str] = "AllRange"

    @property
    def queries(self) -> int:
        """The product over axes of side * (side + 1) / 2."""
        return prod(self._per_axis())

    @property
    def sensitivity(self) -> float:
        """Cell i is in (i + 1)(side - i) intervals, most for the middle cell."""
        return float(prod((side + 1) ** 2 // 4 for side in self.domain))

    @property
    def axes(self) -> tuple[AxisRanges, ...]:
        """All ranges are the product of all intervals along each axis."""
        return tuple(AxisRanges.every(side) for side in self.domain)

    def ranges(self) -> Ranges:
        """List the ranges, where there are at most 5 million."""
        if self.queries > LIST_LIMIT:
            raise InvalidWorkload(
                f"{self!r} has {self.queries} ranges and at most {LIST_LIMIT} are listed; use norm(), "
                f"mean_squared() or axes, which need no list"
            )
        lower, upper = next(_boxes(self.domain.shape, self.queries))
        return Ranges(self.domain, lower, upper)

    def _per_axis(self) -> tuple[int, ...]:
        return tuple(side * (side + 1) // 2 for side in self.domain)

    def _contents(self) -> tuple[bytes, ...]:
        return ()

    def _mean_squared(self, values: NDArray[Any]) -> NDArray[np.float64]:
        return self._sum_of_squares(values) / float(self.queries)

    def _norm(self, values: NDArray[Any], order: str) -> NDArray[np.float64]:
        if order == "L2":
            return np.sqrt(self._sum_of_squares(values))
        result = np.zeros(len(values))
        for rows in trial_blocks(len(values), 2 * self.domain.size):
            result[rows] = self._norm_by_last_axis(values[rows].astype(np.float64, copy=False), order)
        return result

    def _sum_of_squares(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Add up the squared answers to all ranges: `(trials,)`.

        Along one axis, the sum over l < u of (C[u] - C[l])² is (side + 1) times the squared distance of the
        side + 1 prefix sums C from their mean. Removing the mean is a projection, and the projections of
        several axes commute: centre the summed-area table along every axis and add up its squares.
        """
        result = np.empty(len(values))
        for rows in trial_blocks(len(values), 2 * self.domain.size):
            table = summed_area(values[rows]).astype(np.float64, copy=False)
            for axis in range(1, table.ndim):
                table -= table.mean(axis=axis, keepdims=True)
            flat = by_row(table)
            result[rows] = np.einsum("tc,tc->t", flat, flat)
        return result * float(prod(side + 1 for side in self.domain))

    def _norm_by_last_axis(self, values: NDArray[np.float64], order: str) -> NDArray[np.float64]:
        """L1 or L-infinity norms of one block of trials.

        A box of the leading axes leaves the prefix sums of one vector along the last axis. Over all pairs of
        sorted prefix sums the absolute differences add up to the sum of (2 i - side) c_(i), and the largest
        is the spread. So only the leading boxes are listed, in blocks.
        """
        table = summed_area(values)
        side = self.domain.shape[-1]
        sign = 2.0 * np.arange(side + 1) - side
        result = np.zeros(len(values))
        for rows in self._prefix_sums(table):
            if order == "L1":
                rows.sort(axis=-1)
                centred = rows - rows.mean(axis=-1, keepdims=True)
                result += (centred @ sign).sum(axis=1)
            else:
                np.maximum(result, np.ptp(rows, axis=-1).max(axis=1), out=result)
        return result

    def _prefix_sums(self, table: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
        """Prefix sums along the last axis of every leading box: blocks of `(trials, boxes, side + 1)`."""
        leading = self.domain.shape[:-1]
        if not leading:
            yield table[:, np.newaxis, :].copy()
            return
        boxes = prod(self._per_axis()[:-1])
        if boxes > LIST_LIMIT:
            raise InvalidWorkload(
                f"{self!r} has {boxes} boxes along all axes but the last, and at most {LIST_LIMIT} are gone through; "
                f"use the norm L2 or mean_squared(), which need no list"
            )
        flat_table = table.reshape(len(table), prod(table.shape[1:-1]), table.shape[-1])
        step = max(1, BLOCK // max(1, len(table) * table.shape[-1]))
        for lower, upper in _boxes(leading, step):
            rows = np.zeros((len(table), len(lower), table.shape[-1]))
            for sign, flat in corners(Domain(leading), lower, upper):
                rows += sign * np.take(flat_table, flat, axis=1)
            yield rows


def _boxes(shape: tuple[int, ...], step: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Every box of a grid, ``step`` at a time, in the order of ``AllRange``: `(boxes, ndim)` corners."""
    intervals = {side: np.triu_indices(side + 1, k=1) for side in shape}
    counts = tuple(len(intervals[side][0]) for side in shape)
    total = prod(counts)
    for start in range(0, total, step):
        chosen = np.unravel_index(np.arange(start, min(start + step, total)), counts)
        pairs = [(intervals[side], index) for side, index in zip(shape, chosen, strict=True)]
        yield (
            np.stack([interval[0][index] for interval, index in pairs], axis=1),
            np.stack([interval[1][index] for interval, index in pairs], axis=1),
        )
