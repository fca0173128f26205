"""A histogram as files: one row per cell, the count last; on two axes also wide."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.store.files import csv_line
from dpbench.tables.axes import Axis

Ints = NDArray[np.int64]


def as_table(axes: Sequence[Axis], counts: Ints) -> Any:
    """An Arrow table: what says which cell a row is, axis by axis, then ``count``; the last axis runs fastest."""
    import pyarrow as pa

    names, columns = [], []
    for number, axis in enumerate(axes):
        before, after = (int(np.prod(counts.shape[part])) for part in (slice(number), slice(number + 1, None)))
        place = np.tile(np.repeat(np.arange(axis.cells), after), before)
        labels = [axis.label(cell) for cell in range(axis.cells)]
        for which, heading in enumerate(axis.headings()):
            names.append(heading)
            columns.append(pa.array([label[which] for label in labels]).take(pa.array(place)))
    names.append("count" if "count" not in names else "records")
    return pa.Table.from_arrays([*columns, pa.array(counts.reshape(-1))], names=names)


def csv_bytes(table: Any) -> bytes:
    """A table as CSV, quoted where it has to be."""
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return "".join(map(csv_line, [table.column_names, *rows])).encode()


def parquet_bytes(table: Any) -> bytes:
    """A table as Parquet, the same bytes for the same table."""
    from pyarrow.parquet import write_table

    stream = BytesIO()
    write_table(table, stream, compression="zstd")
    return stream.getvalue()


def wide_csv(axes: Sequence[Axis], counts: Ints) -> bytes:
    """Two axes as a table with a column per cell of the second one."""
    import pyarrow as pa

    first, second = axes
    heads = [short_label(second, cell) for cell in range(second.cells)]
    rows = pa.array([short_label(first, cell) for cell in range(first.cells)])
    columns = [pa.array(column) for column in np.ascontiguousarray(counts.T)]
    return csv_bytes(pa.Table.from_arrays([rows, *columns], names=[f"{first.name} by {second.name}", *heads]))


def short_label(axis: Axis, cell: int) -> str:
    """A cell in a few characters: the left end of a bin, or the category."""
    label = axis.label(cell)[0]
    return "(missing)" if label is None else str(label)
