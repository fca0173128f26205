"""Values of an Arrow column as numbers or as cell numbers, whatever the rows say.

A column of a file or a frame has a kind, which is public: one that does not fit is refused before any row is looked at.
A value never is: text that cannot be read as a number, a moment or a category counts as missing, or as outside.
"""

from __future__ import annotations

import datetime as dt
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import InvalidTable
from dpbench.tables.axes import Axis, Categories, Numbers, Times

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PLAIN_NUMBER = r"^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$"
"""Text that Arrow reads as a number."""
TIMES = {"moment": ("us", None), "zoned": ("us", "UTC")}


def check_kind(axis: Axis, kind: Any) -> None:
    """Refuse a column whose kind, known without a look at its rows, does not fit the axis; text may stand for all."""
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_null(kind) or _is_text(kind):
        return
    if isinstance(axis, Numbers):
        fits = any(
            is_kind(kind) for is_kind in (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
        )
        wanted = "numbers"
    elif isinstance(axis, Times):
        zoned = types.is_timestamp(kind) and kind.tz is not None
        fits = {
            "time": types.is_time(kind),
            "zoned": zoned,
            "moment": (types.is_timestamp(kind) or types.is_date(kind)) and not zoned,
        }[axis.kind]
        wanted = {
            "time": "times of day",
            "zoned": "moments with a time zone",
            "moment": "days, or moments without a time zone",
        }[axis.kind]
    else:
        fits = _as_kind(axis, kind) is not None
        wanted = "values of the kind of its categories"
    if not fits:
        raise axis.wrong(f"is of kind {kind}; its cells are for {wanted}: correct the spec, or convert the column")


def numbers_of(axis: Numbers | Times, column: Any) -> Floats:
    """``(rows,)`` of float64; NaN where a value is missing. Times are in microseconds."""
    from pyarrow import types

    array = _plain(column)
    if _is_text(array.type):
        return _read_numbers(array) if isinstance(axis, Numbers) else _read_times(axis, array)
    if isinstance(axis, Times) and not types.is_null(array.type):
        array = _microseconds(array)
    if types.is_decimal(array.type) or types.is_boolean(array.type) or types.is_null(array.type):
        array = array.cast("float64")
    elif types.is_float16(array.type):
        array = array.cast("float32")
    values = array.to_numpy(zero_copy_only=False)
    return np.ascontiguousarray(values, dtype=np.float64)


def codes_of(axis: Categories, column: Any) -> tuple[Ints, Ints]:
    """``(rows,)``: the cell of every row, -1 where it is dropped; and how many values were missing, and were others."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = _plain(column)
    if _is_text(array.type):
        from_csv = pa.types.is_binary(array.type)  # where nothing between two commas is no text, but no value
        array = array.cast(pa.large_binary())
        if from_csv:
            array = pc.if_else(pc.equal(pc.binary_length(array), 0), pa.scalar(None, array.type), array)
        listed = pa.array([str(each).encode() for each in axis.categories], array.type)
    else:
        listed = _as_kind(axis, array.type)
    missing = _truths(pc.is_null(array, nan_is_null=True))
    place = pc.fill_null(pc.index_in(array, value_set=listed, skip_nulls=True), -1) if listed is not None else None
    codes = np.full(len(array), -1, dtype=np.int64) if place is None else place.to_numpy(zero_copy_only=False)
    other = (codes < 0) & ~missing
    found = np.where(missing, axis.missing_cell, np.where(other, axis.other_cell, codes)).astype(np.int64)
    return found, np.array([missing.sum(), other.sum()], dtype=np.int64)


def _plain(column: Any) -> Any:
    """One array, without a dictionary; text as it came."""
    from pyarrow import ChunkedArray, types

    array = column.combine_chunks() if isinstance(column, ChunkedArray) else column
    return array.dictionary_decode() if types.is_dictionary(array.type) else array


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    tests = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary, types.is_string_view)
    return any(is_kind(kind) for is_kind in tests)


def _truths(array: Any) -> NDArray[np.bool_]:
    return np.asarray(array.to_numpy(zero_copy_only=False), dtype=np.bool_)


def _as_kind(axis: Axis, kind: Any) -> Any:
    """The categories as an Arrow array of a column's kind; None where they cannot be that."""
    import pyarrow as pa

    with suppress(pa.ArrowException, TypeError, ValueError):
        listed = pa.array(list(axis.categories))  # type: ignore[attr-defined]
        texts, times = pa.types.is_string(listed.type), pa.types.is_temporal
        if texts or times(listed.type) != times(kind):
            return None
        return listed.cast(kind)
    return None


def _text(array: Any) -> Any:
    """Trimmed text; empty where there is none, or where it is not UTF-8."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        text = array.cast(pa.large_string())
    except pa.ArrowException:  # bytes that are no text: those rows, and no others, lose their value
        decoded = [
            None if each is None else each.decode("utf-8", "replace") for each in array.cast("binary").to_pylist()
        ]
        text = pa.array(decoded, pa.large_string())
    text = pc.utf8_trim_whitespace(text)
    return pc.if_else(pc.equal(pc.binary_length(text), 0), pa.scalar(None, text.type), text)


def _read_numbers(array: Any) -> Floats:
    import pyarrow as pa
    import pyarrow.compute as pc

    text = _text(array)
    with suppress(pa.ArrowException):
        return np.asarray(text.cast("float64").to_numpy(zero_copy_only=False), dtype=np.float64)
    plain = pc.fill_null(pc.match_substring_regex(text, PLAIN_NUMBER), False)
    values = np.array(pc.if_else(plain, text, None).cast("float64").to_numpy(zero_copy_only=False), dtype=np.float64)
    for row in np.flatnonzero(~_truths(plain) & ~_truths(text.is_null())):
        with suppress(ValueError):
            values[row] = float(text[int(row)].as_py())
    return values


def _read_times(axis: Times, array: Any) -> Floats:
    import pyarrow as pa

    text = _text(array)
    kind = pa.time64("us") if axis.kind == "time" else pa.timestamp(*TIMES[axis.kind])
    with suppress(pa.ArrowException):
        return np.asarray(_microseconds(text.cast(kind)).to_numpy(zero_copy_only=False), dtype=np.float64)
    values = np.full(len(text), np.nan)
    for row, written in enumerate(text.to_pylist()):
        if written is not None:
            with suppress(ValueError, OverflowError, InvalidTable):
                values[row] = axis.read(_moment(axis, written))
    return values


def _moment(axis: Times, written: str) -> dt.time | dt.datetime:
    if axis.kind == "time":
        return dt.time.fromisoformat(written)
    return dt.datetime.fromisoformat(written)


def _microseconds(array: Any) -> Any:
    """Days, moments and times of day of any unit as whole microseconds."""
    import pyarrow as pa
    from pyarrow import types

    kind = array.type
    if types.is_time(kind):
        return array.cast(pa.time64("us"), safe=False).cast("int64")
    if types.is_date(kind):
        array = array.cast(pa.timestamp("ms"), safe=False)
    return array.cast(pa.timestamp("us", array.type.tz), safe=False).cast("int64")
