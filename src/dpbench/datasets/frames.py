"""Reading the columns of a user's table: CSV, Parquet, a pandas, polars or Arrow frame, or arrays.

A user's table is private. No message here quotes a cell, and none is raised while an exception that
quotes one is being handled, so that no chained traceback shows it. The first line of a CSV file is
not quoted either: where a header was forgotten it is a record.
"""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import InvalidTable, Unsupported


@dataclass(frozen=True)
class Cells:
    """The values of one column, (rows,), none of them null."""

    column: str
    values: NDArray[Any]
    file: str | None = None
    """The CSV file that they were read from; its cells are text."""
    lines: Sequence[int] = ()
    """Line of the file on which each row ends."""

    @property
    def is_text(self) -> bool:
        """Whether numbers and categories are still written as text."""
        return self.file is not None

    def _place(self, row: int) -> str:
        return f"{self.file}, line {self.lines[row]}: column {self.column!r}"

    def labels(self) -> list[Any]:
        """Values as Python scalars, to be looked up among categories."""
        values = self.values
        if values.dtype.kind == "M" and np.datetime_data(values.dtype)[0] == "ns":
            values = values.astype("datetime64[us]")  # nanoseconds would become bare integers
        scalars: list[Any] = values.tolist()
        for row, scalar in enumerate(scalars):
            if self.is_text and not scalar:
                raise _missing(self._place(row))
            if is_missing(scalar):
                raise _missing(f"column {self.column!r}")
        return scalars

    def numbers(self) -> NDArray[np.float64]:
        """Values as float64 (rows,), infinities allowed."""
        if self.is_text:
            return self._parsed()
        values = self.values
        if values.dtype.kind == "O" and all(isinstance(value, _NUMBERS) for value in values):
            try:
                values = np.array([float(value) for value in values])
            except (OverflowError, ValueError):
                values = self.values
        if values.dtype.kind not in "biuf":
            raise InvalidTable(
                f"column {self.column!r} does not hold numbers only; convert it to numbers, or give it categories=[...]"
            )
        result = values.astype(np.float64)
        if np.isnan(result).any():
            raise _missing(f"column {self.column!r}")
        return result

    def _parsed(self) -> NDArray[np.float64]:
        result = np.empty(len(self.values))
        for row, text in enumerate(self.values):
            number = _number(text)
            if not text:
                raise _missing(self._place(row))
            if number is None:
                raise InvalidTable(f"{self._place(row)} has no number there; correct it, or give it categories=[...]")
            if np.isnan(number):
                raise _missing(self._place(row))
            result[row] = number
        return result


_NUMBERS = (bool, int, float, Decimal, Fraction, np.number, np.bool_)


def is_missing(value: object) -> bool:
    """Whether a value stands for none at all."""
    return value is None or (isinstance(value, float) and isnan(value))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _missing(place: str) -> InvalidTable:
    return InvalidTable(f"{place} has missing values; fill them in or drop those rows first")


def read_columns(table: object, names: Sequence[str]) -> list[Cells]:
    """Take the named columns out of any table that this package reads."""
    if isinstance(table, str | os.PathLike):
        return _from_file(Path(table), names)
    pandas, polars, arrow = (sys.modules.get(name) for name in ("pandas", "polars", "pyarrow"))
    # whoever has such a frame has imported its package; nothing is imported to find out
    if pandas is not None and isinstance(table, pandas.DataFrame):
        return _from_pandas(table, names)
    if polars is not None and isinstance(table, polars.DataFrame):
        return _from_polars(table, names)
    if arrow is not None and isinstance(table, arrow.Table | arrow.RecordBatch):
        return _from_arrow(table, names)
    if isinstance(table, Mapping):
        return _from_arrays(table, names)
    raise InvalidTable(
        f"cannot read a table from {type(table).__name__}; give the path of a .csv or .parquet file, "
        f"a pandas, polars or pyarrow table, or a mapping from column name to values"
    )


def _demand(names: Sequence[str], present: Sequence[object], described: str) -> None:
    for name in names:
        found = sum(1 for each in present if each == name)
        if found != 1:
            fault = "has no column" if found == 0 else "has more than one column"
            raise InvalidTable(f"{described} {fault} named {name!r}; name each column as its header does, once")


def _from_file(path: Path, names: Sequence[str]) -> list[Cells]:
    kind = path.suffix.lower()
    if kind not in (".csv", ".parquet"):
        raise InvalidTable(f"cannot tell the format of {path}; give a file that ends in .csv or .parquet")
    if not path.is_file():
        raise InvalidTable(f"there is no file {path}; give the path of a .csv or .parquet file")
    return _from_csv(path, names) if kind == ".csv" else _from_parquet(path, names)


def _from_csv(path: Path, names: Sequence[str]) -> list[Cells]:
    fault = ""
    header: list[str] = []
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
                lines.append(reader.line_num)
    except UnicodeDecodeError:
        fault = f"what follows line {lines[-1] if lines else 1} is not UTF-8 text"
    except csv.Error:
        fault = f"what follows line {lines[-1] if lines else 1} is not CSV (quotes, or a zero byte)"
    except OSError as reason:
        fault = f"it cannot be read ({reason.strerror})"
    if fault:
        raise InvalidTable(f"{path}: {fault}; correct the file")
    return [
        Cells(name, np.array([row[spot] for row in rows], dtype=object), str(path), lines)
        for spot, name in enumerate(names)
    ]


def _from_parquet(path: Path, names: Sequence[str]) -> list[Cells]:
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise Unsupported(
            f"reading {path} needs pyarrow; give a .csv file, or install it with `pip install 'dpbench-range[tables]'`"
        ) from None
    try:
        _demand(names, parquet.read_schema(path).names, str(path))
        table = parquet.read_table(path, columns=list(names))
    except (arrow.ArrowException, OSError):
        table = None
    if table is None:
        raise InvalidTable(f"{path} cannot be read as Parquet; write it again, or give a .csv file")
    return _from_arrow(table, names)


def _from_pandas(frame: Any, names: Sequence[str]) -> list[Cells]:
    _demand(names, list(frame.columns), "the pandas frame")
    for name in names:
        if frame[name].isna().any():
            raise _missing(f"column {name!r}")
    return [Cells(name, np.asarray(frame[name].to_numpy())) for name in names]


def _from_polars(frame: Any, names: Sequence[str]) -> list[Cells]:
    _demand(names, frame.columns, "the polars frame")
    for name in names:
        if frame[name].null_count():
            raise _missing(f"column {name!r}")
    return [Cells(name, np.asarray(frame[name].to_numpy())) for name in names]


def _from_arrow(table: Any, names: Sequence[str]) -> list[Cells]:
    _demand(names, table.schema.names, "the Arrow table")
    for name in names:
        if table.column(name).null_count:
            raise _missing(f"column {name!r}")
    return [Cells(name, np.asarray(table.column(name).to_numpy(zero_copy_only=False))) for name in names]


def _from_arrays(table: Mapping[Any, Any], names: Sequence[str]) -> list[Cells]:
    _demand(names, list(table), "the mapping")
    cells = []
    for name in names:
        values = table[name]
        if np.ma.is_masked(values):
            raise _missing(f"column {name!r}")
        try:
            array = np.asarray(values)
        except ValueError:
            array = np.empty((0, 0))
        if array.ndim != 1:
            raise InvalidTable(f"column {name!r} has {array.ndim} axes; give one value per row")
        if isinstance(values, Sequence) and array.dtype.kind == "U":
            array = np.array(values, dtype=object)  # numpy turns [1, "a"] into text
        cells.append(Cells(name, array))
    if len({len(each.values) for each in cells}) > 1:
        raise InvalidTable("the columns of the mapping differ in length; give every column one value per row")
    return cells
