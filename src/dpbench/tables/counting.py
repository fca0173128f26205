"""Rows counted per cell, a batch at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.errors import InvalidTable
from dpbench.tables.axes import Axis, Bins, Categories, Numbers, Times
from dpbench.tables.sources import BATCH, LARGEST_TOTAL, batches
from dpbench.tables.values import codes_of, numbers_of

MOST_CELLS = 10**8
"""Largest histogram that is counted."""


@dataclass(frozen=True, eq=False)
class Histogram:
    """Counts per cell, and what happened to the other rows; as private as the table, and shown by no repr."""

    axes: tuple[Axis, ...]
    counts: NDArray[np.int64] = field(repr=False)
    """``(*domain)``."""
    rows: int = field(repr=False)
    """All rows that were read."""
    dropped: int = field(repr=False)
    """Rows that are in no cell."""
    missing: Mapping[str, int] = field(repr=False)
    """Per column, values that were missing."""
    outside: Mapping[str, int] = field(repr=False)
    """Per column, values outside its bounds or categories."""

    @property
    def domain(self) -> Domain:
        """Cells along each axis."""
        return Domain(self.counts.shape)


def histogram(table: object, axes: Sequence[Axis]) -> Histogram:
    """Count the rows of a table: a path, a folder, or a frame of any library that speaks Arrow.

    The tallies beside the counts are computed without noise. They are for public data.
    """
    columns = check_axes(axes)
    shape = tuple(axis.cells for axis in columns)
    counts = np.zeros(prod(shape), dtype=np.int64)
    tallies = np.zeros((len(columns), 2), dtype=np.int64)
    rows, dropped = 0, 0
    from dpbench.mathematics.kernels.binning import add_bins, add_codes, count_rows

    room = np.empty(BATCH, dtype=np.int64)
    for batch in batches(table, columns):
        flat = room[: batch.num_rows]
        flat[:] = 0
        for number, axis in enumerate(columns):
            if isinstance(axis, Categories):
                codes, seen = codes_of(axis, batch.column(number))
                tallies[number] += seen
                add_codes(codes, axis.cells, flat)
            elif isinstance(axis, Numbers | Times):
                values = numbers_of(axis, batch.column(number))
                add_bins(
                    values, axis.breaks, axis.outside == "clamp", axis.missing_cell, axis.cells, flat, tallies[number]
                )
        rows += len(flat)
        dropped += count_rows(flat, counts)
    names = [axis.name for axis in columns]
    missing, outside = (dict(zip(names, tallies[:, which].tolist(), strict=True)) for which in (0, 1))
    return Histogram(
        columns, counts.reshape(shape), rows, dropped, MappingProxyType(missing), MappingProxyType(outside)
    )


def capped(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Counts of at most as much per cell as keeps every sum exact: a rule that one record moves by at most one."""
    return np.minimum(counts, LARGEST_TOTAL // counts.size)


def check_axes(axes: Sequence[Axis]) -> tuple[Axis, ...]:
    """Axes of different columns whose cells are not too many."""
    given: object = axes
    columns = tuple(axes) if isinstance(given, list | tuple) else ()
    if not columns or not all(isinstance(axis, Bins | Categories) for axis in columns):
        raise InvalidTable("the columns of a table must be a list; for example [Numbers('age', 0, 100, bins=20)]")
    names = [axis.name for axis in columns]
    if len(set(names)) != len(names):
        raise InvalidTable(f"the columns {names} name one twice; use each column once")
    cells = prod(axis.cells for axis in columns)
    if cells > MOST_CELLS:
        raise InvalidTable(f"the columns span {cells:,} cells, more than {MOST_CELLS:,}; use fewer bins or columns")
    return columns
