"""Reading the columns of a user's table in batches: CSV, Parquet, anything that speaks Arrow, pandas, or arrays.

A user's table is private. No message here quotes a cell, and none is raised while an exception that
quotes one is being handled, so that no chained traceback shows it. The first line of a CSV file is
not quoted either: where a header was forgotten it is a record.
"""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import InvalidTable, shown

BATCH = 2**17
"""Rows of a file that are held at a time."""


@dataclass(frozen=True)
class Cells:
    """The values of one column in one batch of rows."""

    column: str
    values: Any
    """An Arrow array; or a list, where the values are of kinds that Arrow does not mix."""
    file: str | None = None
    """The CSV file that they were read from; its cells are text."""
    lines: Sequence[int] = ()
    """Line of the file on which each row ends."""

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_text(self) -> bool:
        """Whether numbers and categories are still written as text."""
        return self.file is not None

    def labels(self) -> tuple[list[Any], NDArray[np.int64]]:
        """The different values as Python scalars, and which of them each row has, (rows,)."""
        if isinstance(self.values, list):
            different, rows = self.values, np.arange(len(self))
        else:
            coded = _labelled(self.values).dictionary_encode()
            different, rows = coded.dictionary.to_pylist(), coded.indices.to_numpy().astype(np.int64)
        for number, label in enumerate(different):
            if is_missing(label) or (self.is_text and not label):
                raise self._wrong(int(np.argmax(rows == number)), _MISSING)
        return different, rows

    def numbers(self) -> NDArray[np.float64]:
        """Values as float64 (rows,), infinities allowed."""
        result = self._floats()
        if result is None and self.is_text:
            row = next(row for row, text in enumerate(self.values.to_pylist()) if not _is_number(text))
            empty = not self.values[row].as_py()
            raise self._wrong(
                row, _MISSING if empty else "has no number there; correct it, or give it categories=[...]"
            )
        if result is None:
            raise self._wrong(None, "does not hold numbers only; convert it to numbers, or give it categories=[...]")
        if np.isnan(result).any():
            raise self._wrong(int(np.argmax(np.isnan(result))), _MISSING)
        return result

    def _floats(self) -> NDArray[np.float64] | None:
        """None where some value is no number."""
        if isinstance(self.values, list):
            plain = self.values if all(isinstance(value, _NUMBERS) for value in self.values) else ["no number"]
        elif self.is_text or _holds_numbers(self.values.type):
            plain = self.values.to_numpy(zero_copy_only=False)
        else:
            return None
        try:
            return np.asarray(plain, dtype=np.float64)
        except (ValueError, OverflowError):
            return None

    def _wrong(self, row: int | None, fault: str) -> InvalidTable:
        place = f"{self.file}, line {self.lines[row]}: " if self.is_text and row is not None else ""
        return InvalidTable(f"{place}column {shown(self.column)} {fault}")


_MISSING = "has missing values; fill them in or drop those rows first"
_NUMBERS = (bool, int, float, Decimal, Fraction, np.number, np.bool_)


def is_missing(value: object) -> bool:
    """Whether a value stands for none at all."""
    return value is None or (isinstance(value, float) and isnan(value))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _labelled(values: Any) -> Any:
    """Times without nanoseconds, which Python's have not."""
    from pyarrow import timestamp, types

    return values.cast(timestamp("us"), safe=False) if types.is_timestamp(values.type) else values


def _holds_numbers(kind: Any) -> bool:
    from pyarrow import types

    wanted = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    return any(is_wanted(kind) for is_wanted in wanted)


def read_batches(table: object, names: Sequence[str]) -> Iterator[list[Cells]]:
    """Take the named columns out of any table that this package reads, some rows at a time."""
    if isinstance(table, str | os.PathLike):
        return _from_file(Path(table), names)
    pandas = sys.modules.get("pandas")  # whoever has such a frame has imported it
    if pandas is not None and isinstance(table, pandas.DataFrame):
        # column by column: one of mixed kinds is no Arrow array, but may have categories
        _demand(names, list(table.columns), "the pandas frame")
        return iter([[_cells(name, table[name]) for name in names]])
    if hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__"):
        return _from_arrow(table, names)
    if isinstance(table, Mapping):
        return iter([_from_arrays(table, names)])
    raise InvalidTable(
        f"cannot read a table from {type(table).__name__}; give the path of a .csv or .parquet file, "
        f"a pandas, polars or Arrow table, or a mapping from column name to values"
    )


def _demand(names: Sequence[str], present: Sequence[object], described: str) -> None:
    for name in names:
        found = sum(1 for each in present if each == name)
        if found != 1:
            fault = "has no column" if found == 0 else "has more than one column"
            raise InvalidTable(f"{described} {fault} named {shown(name)}; name each column as its header does, once")


def _from_file(path: Path, names: Sequence[str]) -> Iterator[list[Cells]]:
    kind = path.suffix.lower()
    if kind not in (".csv", ".parquet"):
        raise InvalidTable(
            f"cannot recognise the format of {shown(str(path))}; give a file that ends in .csv or .parquet"
        )
    if not path.is_file():
        raise InvalidTable(f"there is no file {shown(str(path))}; give the path of a .csv or .parquet file")
    return _from_csv(path, names) if kind == ".csv" else _from_parquet(path, names)


def _from_csv(path: Path, names: Sequence[str]) -> Iterator[list[Cells]]:
    fault = ""
    last = 1
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, strict=True)
            header = [cell.strip() for cell in next(reader, [])]
            _demand(names, header, f"the first line of {path}")
            spots = [header.index(name) for name in names]
            for row in reader:
                if not row and len(header) > 1:
                    continue  # a blank line is no record; in a file of one column it is a missing value
                if len(row or [""]) != len(header):
                    fault = f"line {reader.line_num} has another number of cells than the first line"
                    break
                rows.append([(row or [""])[spot].strip() for spot in spots])
                lines.append(last := reader.line_num)
                if len(rows) == BATCH:
                    yield _text_cells(path, names, rows, lines)
                    rows, lines = [], []
    except UnicodeDecodeError:
        fault = f"what follows line {last} is not UTF-8 text"
    except csv.Error:
        fault = f"what follows line {last} is not CSV (quotes, or a zero byte)"
    except OSError as reason:
        fault = f"it cannot be read ({reason.strerror})"
    if fault:
        raise InvalidTable(f"{path}: {fault}; correct the file")
    yield _text_cells(path, names, rows, lines)


def _text_cells(path: Path, names: Sequence[str], rows: list[list[str]], lines: list[int]) -> list[Cells]:
    import pyarrow as pa

    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    return [
        Cells(name, pa.array(column, pa.large_string()), str(path), lines)
        for name, column in zip(names, columns, strict=True)
    ]


def _from_parquet(path: Path, names: Sequence[str]) -> Iterator[list[Cells]]:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    unreadable = InvalidTable(f"{path} cannot be read as Parquet; write it again, or give a .csv file")
    file = None
    with suppress(pa.ArrowException, OSError):
        file = ParquetFile(path)
    if file is None:
        raise unreadable
    with file:
        _demand(names, file.schema_arrow.names, str(path))
        yield from _batches(file.iter_batches(BATCH, columns=list(names)), names, unreadable)


def _from_arrow(table: Any, names: Sequence[str]) -> Iterator[list[Cells]]:
    import pyarrow as pa

    unreadable = InvalidTable(f"the {type(table).__name__} cannot be read as an Arrow table; make it again")
    reader = None
    with suppress(pa.ArrowException, TypeError, ValueError):
        is_stream = hasattr(table, "__arrow_c_stream__")
        reader = pa.RecordBatchReader.from_stream(table) if is_stream else pa.table(table).to_reader()
    if reader is None:
        raise unreadable
    _demand(names, reader.schema.names, "the Arrow table")
    yield from _batches(reader, names, unreadable)


def _batches(source: Iterable[Any], names: Sequence[str], unreadable: InvalidTable) -> Iterator[list[Cells]]:
    """Cells of Arrow batches; what Arrow says of one that cannot be read may quote a cell, and is not passed on."""
    import pyarrow as pa

    batches, end = iter(source), object()
    while True:
        batch: Any = None
        with suppress(pa.ArrowException, OSError):
            batch = next(batches, end)
        if batch is None:
            raise unreadable
        if batch is end:
            return
        yield [_arrow_cells(name, batch.column(name)) for name in names]


def _from_arrays(table: Mapping[Any, Any], names: Sequence[str]) -> list[Cells]:
    _demand(names, list(table), "the mapping")
    cells = [_cells(name, table[name]) for name in names]
    if len({len(each) for each in cells}) > 1:
        raise InvalidTable("the columns of the mapping differ in length; give every column one value per row")
    return cells


def _cells(name: str, values: Any) -> Cells:
    """Values as an Arrow array, or as a list if they are of kinds that Arrow does not mix."""
    import pyarrow as pa

    is_list = isinstance(values, Sequence) and not isinstance(values, str | bytes)
    if not is_list and not (hasattr(values, "__array__") and np.ndim(values) == 1):
        raise InvalidTable(f"column {shown(name)} is not a list; give one value per row")
    array = None
    with suppress(pa.ArrowException, TypeError, ValueError, OverflowError):
        array = pa.array(values, from_pandas=True)
    return Cells(name, list(values)) if array is None else _arrow_cells(name, array)


def _arrow_cells(name: str, array: Any) -> Cells:
    from pyarrow import ChunkedArray, types

    if isinstance(array, ChunkedArray):
        array = array.combine_chunks()
    if types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if array.null_count:
        raise InvalidTable(f"column {shown(name)} {_MISSING}")
    if types.is_nested(array.type):
        raise InvalidTable(f"column {shown(name)} has several values per row; give one")
    return Cells(name, array)
