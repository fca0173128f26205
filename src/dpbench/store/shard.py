"""One shard: a Parquet file that is what its hash says, and holds rows as this version knows them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpbench.errors import InvalidStore
from dpbench.store.disk import NotRegular, read_regular
from dpbench.store.manifest import Listed
from dpbench.store.plain_arrays import distinct_texts, list_lengths, to_numpy
from dpbench.store.schema import ERRORS, LONGEST_LEDGER, SCHEMA_VERSION, arrow_schema
from dpbench.store.setting_key import BUDGET

if TYPE_CHECKING:
    import pyarrow as pa

LATER = ("queries", "other_losses", "delta", "rho")
"""Columns that older stores lack."""
EMPTY = (*LATER, *BUDGET)
"""Columns that may have empty cells."""
SMALL = 1000
"""Rows of a shard that several threads would only get in each other's way with."""
NUMBERS = ("sample", "first_trial", "scale")
"""Columns that are never below 0."""


def read_shard(store: Path, listed: Listed, columns: list[str] | None = None) -> pa.Table:
    """The rows of a shard, or one line that says what is wrong with it and what to do."""
    path = store / listed.file
    content = intact(path, listed)
    if content is None:
        what = "is damaged" if path.exists() else "is missing"
        raise InvalidStore(f"{path} {what}; run `dpbench store verify {store}`")
    table, wrong = parsed(content, columns)
    if wrong:
        raise InvalidStore(f"{path} {wrong}")
    return table


def intact(path: Path, listed: Listed) -> bytes | None:
    """The content of a shard, None where it is not what was written."""
    try:
        content = read_regular(path)
    except (FileNotFoundError, NotRegular):
        return None
    return content if listed.holds(content) else None


def parsed(content: bytes, columns: list[str] | None = None) -> tuple[pa.Table, str]:
    """The rows of a file, and what is wrong with them; a hash says that a file is as written, not who wrote it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    nothing = pa.Table.from_batches([], arrow_schema())
    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        wrong = _strange_schema(file.schema_arrow)
        if wrong:
            return nothing, wrong
        present = None if columns is None else [name for name in columns if name in file.schema_arrow.names]
        table = file.read(columns=present, use_threads=file.metadata.num_rows > SMALL)
    except (OSError, pa.ArrowException):
        return nothing, "cannot be read as Parquet; move it out of the store"
    return table, _strange_cells(table)


def _strange_schema(schema: pa.Schema) -> str:
    """What this version does not know of a schema."""
    version = (schema.metadata or {}).get(b"dpbench_schema", str(SCHEMA_VERSION).encode()).decode("utf-8", "replace")
    if version != str(SCHEMA_VERSION):
        return f"has schema {version[:20]!r} and this version reads {SCHEMA_VERSION}; use the version that made it"
    kinds = {field.name: field.type for field in arrow_schema()}
    for name in schema.names:
        if name not in kinds:
            return f"has the column {name[:40]!r}, which this version does not know; use the version that made it"
    if len(set(schema.names)) != len(schema.names):
        return "has two columns of one name; move it out of the store"
    for name, kind in kinds.items():
        if name not in schema.names:
            if name not in LATER:
                return f"has no column {name!r}; use the version that made it, or move it out of the store"
        elif schema.field(name).type != kind:
            return f"has {schema.field(name).type} in the column {name!r} in place of {kind}; move it out of the store"
    return ""


def _strange_cells(table: pa.Table) -> str:
    """What no row of ours holds."""
    for name in table.column_names:
        if name not in EMPTY and table[name].null_count:
            return f"has an empty cell in the column {name!r}; move it out of the store"
        if name in NUMBERS and table.num_rows and to_numpy(table[name]).min() < 0:
            return f"has a number below 0 in the column {name!r}; move it out of the store"
    held = [name for name in ERRORS if name in table.column_names]
    lengths = [list_lengths(table[name]) for name in held]
    for name, length in zip(held, lengths, strict=True):
        empty = any(chunk.values.null_count for chunk in table[name].chunks)
        if empty or not np.array_equal(length, lengths[0]):
            return f"has not one error per trial in the column {name!r}; move it out of the store"
    if "other_losses" in table.column_names and "l2" in table.column_names and not _losses_fit(table):
        return "has not one error per trial in the column 'other_losses'; move it out of the store"
    for name in ("parameters", "ledger"):
        texts = distinct_texts(table[name]) if name in table.column_names else set()
        if name == "ledger":  # nothing reads a longer one
            texts = {text for text in texts if len(text) <= LONGEST_LEDGER}
        if not all(map(_is_object, texts)):
            return f"has something else than a JSON object in the column {name!r}; move it out of the store"
    return ""


def _losses_fit(table: pa.Table) -> bool:
    """Whether every other loss of a row has as many errors as the row has trials."""
    for others, errors in zip(table["other_losses"].chunks, table["l2"].chunks, strict=True):
        if not len(others.items):
            continue
        held = others.to_pylist()
        trials = errors.value_lengths().to_pylist()
        for each, number in zip(held, trials, strict=True):
            if any(label is None or values is None or len(values) != number for label, values in each or ()):
                return False
            if any(value is None for _, values in each or () for value in values):
                return False
    return True


def _is_object(text: Any) -> bool:
    """Whether a text is a JSON object; an empty one is none, and means that there is none."""
    try:
        return text == "" or isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
