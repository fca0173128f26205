"""A histogram as files: one row per cell, the count last; on two axes also wide.

They are made piece by piece: a table of a hundred million rows is never there as a whole, and no number of one as a
Python object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.store.files import csv_cell, csv_line
from dpbench.tables.axes import Axis, Numbers

Ints = NDArray[np.int64]

PIECE = 2**20
"""Cells that are worked on at a time."""
LINES = 2**16
"""Lines of text that are made at a time."""


def pieces(axes: Sequence[Axis], counts: Ints) -> Iterator[Any]:
    """Arrow tables: what says which cell a row is, axis by axis, then ``count``; the last axis runs fastest."""
    import pyarrow as pa

    labelled = [_Labels(axis) for axis in axes]
    names = [heading for axis in axes for heading in axis.headings()]
    names.append(count_heading(names))
    flat = counts.reshape(-1)
    for first in range(0, len(flat), PIECE):
        part = flat[first : first + PIECE]
        places = np.unravel_index(np.arange(first, first + len(part)), counts.shape)
        columns = [column for labels, place in zip(labelled, places, strict=True) for column in labels.of(place)]
        yield pa.Table.from_arrays([*columns, pa.array(part)], names=names)


def count_heading(names: Sequence[str]) -> str:
    """What the last column is called beside others."""
    free = (f"{word}{'_' * more}" for more in range(len(names) + 1) for word in ("count", "records"))
    return next(each for each in free if each not in names)


class _Labels:
    """What says which cell of an axis a row is, as Arrow columns of the same kinds whatever the rows."""

    def __init__(self, axis: Axis) -> None:
        self._axis = axis
        self._all = self._made(np.arange(axis.cells)) if axis.cells <= PIECE else None

    def of(self, place: Ints) -> list[Any]:
        """Of these cells."""
        if self._all is not None:
            return [column.take(place) for column in self._all]
        cells, which = np.unique(place, return_inverse=True)
        return [column.take(which) for column in self._made(cells)]

    def _made(self, cells: Ints) -> list[Any]:
        import pyarrow as pa

        if isinstance(self._axis, Numbers):
            lows, highs = (_numbers(part) for part in (self._axis.breaks[:-1], self._axis.breaks[1:]))
            absent, bins = cells == self._axis.missing_cell, np.minimum(cells, self._axis.proper - 1)
            return [pa.array(ends[bins], mask=absent) for ends in (lows, highs)]
        labels = [self._axis.label(cell) for cell in cells.tolist()]
        headings = range(len(self._axis.headings()))
        return [pa.array([label[which] for label in labels], pa.string()) for which in headings]


def _numbers(breaks: NDArray[np.float64]) -> NDArray[Any]:
    """Whole numbers where all of them are, as :meth:`Numbers.written` has them."""
    whole = (breaks == np.rint(breaks)).all() and (np.abs(breaks) < 2**53).all()
    return breaks.astype(np.int64) if whole else breaks + 0.0  # which has no sign where it is 0


def csv_bytes(tables: Iterable[Any]) -> bytes:
    """Tables with the same columns as one CSV, quoted where it has to be."""
    text = BytesIO()
    for number, table in enumerate(tables):
        if number == 0:
            text.write(csv_line(table.column_names).encode())
        for batch in table.to_batches(LINES):
            text.write(_lines(batch))
    return text.getvalue()


def _lines(batch: Any) -> bytes:
    """The rows of a batch; each different value is written once, and Arrow puts the lines together."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = []
    for column in batch.columns:
        if pa.types.is_integer(column.type) and not column.null_count:
            columns.append(column.cast(pa.large_string()))
            continue
        coded = column.dictionary_encode(null_encoding="encode")
        written = pa.array([csv_cell(value) for value in coded.dictionary.to_pylist()], pa.large_string())
        columns.append(written.take(coded.indices))
    nothing, comma, end = (pa.scalar(text, pa.large_string()) for text in ("", ",", "\n"))
    columns[-1] = pc.binary_join_element_wise(columns[-1], nothing, end)
    lines = pc.binary_join_element_wise(*columns, comma)
    ends = np.frombuffer(lines.buffers()[1], dtype=np.int64)[lines.offset : lines.offset + len(lines) + 1]
    return memoryview(lines.buffers()[2])[int(ends[0]) : int(ends[-1])].tobytes() if len(lines) else b""


def parquet_bytes(tables: Iterable[Any]) -> bytes:
    """Tables with the same columns as one Parquet file, the same bytes for the same tables."""
    from pyarrow.parquet import ParquetWriter

    stream, following = BytesIO(), iter(tables)
    first = next(following)
    with ParquetWriter(stream, first.schema, compression="zstd") as writer:
        for table in chain([first], following):
            writer.write_table(table)
    return stream.getvalue()


def wide_csv(axes: Sequence[Axis], counts: Ints) -> bytes:
    """Two axes as a table with a column per cell of the second one."""
    first, second = axes
    heads = (short_label(second, cell) for cell in range(second.cells))
    text = BytesIO()
    text.write(csv_line([f"{first.name} by {second.name}", *heads]).encode())
    for cell, row in enumerate(counts):
        text.write(f"{csv_cell(short_label(first, cell))},{','.join(map(str, row.tolist()))}\n".encode())
    return text.getvalue()


def short_label(axis: Axis, cell: int) -> str:
    """A cell in a few characters: the left end of a bin, or the category."""
    label = axis.label(cell)[0]
    return "(missing)" if label is None else str(label)
