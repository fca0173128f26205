"""A user's own table becomes a histogram, through bounds and bins that are public.

The domain of a histogram is published with every release. Were it read off the private table, the
release would reveal, at no cost to epsilon, what the extreme values are. So each column states its
bounds, from knowledge that does not come from the table; only a user who declares the data public may leave
them out.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from math import isfinite, prod
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpbench.datasets.frames import Cells, is_missing, read_batches
from dpbench.domain import Domain
from dpbench.errors import InvalidTable, shown
from dpbench.given import of_kind

MOST_CELLS = 10**8
"""Largest histogram that is built; beyond it the counts alone take a gigabyte."""
MOST_EDGES = 10**6
"""Edges that a column may spell out."""


@dataclass(frozen=True)
class Column:
    """One attribute of a table and its cells, in one of three ways.

    ``Column("age", 0, 100, bins=20)``: equal-width bins; each holds its left end, the last both ends.
    ``Column("income", edges=[0, 10_000, 50_000, 1e6])``: bins between given edges, ends likewise.
    ``Column("sex", categories=["f", "m"])``: one cell per category.
    Without bounds, edges or categories it serves only for data that are declared public.
    """

    name: str
    low: float | None = None
    high: float | None = None
    bins: int | None = None
    categories: Sequence[Any] | None = None
    edges: Sequence[float] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise InvalidTable(f"a column is named {shown(self.name)}; give its name as in the table")
        ways = (self.bins is not None, self.categories is not None, self.edges is not None)
        if sum(ways) > 1 or (self.bins is None and (self.low is not None or self.high is not None)):
            raise self._wrong("mixes ways to say what its cells are; give low, high and bins, or edges, or categories")
        if self.categories is not None:
            object.__setattr__(self, "categories", self._checked_categories(self.categories))
        if self.edges is not None:
            object.__setattr__(self, "edges", self._checked_edges(self.edges))
        if self.bins is not None:
            object.__setattr__(self, "bins", self._checked_bins(self.bins))
            if (self.low is None) != (self.high is None):
                raise self._wrong("has only one of low and high; give both")
            if self.low is not None:
                self._checked_edges(self._equal_width())

    @property
    def is_explicit(self) -> bool:
        """Whether the cells are known without looking at any data."""
        return self.categories is not None or self.edges is not None or self.low is not None

    @property
    def cells(self) -> int:
        """Number of cells along this column's axis."""
        return len(self.categories) if self.categories is not None else len(self.breaks()) - 1

    def breaks(self) -> NDArray[np.float64]:
        """Edges of the bins, (cells + 1,)."""
        if self.categories is not None or not self.is_explicit:
            raise self._wrong("has no edges of bins; give low, high and bins, or edges")
        return np.array(self._equal_width() if self.edges is None else self.edges, dtype=np.float64)

    def inferred_from(self, batches: Iterable[Cells]) -> Column:
        """Take bounds or categories from public data; an explicit column stays as it is."""
        if self.is_explicit:
            return self
        if self.bins is None:
            try:
                return replace(self, categories=sorted({label for cells in batches for label in cells.labels()[0]}))
            except TypeError:
                raise self._wrong("has values of kinds that cannot be sorted; give categories=[...]") from None
        numbers = np.concatenate([np.empty(0), *(cells.numbers() for cells in batches)])
        numbers = numbers[np.isfinite(numbers)]
        if numbers.size == 0 or numbers.min() == numbers.max():
            raise self._wrong("has fewer than two different values to infer bounds from; give low and high")
        return replace(self, low=float(numbers.min()), high=float(numbers.max()))

    def _wrong(self, fault: str) -> InvalidTable:
        return InvalidTable(f"column {shown(self.name)} {fault}")

    def _equal_width(self) -> list[float]:
        low, high, bins = self.low, self.high, self.bins
        if low is None or high is None or bins is None:
            raise self._wrong("has no bounds; give low, high and bins")
        try:
            low, high = float(low), float(high)
        except (TypeError, ValueError, OverflowError):
            raise self._wrong(f"has the bounds {shown(low)} and {shown(high)}; give two numbers") from None
        if not (isfinite(low) and isfinite(high) and isfinite(high - low) and low < high):
            raise self._wrong(f"has the bounds {shown(low)} and {shown(high)}; give finite numbers, low below high")
        points: list[float] = np.linspace(low, high, bins + 1).tolist()
        return points

    def _checked_bins(self, bins: object) -> int:
        try:
            whole = operator.index(bins)  # type: ignore[arg-type]
        except Exception:  # whatever is no whole number
            whole = 0
        if isinstance(bins, bool) or not 1 <= whole <= MOST_CELLS:
            raise self._wrong(f"has bins={shown(bins)}; give a whole number from 1 to {MOST_CELLS}")
        return whole

    def _checked_edges(self, edges: Sequence[float]) -> tuple[float, ...]:
        try:
            given: Any = edges
            if isinstance(given, np.ma.MaskedArray):
                given = given.filled(np.nan)
            points = np.array([float(edge) for edge in islice(given, MOST_EDGES + 1)])
        except Exception:  # whatever has no numbers in it
            raise self._wrong("has edges that are not numbers; give at least two, increasing") from None
        if len(points) > MOST_EDGES:
            raise self._wrong(f"has more than {MOST_EDGES:,} edges; give low, high and bins, or fewer edges")
        if len(points) < 2 or not np.isfinite(points).all() or not (np.diff(points) > 0).all():
            raise self._wrong("has edges that do not increase; give at least two finite numbers, each above the last")
        return tuple(points.tolist())

    def _checked_categories(self, categories: Sequence[Any]) -> tuple[Any, ...]:
        given: object = categories
        if not isinstance(given, list | tuple | np.ndarray) or (isinstance(given, np.ndarray) and given.ndim == 0):
            raise self._wrong(f"has categories={shown(categories)}; give a list of them")
        listed = tuple(category.item() if isinstance(category, np.generic) else category for category in categories)
        try:
            different = len(set(listed))
        except TypeError:
            raise self._wrong("has categories that cannot be compared; give text or numbers") from None
        if not listed or different != len(listed) or any(map(is_missing, listed)):
            raise self._wrong("has no category, a missing one, or one twice; list each category once")
        return listed


@dataclass(frozen=True, eq=False)
class TableHistogram:
    """Counts of a table's rows per cell; as private as the table, and shown by no repr."""

    columns: tuple[Column, ...]
    """One per axis, each with its cells spelled out."""
    counts: NDArray[np.int64] = field(repr=False)
    """Rows per cell, int64 ``(*domain)``."""
    outside: Mapping[str, int] = field(repr=False)
    """Per column, how many values were clamped.

    These numbers are computed from the table without noise: unless the data are public, releasing
    them, or a decision taken on them, is not covered by any epsilon.
    """

    @property
    def domain(self) -> Domain:
        """Cells along each axis, one axis per column."""
        return Domain(tuple(column.cells for column in self.columns))


def from_table(
    table: object,
    columns: Sequence[Column],
    *,
    outside: Literal["refuse", "clamp"] = "refuse",
    public: bool = False,
) -> TableHistogram:
    """Count the rows of a table in the cells that the columns spell out.

    ``table`` is the path of a .csv or .parquet file, a pandas frame, anything that speaks Arrow (a polars
    frame, an Arrow table or a stream of batches), or a mapping from column name to values. Rows are read
    and counted a batch at a time. Numbers outside the bounds are refused or, with
    ``outside="clamp"``, counted in the nearest cell and tallied. Missing values and unlisted categories
    have no nearest cell: they are always refused. Only with ``public=True``, which declares the data
    public, may a column leave its bounds or categories to be inferred.

    >>> import dpbench as dpb
    >>> people = {"age": [3, 17, 41, 44], "sex": ["f", "m", "m", "f"]}
    >>> columns = [dpb.datasets.Column("age", 0, 60, bins=3), dpb.datasets.Column("sex", categories=["f", "m"])]
    >>> dpb.datasets.from_table(people, columns).counts
    array([[1, 1],
           [0, 0],
           [1, 1]])
    """
    if not isinstance(outside, str) or outside not in ("refuse", "clamp"):
        raise InvalidTable(f"outside={shown(outside)} is unknown; choose 'refuse' or 'clamp'")
    axes = _checked_columns(columns, public=of_kind(public, bool, "public", "True", InvalidTable))
    batches: Iterable[list[Cells]] = read_batches(table, [column.name for column in axes])
    if not all(column.is_explicit for column in axes):
        batches = list(batches)  # they are read twice
        axes = tuple(column.inferred_from(batch[axis] for batch in batches) for axis, column in enumerate(axes))
    shape = tuple(column.cells for column in axes)
    if prod(shape) > MOST_CELLS:
        raise InvalidTable(
            f"the columns span {'x'.join(map(str, shape))} cells, more than {MOST_CELLS}; "
            f"use fewer bins or fewer columns"
        )
    counts = np.zeros(prod(shape), dtype=np.int64)
    clamped = dict.fromkeys((column.name for column in axes), 0)
    for batch in batches:
        flat = np.zeros(len(batch[0]), dtype=np.int64)
        for column, cells in zip(axes, batch, strict=True):
            codes, beyond = _codes(column, cells, clamp=outside == "clamp")
            clamped[column.name] += beyond
            flat = flat * column.cells + codes
        np.add.at(counts, flat, 1)
    return TableHistogram(axes, counts.reshape(shape), MappingProxyType(clamped))


def _checked_columns(columns: Sequence[Column], *, public: bool) -> tuple[Column, ...]:
    given: object = columns
    axes = (columns,) if isinstance(columns, Column) else tuple(columns) if isinstance(given, list | tuple) else ()
    if not axes or not all(isinstance(column, Column) for column in axes):
        raise InvalidTable("columns must be a list of Column; for example [Column('age', 0, 100, bins=20)]")
    listed = [column.name for column in axes]
    if len(set(listed)) != len(listed):
        raise InvalidTable(f"the columns {listed} name one twice; use each column once")
    for column in axes:
        if not column.is_explicit and not public:
            raise InvalidTable(
                f"column {shown(column.name)} states no bounds or categories, and to infer them would leak; "
                f"give low, high and bins, or edges, or categories (or public=True if the data are public)"
            )
    return axes


def _codes(column: Column, cells: Cells, *, clamp: bool) -> tuple[NDArray[np.int64], int]:
    """Which of the column's cells each value is in, (rows,), and how many values lay outside."""
    return (_category_codes(column, cells), 0) if column.categories is not None else _bin_codes(column, cells, clamp)


def _category_codes(column: Column, cells: Cells) -> NDArray[np.int64]:
    """Index of each value's category, (rows,)."""
    categories = column.categories or ()
    known = [str(category).strip() for category in categories] if cells.is_text else list(categories)
    index = {category: code for code, category in enumerate(known)}
    if len(index) != len(known):
        raise InvalidTable(f"column {shown(column.name)} has categories that look alike as text; rename them")
    different, rows = cells.labels()
    try:
        codes = np.array([index.get(label, -1) for label in different], dtype=np.int64)
    except TypeError:
        codes = np.full(len(different), -1)
    if (codes < 0).any():
        raise InvalidTable(
            f"column {shown(column.name)} has values that are none of its categories; "
            f"list every category, or recode the column first (they cannot be clamped)"
        )
    return codes[rows]


def _bin_codes(column: Column, cells: Cells, clamp: bool) -> tuple[NDArray[np.int64], int]:
    """Index of each value's bin, (rows,), and how many values lay outside."""
    breaks, numbers = column.breaks(), cells.numbers()
    low, high = breaks[0], breaks[-1]
    beyond = int(np.count_nonzero((numbers < low) | (numbers > high)))
    if beyond and not clamp:
        raise InvalidTable(
            f"column {shown(column.name)} has values outside [{low:g}, {high:g}]; "
            f"widen the bounds, or pass outside='clamp' to count them in the end bins"
        )
    codes = np.searchsorted(breaks, numbers, side="right") - 1
    return np.clip(codes, 0, len(breaks) - 2).astype(np.int64), beyond
