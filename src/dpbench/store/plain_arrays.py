"""Between Arrow's columns and plain Python, by way of their buffers.

pyarrow's own conversions import pandas wherever that is installed, which takes longer than a small run or a reading of
the whole study, and its functions on columns import a tenth of a second of their own. These do not, but for columns of
texts that are long enough to pay for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

_NUMPY = {"double": "float64", "float": "float32"}
"""Kinds of numbers that numpy calls otherwise."""
LONG = 4096
"""Entries from which on a column of texts is sorted out by pyarrow."""


def to_numpy(column: pa.ChunkedArray | pa.Array) -> NDArray[Any]:
    """A column of numbers, truth values or texts; numbers with gaps are floats with NaN, gaps among texts are None."""
    import pyarrow.types as kinds

    kind, chunks = column.type, getattr(column, "chunks", [column])
    if kinds.is_dictionary(kind):
        return np.concatenate([np.zeros(0, dtype=object), *map(_coded, chunks)])
    if kinds.is_string(kind):
        if len(column) >= LONG:
            return to_numpy(column.dictionary_encode())
        return np.array([*column.to_pylist(), None], dtype=object)[:-1]  # one more, so that none is no float array
    if kinds.is_boolean(kind):
        return np.concatenate([np.zeros(0, dtype=bool), *(_bits(chunk, 1) for chunk in chunks)])
    wanted = np.dtype(_NUMPY.get(str(kind), str(kind)))
    parts = [_numbers(chunk, wanted) for chunk in chunks]
    return parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, dtype=wanted), *parts])


def list_lengths(column: pa.ChunkedArray) -> NDArray[np.int64]:
    """How many entries each list of a column has; an empty cell has none."""
    return np.concatenate([np.zeros(0, np.int64), *(np.diff(_offsets(chunk)) for chunk in column.chunks)])


def list_numbers(column: pa.ChunkedArray) -> NDArray[Any]:
    """The numbers of all lists of a column, one after the other."""
    import pyarrow.types as kinds

    fixed = kinds.is_fixed_size_list(column.type)
    parts = []
    for chunk in column.chunks:
        first, last = (
            ((chunk.offset + at) * column.type.list_size for at in (0, len(chunk)))
            if fixed
            else _offsets(chunk)[[0, -1]].tolist()
        )
        if last > first:
            parts.append(to_numpy(chunk.values.slice(first, last - first)))
    return parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0), *parts])


def distinct_texts(column: pa.ChunkedArray) -> set[Any]:
    """The texts of a column, each once."""
    return set((column if len(column) < LONG else column.unique()).to_pylist())


def text_codes(column: pa.ChunkedArray) -> tuple[NDArray[np.int64], int]:
    """A number for each entry, equal for equal texts, and how many different texts there are."""
    if len(column) >= LONG:
        encoded = column.combine_chunks().dictionary_encode()
        return to_numpy(encoded.indices).astype(np.int64), len(encoded.dictionary)
    known: dict[Any, int] = {}
    codes = [known.setdefault(text, len(known)) for text in column.to_pylist()]
    return np.array(codes, dtype=np.int64), len(known)


def _offsets(array: pa.ListArray) -> NDArray[np.int64]:
    """Where the lists of an array begin, and where the last one ends."""
    held = array.buffers()[1]
    if held is None or not len(array):
        return np.zeros(len(array) + 1, np.int64)
    return np.frombuffer(held, np.int32)[array.offset : array.offset + len(array) + 1].astype(np.int64)


def _numbers(array: pa.Array, kind: np.dtype[Any]) -> NDArray[Any]:
    held = array.buffers()[1]
    first, stop = array.offset, array.offset + len(array)
    found = np.frombuffer(held, kind)[first:stop] if held is not None else np.zeros(len(array), kind)
    return np.where(_bits(array, 0), found, np.nan) if array.null_count else found


def _bits(array: pa.Array, place: int) -> NDArray[np.bool_]:
    """A buffer of bits, one per entry; where there is none, all are set."""
    held = array.buffers()[place]
    if held is None:
        return np.ones(len(array), dtype=bool)
    bits = np.unpackbits(np.frombuffer(held, np.uint8), bitorder="little")
    return bits[array.offset : array.offset + len(array)].astype(bool)


def _coded(array: pa.DictionaryArray) -> NDArray[Any]:
    texts = np.array([*array.dictionary.to_pylist(), None], dtype=object)
    codes = _numbers(array.indices, np.dtype(str(array.indices.type)))
    places = np.where(np.isnan(codes), -1, codes).astype(np.int64) if array.null_count else codes
    return np.asarray(texts[places])


def to_arrow(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """A column of a store's kind: numbers, truth values, texts, lists of floats, or maps from texts to these."""
    import pyarrow as pa
    import pyarrow.types as kinds

    def made(*buffers: pa.Buffer | None, **more: Any) -> pa.Array:
        return pa.Array.from_buffers(kind, len(values), list(buffers), **more)

    if kinds.is_string(kind):
        encoded = [value.encode() for value in values]
        return made(None, _ends(encoded), pa.py_buffer(b"".join(encoded)))
    if kinds.is_list(kind):
        flat = to_arrow([number for value in values for number in value], kind.value_type)
        return made(None, _ends(values), children=[flat])
    if kinds.is_map(kind):
        pairs = [pair for value in values for pair in value]
        texts, held = to_arrow([pair[0] for pair in pairs], kind.key_type), [pair[1] for pair in pairs]
        entries = pa.struct([kind.key_field.with_nullable(False), kind.item_field])
        columns = [texts, to_arrow(held, kind.item_type)]
        flat = pa.Array.from_buffers(entries, len(pairs), [None], children=columns)
        return made(None, _ends(values), children=[flat])
    known = [value is not None for value in values]
    there = None if all(known) else _packed(known)
    if kinds.is_boolean(kind):
        return made(there, _packed(values))
    plain = np.array([value or 0 for value in values], dtype=_NUMPY.get(str(kind), str(kind)))
    return made(there, pa.py_buffer(plain))


def _ends(values: Iterable[Sized]) -> pa.Buffer:
    """Where each of some lists or texts ends among all that they hold."""
    import pyarrow as pa

    return pa.py_buffer(np.array([0, *accumulate(map(len, values))], dtype=np.int32))


def _packed(bits: Sequence[bool]) -> pa.Buffer:
    import pyarrow as pa

    return pa.py_buffer(np.packbits(np.array(bits, dtype=bool), bitorder="little"))
