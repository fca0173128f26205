"""Columns of frames in memory, whose kind their library may have read off the rows, as Arrow arrays of their values.

A pandas column of whole numbers is one of floats with a single missing value among them, and one of objects with a
single word. So the kind of such a column is not public and nothing is refused because of it. Numbers, moments and
texts that come in columns of their own are taken as they are; all others one by one, by the same rule for each value.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from dpbench.tables.values import is_number, is_text, mixed, moments_of, plain


def columns_of(table: object, names: Sequence[str]) -> dict[str, Any] | None:
    """The wanted columns of a pandas or polars frame or a mapping, none of them read; None for another table."""
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if pandas is not None and isinstance(table, pandas.DataFrame):
        every = list(table.columns)
        return {name: table[name] for name in names if every.count(name) == 1}
    if polars is not None and isinstance(table, polars.DataFrame):
        return {name: table[name] for name in names if name in table.columns}
    if isinstance(table, Mapping):
        return {name: table[name] for name in names if name in table}
    return None


def is_column(values: object) -> bool:
    """Whether it is a sequence of values with one axis."""
    sized = hasattr(values, "__len__") and hasattr(values, "__iter__") and not isinstance(values, str | bytes | Mapping)
    return sized and getattr(values, "ndim", 1) == 1


def batch_of(columns: Mapping[str, Any]) -> Any:
    """The columns as one Arrow batch."""
    import pyarrow as pa

    return pa.RecordBatch.from_arrays([as_array(values) for values in columns.values()], names=list(columns))


def lazy_batches(frame: Any, names: Sequence[str], rows: int) -> Iterator[Any]:
    """A lazy polars frame in batches, where polars can do that."""
    wanted = frame.select(list(names))
    for each in wanted.collect_batches(chunk_size=rows) if hasattr(wanted, "collect_batches") else [wanted.collect()]:
        yield batch_of({name: each[name] for name in names})


def as_array(values: Any) -> Any:
    """A column as an Arrow array of numbers, moments or texts, or of :func:`dpbench.tables.values.mixed`."""
    import pyarrow as pa

    if isinstance(values, np.ma.MaskedArray):
        return _rows(as_array(values.data), np.arange(len(values)), np.ma.getmaskarray(values))
    if hasattr(getattr(values, "dtype", None), "categories") and hasattr(values, "cat"):
        codes = values.cat.codes.to_numpy() if hasattr(values.cat, "codes") else None
        if codes is not None:
            return _rows(as_array(values.cat.categories), np.maximum(codes, 0), codes < 0)
    array: Any = None
    with suppress(Exception):  # what a library cannot convert as a whole is read value by value
        array = _typed(values)
        array = plain(array) if isinstance(array, pa.Array | pa.ChunkedArray) else None
    if array is not None and _stays(array.type):
        return array
    return mixed(values if array is None else _objects(array))


def _objects(array: Any) -> Iterator[object]:
    """The values of an Arrow array as Python objects; None where one cannot be such, as a time beyond a day."""
    for scalar in array:
        value = None
        with suppress(Exception):
            value = scalar.as_py()
        yield value


def _typed(values: Any) -> Any:
    """A column that has a kind as it is; None for one of objects."""
    import pyarrow as pa

    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if hasattr(values, "to_arrow"):
        return None if str(values.dtype) == "Object" else values.to_arrow()
    if getattr(values.dtype, "tz", None) is not None:
        values = values.dt.tz_convert(None)
    if not isinstance(values.dtype, np.dtype):
        return pa.array(values, from_pandas=True)
    array = np.asarray(values)
    if array.dtype.kind == "M":
        since = moments_of(array)
        whole = np.clip(np.nan_to_num(since), -(2.0**62), 2.0**62).astype(np.int64)
        return pa.array(whole, pa.timestamp("us"), mask=np.isnan(since))
    long = array.dtype.kind == "f" and array.dtype.itemsize > 8
    plain = np.dtype(np.float64) if long else array.dtype.newbyteorder("=")
    return pa.array(array.astype(plain)) if array.dtype.kind in "biuf" else None


def _stays(kind: Any) -> bool:
    """Whether values of a kind are read as fast as they are, and as one by one."""
    from pyarrow import types

    others = (types.is_null, types.is_timestamp, types.is_date, types.is_duration)
    return is_number(kind) or is_text(kind) or any(is_kind(kind) for is_kind in others)


def _rows(array: Any, places: Any, missing: Any) -> Any:
    import pyarrow as pa

    if not len(array):
        return pa.nulls(len(places))
    return array.take(pa.array(places.astype(np.int64), mask=missing))
