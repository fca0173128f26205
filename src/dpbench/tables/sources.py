"""Tables from anywhere, as Arrow batches of the columns that are wanted.

CSV (also compressed), Parquet, folders of both, Arrow tables, datasets and readers, pandas and polars frames (lazy ones
too), DuckDB relations, and mappings from names to values. A file is never held as a whole. No message quotes a
row, a line number or the first line of a file, which is a row where a header was forgotten; a line of CSV that
has another number of cells than the header is passed over.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from math import isnan, prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import InvalidTable, shown
from dpbench.given import as_path
from dpbench.tables.axes import Axis, Numbers
from dpbench.tables.values import check_kind, numbers_of

BATCH = 2**17
"""Rows that are worked on at a time."""
BLOCK = 2**22
"""Bytes of a CSV file that are read at a time."""
PAGE = 2**20
"""Bytes of a Parquet file that are read at a time."""
COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")
LARGEST_TOTAL = 2**52
"""Up to here every sum of counts is exact, as a float too."""
UNREADABLE = "cannot be read to its end; write it again"


def batches(table: object, axes: Sequence[Axis]) -> Iterator[Any]:
    """Arrow record batches with the columns of the axes, in their order, at most :data:`BATCH` rows each.

    Names and kinds of columns are checked before the first batch is read.
    """
    names = [axis.name for axis in axes]
    if isinstance(table, str | os.PathLike):
        files = list_files(as_path(table, "the table", InvalidTable))
        for file in files:
            opened = _csv_kinds(file) if _kind(file) == ".csv" else _parquet_kinds(file)
            _check(str(file), opened, axes)
        return _pieces(piece for file in files for piece in _from_file(file, names))
    reader, described = _reader(table, names)
    _check(described, dict(_pairs(reader.schema)), axes)
    return _pieces(_followed(reader, f"the {described}"), names)


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
    columns = [Numbers(f"{axis.name}_cell", 0, axis.cells, bins=1) for axis in axes]
    counted = Numbers("count", 0, 1, bins=1)
    counts = np.zeros(prod(shape), dtype=np.int64)
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
        np.add.at(counts, cell[inside], several)
        counts = np.minimum(counts, LARGEST_TOTAL // len(counts))
    return counts.reshape(shape)


def _hidden(file: Path, folder: Path) -> bool:
    return any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)


def _kind(file: Path) -> str:
    endings = [ending.lower() for ending in file.suffixes[-2:]]
    if endings and endings[-1] in COMPRESSED:
        endings.pop()
    return endings[-1] if endings else ""


def _pairs(schema: Any) -> list[tuple[str, Any]]:
    return list(zip(schema.names, schema.types, strict=True))


def _check(described: str, kinds: Mapping[str, Any], axes: Sequence[Axis]) -> None:
    for axis in axes:
        if axis.name not in kinds:
            raise InvalidTable(
                f"{described} has no column named {shown(axis.name)}, or more than one; correct the spec"
            )
        check_kind(axis, kinds[axis.name])


def _unique(names: Sequence[str], kinds: Sequence[Any]) -> dict[str, Any]:
    return {name: kind for name, kind in zip(names, kinds, strict=True) if list(names).count(name) == 1}


def _csv_kinds(file: Path) -> dict[str, Any]:
    """The names in the first line; all columns are text until a row is read."""
    import pyarrow as pa

    names = [_csv_name(name) for name in _csv_names(file)]
    return _unique(names, [pa.binary()] * len(names))


def _csv_names(file: Path) -> list[str]:
    """The first line as Arrow has it, byte by byte (see :func:`_csv_reader`)."""
    import pyarrow as pa

    names = None
    with suppress(pa.ArrowException, OSError, ValueError):
        names = list(_csv_reader(file, None).schema.names)
    if names is None:
        raise InvalidTable(f"{file} is no CSV file with a header; correct it")
    return names


def _csv_name(written: str) -> str:
    """The name of a column as people read it: UTF-8, without the mark that some programs put before the first."""
    return written.encode("latin-1", "replace").decode("utf-8", "replace").removeprefix("\ufeff").strip()


def _csv_reader(file: Path, names: Sequence[str] | None) -> Any:
    """Batches of a CSV file, its bytes read as Latin-1, in which every byte is a character.

    Arrow decodes a line of the wrong length before it asks whether to skip it. One that is not UTF-8 would end the
    read, and its bytes would be printed. :func:`_as_bytes` gives values the bytes that the file has.
    """
    import pyarrow as pa
    from pyarrow import csv

    stream = pa.input_stream(str(file), compression="detect", buffer_size=BLOCK)
    parse = csv.ParseOptions(newlines_in_values=True, invalid_row_handler=lambda _: "skip", ignore_empty_lines=False)
    if names is None:
        convert = csv.ConvertOptions(check_utf8=False)
    else:
        convert = csv.ConvertOptions(
            check_utf8=False,
            column_types=dict.fromkeys(names, pa.binary()),
            include_columns=list(names),
            strings_can_be_null=False,
        )
    return csv.open_csv(stream, csv.ReadOptions(block_size=BLOCK, encoding="latin-1"), parse, convert)


def _as_bytes(column: Any) -> Any:
    """A column of a CSV file as the bytes of the file; nearly always they are ASCII, which Latin-1 leaves alone."""
    import pyarrow as pa

    content = column.buffers()[2]
    if content is None or not (np.frombuffer(content, dtype=np.uint8) >= 0x80).any():
        return column
    coded = column.dictionary_encode()
    values = [value.decode("utf-8").encode("latin-1") for value in coded.dictionary.to_pylist()]
    return pa.DictionaryArray.from_arrays(coded.indices, pa.array(values, pa.binary())).dictionary_decode()


def _parquet_kinds(file: Path) -> dict[str, Any]:
    import pyarrow as pa
    from pyarrow.parquet import read_schema

    schema = None
    with suppress(pa.ArrowException, OSError):
        schema = read_schema(file)
    if schema is None:
        raise InvalidTable(f"{file} cannot be read as Parquet; write it again, or give a .csv file")
    return _unique(schema.names, schema.types)


def _from_file(file: Path, names: Sequence[str]) -> Iterator[Any]:
    import pyarrow as pa

    if _kind(file) == ".parquet":
        from pyarrow.parquet import ParquetFile

        # one row group after the other, in pages: asked for all at once, Arrow keeps what it has read until the end
        with ParquetFile(file, pre_buffer=False, buffer_size=PAGE) as opened:
            for group in range(opened.num_row_groups):
                read = opened.iter_batches(BATCH, row_groups=[group], columns=list(names))
                yield from _followed(read, str(file), names)
        return
    reader, written = None, {_csv_name(name): name for name in _csv_names(file)}
    columns = [written[name] for name in names]
    with suppress(pa.ArrowException, OSError, ValueError):
        reader = _csv_reader(file, columns)
    if reader is None:
        raise InvalidTable(f"{file} {UNREADABLE}")
    for batch in _followed(reader, str(file), columns):
        yield pa.RecordBatch.from_arrays([_as_bytes(column) for column in batch.columns], names=list(names))


def _reader(table: Any, names: Sequence[str]) -> tuple[Any, str]:
    """A reader of Arrow batches of the wanted columns, as far as they are there."""
    import pyarrow as pa

    described = type(table).__name__
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    reader = None
    with suppress(pa.ArrowException, TypeError, ValueError):
        if pandas is not None and isinstance(table, pandas.DataFrame):
            every = list(table.columns)
            reader = pa.table({name: _array(table[name]) for name in names if every.count(name) == 1}).to_reader()
        elif polars is not None and isinstance(table, polars.LazyFrame):
            present = set(table.collect_schema().names())
            reader = _lazy(table.select([name for name in names if name in present]), polars)
        elif hasattr(table, "scanner"):
            present = set(table.schema.names)
            columns = [name for name in names if name in present]
            reader = table.scanner(
                columns=columns, batch_size=BATCH, batch_readahead=2, fragment_readahead=1
            ).to_reader()
        elif hasattr(table, "__arrow_c_stream__"):
            reader = pa.RecordBatchReader.from_stream(table)
        elif hasattr(table, "__arrow_c_array__"):
            reader = pa.table(table).to_reader()
        elif isinstance(table, Mapping):
            reader = pa.table({name: _array(table[name]) for name in names if name in table}).to_reader()
    if reader is None:
        raise _no_table(table)
    return reader, described


def _array(values: Any) -> Any:
    """A column that has a kind as it is; one of objects, whose kind would be read off its rows, as text."""
    import pyarrow as pa

    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if str(getattr(values, "dtype", "object")) != "object":
        return pa.array(values, from_pandas=True)
    if not hasattr(values, "__len__") or isinstance(values, str | bytes) or getattr(values, "ndim", 1) != 1:
        raise TypeError("no column")
    return pa.array([_as_text(value) for value in values], pa.large_string())


def _as_text(value: object) -> str | None:
    if value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and isnan(value)):
        return None
    try:
        return str(value)
    except Exception:  # whatever a stranger's object does
        return None


def _lazy(frame: Any, polars: Any) -> Any:
    """A lazy frame in batches, where polars can do that."""
    import pyarrow as pa

    schema = polars.DataFrame(schema=frame.collect_schema()).to_arrow().schema

    def parts() -> Iterator[Any]:
        made = frame.collect_batches(chunk_size=BATCH) if hasattr(frame, "collect_batches") else [frame.collect()]
        for each in made:
            yield from each.to_arrow().cast(schema).to_batches()

    return pa.RecordBatchReader.from_batches(schema, parts())


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
