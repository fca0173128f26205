"""Tables from anywhere, as Arrow batches of the columns that are wanted.

CSV (also compressed), Parquet, folders of both, Arrow tables, datasets and readers, pandas and polars frames (lazy ones
too), DuckDB relations, and mappings from names to values. A file is never held as a whole. No message quotes a
row, a line number or the first line of a file, which is a row where a header was forgotten.

A record of a CSV file is a line of it, whatever the line says: quotes hold commas, and no line breaks. So a line can
change nothing but its own record. One whose quote stays open, or that has another number of cells than the header, or
is longer than :data:`LONGEST_LINE`, is passed over.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import InvalidTable, shown
from dpbench.given import as_path
from dpbench.tables.axes import Axis, Numbers
from dpbench.tables.frames import batch_of, columns_of, is_column, lazy_batches
from dpbench.tables.header import CODECS, csv_names, separator
from dpbench.tables.values import check_kind, numbers_of

BATCH = 2**17
"""Rows that are worked on at a time."""
BLOCK = 2**22
"""Bytes of a CSV file that are read at a time."""
LONGEST_LINE = 2**22
"""Bytes of a line of a CSV file."""
PAGE = 2**20
"""Bytes of a Parquet file that are read at a time."""
DECLARED = ("ParquetFileFormat", "IpcFileFormat")
"""Formats of datasets that say the kinds of their columns; those of others are guessed from rows."""
LARGEST_TOTAL = 2**52
"""Up to here every sum of counts is exact, as a float too."""
UNREADABLE = "cannot be read to its end; write it again"


def batches(table: object, axes: Sequence[Axis]) -> Iterator[Any]:
    """Arrow record batches with the columns of the axes, in their order, at most :data:`BATCH` rows each.

    The header is looked at before the first batch is read.
    """
    look_at_header(table, axes)
    names = [axis.name for axis in axes]
    if isinstance(table, str | os.PathLike):
        files = list_files(as_path(table, "the table", InvalidTable))
        return _pieces(piece for file in files for piece in _from_file(file, names))
    described, frame, polars = f"the {type(table).__name__}", columns_of(table, names), sys.modules.get("polars")
    if frame is not None:
        if len({*map(len, frame.values())}) > 1:
            raise _no_table(table)
        return _pieces(_followed((batch_of(frame) for _ in range(1)), described))
    if polars is not None and isinstance(table, polars.LazyFrame):
        return _pieces(_followed(lazy_batches(table, names, BATCH), described))
    reader = _reader(table, names)
    _check(type(table).__name__, _undeclared(reader.schema.names), axes)
    return _pieces(_followed(reader, described), names)


def look_at_header(table: object, axes: Sequence[Axis]) -> None:
    """Refuse a table whose header does not fit; no row is read, and what is found follows from the header alone.

    Of a frame in memory these are the names of its columns, and their kinds where an Arrow schema declares them: those
    of pandas, polars and mappings follow from rows. Other streams would have to be run, and are not looked at.
    """
    if isinstance(table, str | os.PathLike):
        for file in list_files(as_path(table, "the table", InvalidTable)):
            _check(str(file), _header(file), axes)
        return
    header = None
    with suppress(Exception):  # whatever another library's frame does
        header = _header_of_frame(table)
    if header is not None:
        _check(type(table).__name__, header, axes)
    frame = columns_of(table, [axis.name for axis in axes])
    if frame is not None and not all(map(is_column, frame.values())):
        raise _no_table(table)


def list_files(path: Path) -> list[Path]:
    """The file, or the files of a folder in the order of their names; hidden ones and ``_metadata`` are passed over."""
    if path.is_dir():
        found = sorted(each for each in path.rglob("*") if each.is_file() and not _hidden(each, path))
        if not found:
            raise InvalidTable(f"the folder {path} holds no file; give one with .csv or .parquet files")
    elif path.is_file():
        found = [path]
    else:
        raise InvalidTable(f"there is no table {path}; give the path of a .csv or .parquet file, or of a folder")
    for each in found:
        if _kind(each) not in (".csv", ".parquet"):
            raise InvalidTable(
                f"cannot recognise the format of {shown(str(each))}; give files that end in .csv, .csv.gz or .parquet"
            )
    return found


def insist_on_a_table(table: object) -> None:
    """Refuse what is no table by its name or its type; nothing is opened, so this says nothing about rows."""
    if isinstance(table, str | os.PathLike):
        files = list_files(as_path(table, "the table", InvalidTable))
        if not all(os.access(file, os.R_OK) for file in files):
            raise InvalidTable(f"{table} may not be read by you; ask for permission")
    elif not _speaks(table):
        raise _no_table(table)


def _speaks(table: object) -> bool:
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    return (
        (pandas is not None and isinstance(table, pandas.DataFrame))
        or (polars is not None and isinstance(table, polars.LazyFrame))
        or isinstance(table, Mapping)
        or any(hasattr(type(table), each) for each in ("scanner", "__arrow_c_stream__", "__arrow_c_array__"))
    )


def _no_table(table: object) -> InvalidTable:
    return InvalidTable(
        f"cannot read a table from {type(table).__name__}; give the path of a .csv or .parquet file, a folder, an "
        f"Arrow, pandas, polars or DuckDB table, or a mapping from column name to values"
    )


def from_counts(path: Path, axes: Sequence[Axis]) -> NDArray[np.int64]:
    """A histogram that a database counted, ``(*domain)``: a file with one column of cell numbers per axis, and counts.

    The columns are those of :func:`dpbench.tables.sql.group_by`: the number of a cell along each axis, NULL
    where the row is dropped, and ``count``. Rows of the same cell add up; a cell that is not of the domain is dropped.
    """
    from dpbench.tables.counting import check_axes

    path, axes = as_path(path, "the file of counts", InvalidTable), check_axes(axes)
    shape = tuple(axis.cells for axis in axes)
    *columns, counted = columns_of_counts(axes)
    counts = np.zeros(prod(shape), dtype=np.int64)
    step = 2**10 if len(counts) < 2**10 else BATCH  # lines that cannot add up to more than 62 bits
    for batch in batches(path, [*columns, counted]):
        many = numbers_of(counted, batch.column(len(columns)))
        inside = np.isfinite(many)
        cell = np.zeros(batch.num_rows, dtype=np.int64)
        for number, (column, side) in enumerate(zip(columns, shape, strict=True)):
            codes = numbers_of(column, batch.column(number))
            good = (codes >= 0) & (codes < side) & (codes == np.floor(codes))
            inside &= good
            cell = cell * side + np.where(good, codes, 0).astype(np.int64)
        several = np.clip(np.floor(many[inside]), 0, LARGEST_TOTAL // len(counts)).astype(np.int64)
        where = cell[inside]
        for first in range(0, len(where), step):
            np.add.at(counts, where[first : first + step], several[first : first + step])
            np.minimum(counts, LARGEST_TOTAL // len(counts), out=counts)
    return counts.reshape(shape)


def columns_of_counts(axes: Sequence[Axis]) -> list[Numbers]:
    """The columns of a histogram that a database counted."""
    columns = [Numbers(f"{axis.name}_cell", 0, axis.cells, bins=1) for axis in axes]
    return [*columns, Numbers("count", 0, 1, bins=1)]


def _hidden(file: Path, folder: Path) -> bool:
    return any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)


def _kind(file: Path) -> str:
    endings = [ending.lower() for ending in file.suffixes[-2:]]
    if endings and endings[-1] in CODECS:
        endings.pop()
    return endings[-1] if endings else ""


def _pairs(schema: Any) -> list[tuple[str, Any]]:
    return list(zip(schema.names, schema.types, strict=True))


def _check(described: str, header: Sequence[tuple[str, Any]], axes: Sequence[Axis]) -> None:
    for axis in axes:
        kinds = [kind for name, kind in header if name == axis.name]
        if not kinds:
            found = separator([name for name, _ in header])
            advice = f"it looks separated by {found}: write it with commas" if found else "correct the spec"
            raise InvalidTable(f"{described} has no column named {shown(axis.name)}; {advice}")
        if len(kinds) > 1:
            raise InvalidTable(f"{described} has {len(kinds)} columns named {shown(axis.name)}; give each its own name")
        check_kind(axis, kinds[0])


def _header(file: Path) -> list[tuple[str, Any]]:
    """Names and kinds of a file; all columns of a CSV file are text."""
    import pyarrow as pa

    if _kind(file) == ".csv":
        return [(name, pa.binary()) for name in csv_names(file)]
    return _pairs(_parquet_schema(file))


def _header_of_frame(table: Any) -> list[tuple[str, Any]] | None:
    """Names, and kinds as far as they are declared; None where the table says nothing before it is run."""
    import pyarrow as pa

    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if polars is not None and isinstance(table, polars.LazyFrame):
        names = table.collect_schema().names()
    elif isinstance(table, Mapping):
        names = list(table)
    elif isinstance(getattr(table, "schema", None), pa.Schema):
        declared = not hasattr(table, "scanner") or type(getattr(table, "format", None)).__name__ in DECLARED
        return _pairs(table.schema) if declared else _undeclared(table.schema.names)
    else:
        names = list(table.columns)
        if not all(isinstance(name, str) for name in names) and not (pandas and isinstance(table, pandas.DataFrame)):
            return None
    return _undeclared(names)


def _undeclared(names: Iterable[str]) -> list[tuple[str, Any]]:
    """Columns whose kinds are not public; one without a kind fits every axis."""
    import pyarrow as pa

    return [(name, pa.null()) for name in names]


def _stream(file: Path, size: int) -> Any:
    import pyarrow as pa

    return pa.input_stream(str(file), compression="detect", buffer_size=size)


def _whole_lines(file: Path) -> Iterator[bytes]:
    """Bytes that end with a line, of any number of lines; a line that is too long is cut, and still too long."""
    with closing(_stream(file, BLOCK)) as stream:
        rest = b""
        while piece := stream.read(BLOCK):
            whole, end, rest = (rest + piece).rpartition(b"\n")
            rest = rest[: LONGEST_LINE + 1]
            if end:
                yield whole + end
        yield rest


def _csv_batches(file: Path, names: Sequence[str]) -> Iterator[Any]:
    """The cells of the wanted columns as bytes; nothing between two commas is missing."""
    import pyarrow as pa

    from dpbench.mathematics.kernels.texts import split_lines

    header = csv_names(file)
    wanted = np.array([names.index(name) if name in names else -1 for name in header], dtype=np.int64)
    kind = pa.large_binary()
    for number, whole in enumerate(_whole_lines(file)):
        lines = whole if number else whole.partition(b"\n")[2]
        block = np.frombuffer(lines or b"\n", dtype=np.uint8)
        data = np.empty((len(names), len(lines)), dtype=np.uint8)
        ends = np.zeros((len(names), lines.count(b"\n") + 2), dtype=np.int64)
        rows = split_lines(block, len(lines), wanted, LONGEST_LINE, data, ends)
        columns = []
        for content, places in zip(data, ends[:, : rows + 1], strict=True):
            there = np.packbits(np.diff(places) > 0, bitorder="little")
            buffers = [pa.py_buffer(each) for each in (there, places, content)]
            columns.append(pa.Array.from_buffers(kind, rows, buffers))
        yield pa.RecordBatch.from_arrays(columns, names=list(names))


def _parquet_schema(file: Path) -> Any:
    """As the footer has it."""
    import pyarrow as pa
    from pyarrow.parquet import read_schema

    schema = None
    with suppress(pa.ArrowException, OSError):
        schema = read_schema(file)
    if schema is None:
        raise InvalidTable(f"{file} cannot be read as Parquet; write it again, or give a .csv file")
    return schema


def _from_file(file: Path, names: Sequence[str]) -> Iterator[Any]:
    if _kind(file) == ".parquet":
        from pyarrow.parquet import ParquetFile

        # one row group after the other, in pages: asked for all at once, Arrow keeps what it has read until the end
        with ParquetFile(file, pre_buffer=False, buffer_size=PAGE) as opened:
            for group in range(opened.num_row_groups):
                read = opened.iter_batches(BATCH, row_groups=[group], columns=list(names))
                yield from _followed(read, str(file), names)
        return
    yield from _followed(_csv_batches(file, names), str(file))


def _reader(table: Any, names: Sequence[str]) -> Any:
    """A reader of Arrow batches of the wanted columns, as far as they are there, and of others."""
    import pyarrow as pa

    reader = None
    with suppress(pa.ArrowException, TypeError, ValueError):
        if hasattr(table, "scanner"):
            present = set(table.schema.names)
            columns = [name for name in names if name in present]
            reader = table.scanner(
                columns=columns, batch_size=BATCH, batch_readahead=2, fragment_readahead=1
            ).to_reader()
        elif hasattr(table, "__arrow_c_stream__"):
            reader = pa.RecordBatchReader.from_stream(table)
        elif hasattr(table, "__arrow_c_array__"):
            reader = pa.table(table).to_reader()
    if reader is None:
        raise _no_table(table)
    return reader


def _followed(source: Iterable[Any], described: str, names: Sequence[str] = ()) -> Iterator[Any]:
    """Batches to the end; what a library says of one that it cannot read may quote a row, and is not passed on."""
    following, end = iter(source), object()
    while True:
        batch: Any = None
        with suppress(Exception):
            batch = next(following, end)
        if batch is None:
            raise InvalidTable(f"{described} {UNREADABLE}")
        if batch is end:
            return
        yield batch.select(list(names)) if names else batch


def _pieces(source: Iterable[Any], names: Sequence[str] = ()) -> Iterator[Any]:
    """The same rows, some at a time; a slice takes no memory."""
    for batch in source:
        wanted = batch.select(list(names)) if names else batch
        for first in range(0, wanted.num_rows, BATCH):
            yield wanted.slice(first, BATCH)
