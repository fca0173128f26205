"""Values of an Arrow column as numbers or as cell numbers, whatever the rows say.

A column of a file has a kind, which is public: one that does not fit is refused before any row is looked at. A value
never is: one that cannot be read as a number, a moment or a category counts as missing, or as outside.

Every value is read by itself. The same number, moment or text is read the same whatever the kind of its column is,
since that of a frame follows from all of its rows: a truth value is 1 or 0, a whole number the nearest float, and a
moment without an offset one in UTC.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from contextlib import suppress
from decimal import Decimal
from functools import lru_cache
from numbers import Complex
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.tables.axes import Axis, Categories, Numbers, Times, microseconds, nearest

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

UNITS = {"s": (1_000_000, 1), "ms": (1000, 1), "us": (1, 1), "ns": (1, 1000)}
"""Microseconds in a unit, as a fraction."""
DAY = (86_400_000_000, 1)


def check_kind(axis: Axis, kind: Any) -> None:
    """Refuse a column whose kind, known without a look at its rows, does not fit the axis; text may stand for all."""
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_null(kind) or is_text(kind):
        return
    if isinstance(axis, Numbers):
        fits, wanted = is_number(kind) or types.is_decimal(kind), "numbers"
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
        fits, wanted = _can_be(axis, kind), "values of the kind of its categories"
    if not fits:
        raise axis.wrong(f"is of kind {kind}; its cells are for {wanted}: correct the spec, or convert the column")


def _can_be(axis: Axis, kind: Any) -> bool:
    """Whether the categories can be values of a column's kind."""
    import pyarrow as pa

    with suppress(pa.ArrowException, TypeError, ValueError):
        listed = pa.array(list(axis.categories))  # type: ignore[attr-defined]
        if is_text(listed.type) or pa.types.is_temporal(listed.type) != pa.types.is_temporal(kind):
            return False
        listed.cast(kind)
        return True
    return False


def is_text(kind: Any) -> bool:
    """Whether a kind of column is text, or the bytes of one."""
    from pyarrow import types

    tests = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary, types.is_string_view)
    return any(is_kind(kind) for is_kind in tests)


def is_number(kind: Any) -> bool:
    """Whether a kind of column is truth values or binary numbers."""
    from pyarrow import types

    return any(is_kind(kind) for is_kind in (types.is_boolean, types.is_integer, types.is_floating))


def mixed(values: Iterable[object]) -> Any:
    """A column of Python objects: in each row a number, a moment, or else a text, as :func:`numbers_of` reads them."""
    import pyarrow as pa

    listed = list(values)
    numbers, moments = np.full((2, len(listed)), np.nan)
    texts: list[bytes | None] = [None] * len(listed)
    for row, value in enumerate(listed):
        if type(value) is str:
            texts[row] = _encoded(value)
        elif type(value) is float:
            numbers[row] = value
        else:
            numbers[row], moments[row], texts[row] = _one(value)
    arrays = [pa.array(numbers), pa.array(moments), pa.array(texts, pa.large_binary())]
    return pa.StructArray.from_arrays(arrays, names=["number", "moment", "text"])


def numbers_of(axis: Numbers | Times, column: Any) -> Floats:
    """``(rows,)`` of float64; NaN where a value is missing. Times are in microseconds."""
    from pyarrow import types

    array = plain(column)
    kind = array.type
    if _is_mixed(kind):
        number, moment, text = _parts(array)
        found = numbers_of(axis, text)
        if isinstance(axis, Times) and axis.kind != "time":
            found = np.where(np.isnan(moment), found, moment)
        return np.where(np.isnan(number), found, number if isinstance(axis, Numbers) else _whole(axis, number))
    if is_text(kind):
        return read_numbers(array) if isinstance(axis, Numbers) else _read_moments(axis, array)
    if is_number(kind) or types.is_decimal(kind):
        numbers = _floats(array)
        return numbers if isinstance(axis, Numbers) else _whole(axis, numbers)
    if isinstance(axis, Times) and (types.is_time(kind) if axis.kind == "time" else _is_moment(kind)):
        return _microseconds(array)
    return np.full(len(array), np.nan)


def codes_of(axis: Categories, column: Any) -> tuple[Ints, Ints]:
    """``(rows,)``: the cell of every row, -1 where it is dropped; and how many values were missing, and were others.

    A text is the category that is written so. Otherwise a value is the first category that is the same
    number, or the same moment: ``1``, ``1.0`` and ``true`` are one, as text too.
    """
    from pyarrow import types

    array = plain(column)
    kind = array.type
    keys = _keys(axis)
    if _is_mixed(kind):
        number, moment, text = _parts(array)
        codes, missing = _code_texts(keys, text)
        for values, places in ((number, keys.numbers), (moment, keys.moments)):
            codes = np.where(np.isnan(values), codes, places.of(values))
            missing &= np.isnan(values)
    elif is_text(kind):
        codes, missing = _code_texts(keys, array)
    elif is_number(kind) or types.is_decimal(kind) or _is_moment(kind):
        values = _microseconds(array) if _is_moment(kind) else _floats(array)
        codes, missing = (keys.moments if _is_moment(kind) else keys.numbers).of(values), np.isnan(values)
    else:
        codes, missing = np.full(len(array), -1, dtype=np.int64), _truths(array.is_null())
    other = (codes < 0) & ~missing
    found = np.where(missing, axis.missing_cell, np.where(other, axis.other_cell, codes)).astype(np.int64)
    return found, np.array([missing.sum(), other.sum()], dtype=np.int64)


def read_numbers(texts: Any) -> Floats:
    """The number that each text is, by the grammar of :func:`dpbench.mathematics.kernels.texts.read_numbers`."""
    from dpbench.mathematics.kernels import texts as kernels

    array, data, offsets = _bytes(texts)
    values, hard = np.empty(len(array)), np.empty(len(array), dtype=np.bool_)
    kernels.read_numbers(data, offsets, values, hard)
    if hard.any():  # what has so many digits is rounded right by Python, one by one
        values[hard] = [float(each) for each in array.filter(_as_arrow(hard)).to_pylist()]
    return values


def _read_moments(axis: Times, texts: Any) -> Floats:
    from dpbench.mathematics.kernels import texts as kernels

    array, data, offsets = _bytes(texts)
    values = np.empty(len(array))
    plain = kernels.ANY_TIME if axis.kind == "time" else kernels.ANY_MOMENT
    kernels.read_moments(data, offsets, plain if axis.format is None else kernels.BY_FORMAT, axis.steps, values)
    return values


def _whole(axis: Times, numbers: Floats) -> Floats:
    """Moments that are written as whole numbers, as 20200131 is."""
    import pyarrow as pa

    different, places = np.unique(numbers, return_inverse=True)
    digits = [str(int(each)) if each == np.floor(each) and 0 <= each < 2**53 else None for each in different.tolist()]
    return _read_moments(axis, pa.array(digits, pa.large_string()))[places]


class _Places:
    """The code of every category that is a number, or a moment; of equal ones the first."""

    def __init__(self, values: Floats) -> None:
        keys, first = np.unique(values, return_index=True)
        self.keys, self.codes = keys[~np.isnan(keys)], first[~np.isnan(keys)].astype(np.int64)

    def of(self, values: Floats) -> Ints:
        """Codes of values; -1 where there is none."""
        if not len(self.keys):
            return np.full(len(values), -1, dtype=np.int64)
        place = np.minimum(np.searchsorted(self.keys, values), len(self.keys) - 1)
        return np.where(self.keys[place] == values, self.codes[place], -1)


class _Keys:
    """How the categories of an axis are written, and which number or moment each is."""

    def __init__(self, axis: Categories) -> None:
        import pyarrow as pa

        first = axis.categories[0]
        self.texts = pa.array([_encoded(str(each)) for each in axis.categories], pa.large_binary())
        nothing = np.full(len(self.texts), np.nan)
        numbers, moments = nothing, nothing
        if isinstance(first, str):
            numbers, moments = read_numbers(self.texts), _read_moments(_ANY, self.texts)
        elif isinstance(first, dt.date):
            moments = np.array([microseconds(each) for each in axis.categories], dtype=np.float64)
        else:
            numbers = np.array([nearest(each) for each in axis.categories])
        self.numbers, self.moments = _Places(numbers), _Places(moments)


_ANY = Times("any", dt.date(2000, 1, 1), dt.date(2001, 1, 1), bins=1)


@lru_cache(maxsize=256)
def _keys(axis: Categories) -> _Keys:
    return _Keys(axis)


def _code_texts(keys: _Keys, texts: Any) -> tuple[Ints, NDArray[np.bool_]]:
    import pyarrow as pa
    import pyarrow.compute as pc

    array = texts.cast(pa.large_binary())
    missing = _truths(array.is_null())
    place = pc.fill_null(pc.index_in(array, value_set=keys.texts, skip_nulls=True), -1)
    codes = np.array(place.to_numpy(zero_copy_only=False), dtype=np.int64)
    for places, read in ((keys.numbers, read_numbers), (keys.moments, lambda left: _read_moments(_ANY, left))):
        left = (codes < 0) & ~missing
        if len(places.keys) and left.any():
            codes[left] = places.of(read(array.filter(_as_arrow(left))))
    return codes, missing


def plain(column: Any) -> Any:
    """One array, without a dictionary."""
    import pyarrow as pa

    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if not pa.types.is_dictionary(array.type):
        return array
    listed = array.dictionary
    if is_text(listed.type):  # of views Arrow can take none
        listed = listed.cast(pa.large_binary())
    return listed.take(array.indices)


def _is_mixed(kind: Any) -> bool:
    """Whether a kind is that of :func:`mixed`, and no other structure."""
    import pyarrow as pa

    return bool(kind == pa.struct([("number", pa.float64()), ("moment", pa.float64()), ("text", pa.large_binary())]))


def _parts(array: Any) -> tuple[Floats, Floats, Any]:
    """Numbers and moments, NaN where there is none, and texts, of :func:`mixed`."""
    import pyarrow.compute as pc

    number, moment, text = (pc.struct_field(array, part) for part in ("number", "moment", "text"))
    return _floats(number), _floats(moment), text


def _bytes(texts: Any) -> tuple[Any, NDArray[np.uint8], Ints]:
    """Texts as bytes one after the other, and where each begins; a missing one is empty."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = texts.cast(pa.large_binary())
    array = pc.fill_null(array, b"") if array.null_count else array
    if not len(array):
        return array, np.empty(0, dtype=np.uint8), np.zeros(1, dtype=np.int64)
    _, ends, content = array.buffers()
    offsets = np.frombuffer(ends, dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    return array, np.frombuffer(content or bytearray(1), dtype=np.uint8), offsets


def _truths(array: Any) -> NDArray[np.bool_]:
    return np.asarray(array.to_numpy(zero_copy_only=False), dtype=np.bool_)


def _as_arrow(truths: NDArray[np.bool_]) -> Any:
    import pyarrow as pa

    return pa.array(truths)


def _floats(array: Any) -> Floats:
    from pyarrow import types

    if types.is_decimal(array.type) or types.is_boolean(array.type):
        array = array.cast("float64")
    elif types.is_float16(array.type):
        array = array.cast("float32")
    return np.ascontiguousarray(array.to_numpy(zero_copy_only=False), dtype=np.float64)


def _is_moment(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_timestamp(kind) or types.is_date(kind))


def _microseconds(array: Any) -> Floats:
    """Days, moments and times of day of any unit in microseconds, rounded down; NaN where there is none."""
    from pyarrow import types

    kind = array.type
    unit = DAY if types.is_date32(kind) else UNITS["ms" if types.is_date64(kind) else kind.unit]
    whole = array.cast("int32" if kind.bit_width == 32 else "int64")
    counted = np.asarray(whole.fill_null(0).to_numpy(zero_copy_only=False), dtype=np.int64)
    return np.where(_truths(array.is_null()), np.nan, in_microseconds(counted, *unit))


def in_microseconds(counted: Ints, many: int, share: int) -> Floats:
    """Counts of a unit of ``many / share`` microseconds, rounded down; the largest are not exact."""
    if share > 1:
        return (counted // share).astype(np.float64)
    small = np.abs(counted // 2) < 2**61 // many
    return np.where(small, np.where(small, counted, 0) * many, counted.astype(np.float64) * many)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


Read = tuple[float, float, bytes | None]
NOTHING: Read = (np.nan, np.nan, None)
SOMETHING: Read = (np.nan, np.nan, b"\xff")
"""What is there, and no number, no moment and no text that a category can be; so are all durations."""


def _one(value: object) -> Read:
    """One Python object as a number, a moment in microseconds or the bytes of a text; NaN or None for the others."""
    try:
        if value is None or type(value).__name__ in ("NAType", "NaTType"):
            return NOTHING
        if isinstance(value, str | bytes):
            return np.nan, np.nan, _encoded(value) if isinstance(value, str) else value
        if isinstance(value, dt.date | np.datetime64):
            return np.nan, _since(value), None
        if isinstance(value, dt.timedelta | np.timedelta64):
            return NOTHING if isinstance(value, np.timedelta64) and np.isnat(value) else SOMETHING
        number = _number(value)
        return (np.nan, np.nan, _encoded(str(value))) if number is None else (number, np.nan, None)
    except Exception:  # whatever an object of other code does
        return NOTHING


def _number(value: Any) -> float | None:
    """The nearest float; NaN where a number is none; None where there is no number."""
    if isinstance(value, np.timedelta64) or not isinstance(value, Complex | Decimal | np.bool_):
        return None
    imaginary = isinstance(value, Complex) and value.imag != 0
    return None if imaginary else nearest(value.real)


def _since(value: dt.date | np.datetime64) -> float:
    if not isinstance(value, np.datetime64):
        with suppress(ValueError, OverflowError):
            return microseconds(value)
        value = value.to_datetime64()  # type: ignore[attr-defined]  # of pandas, in a year that Python has not
    return float(moments_of(np.array([value]))[0])


def moments_of(array: NDArray[np.datetime64]) -> Floats:
    """Numpy's moments of any unit in microseconds since 1970, rounded down; NaN where there is none."""
    unit, many = np.datetime_data(array.dtype)
    if unit in ("generic", "Y", "M", "W"):
        array, unit, many = array.astype("datetime64[D]"), "D", 1
    parts = {"D": DAY, "h": (3_600_000_000, 1), "m": (60_000_000, 1), **UNITS}
    parts |= {"ps": (1, 10**6), "fs": (1, 10**9), "as": (1, 10**12)}
    size, share = parts[unit]
    counted = array.view(np.int64)
    found = in_microseconds(counted * many, size, share) if many > 1 else in_microseconds(counted, size, share)
    return np.where(np.isnat(array), np.nan, found)
