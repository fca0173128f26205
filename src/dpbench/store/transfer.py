"""Stores made one, and stores written for other programs."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from dpbench.errors import InvalidStore
from dpbench.store.conflicts import conflicts
from dpbench.store.disk import read_regular, write_whole
from dpbench.store.files import csv_cell, csv_line, json_cell, write_file
from dpbench.store.mixing import Register
from dpbench.store.order import other_losses, portions
from dpbench.store.schema import ERRORS, Row, arrow_schema, each_trial_once, to_table
from dpbench.store.setting_key import BUDGET, SETTING
from dpbench.store.store import Store

LATER = ("delta", "rho")
"""Columns that came after programs had learnt the others, and so stand behind them."""

CANONICAL = (*(name for name in SETTING if name not in LATER), "sample", "trial", *ERRORS, "failure", *LATER)
"""Columns that depend on what was asked alone: no times, no provenance."""
DERIVED = ("seconds", *BUDGET, *ERRORS)
"""Columns whose cells are not what the row holds; see ``_shared``."""
FULL = (*CANONICAL, "seed", "private", "seconds", "key", "run")


def merge(stores: Sequence[Store], out: Store) -> tuple[int, list[str]]:
    """Bring the rows of several stores together; say where their machines or versions differ.

    Rows made on different data are refused, even where they belong to different settings, and so are different results
    under one key; versions of an algorithm are kept apart.
    """
    with out.writing():
        return _merge(stores, out)


def _merge(stores: Sequence[Store], out: Store) -> tuple[int, list[str]]:
    places = [out, *stores]
    found = [store.rows(every_version=True) for store in places]
    register = Register()
    for place, rows in zip(places, found, strict=True):
        for row in rows:
            differs = register.differs(vars(row))
            if differs:
                raise InvalidStore(
                    f"{place.folder} differs from the others in {differs}; results on different data are not mixed: "
                    f"merge stores that were made in one state"
                )
    held, rows = found[0], [row for each in found for row in each]
    ends = list(accumulate(map(len, found)))
    for conflict in conflicts(to_table(rows), lambda row: str(places[bisect_right(ends, row)].folder)):
        raise InvalidStore(f"there are {conflict}; find out which is right, and merge without the other")
    known = {_content(row) for row in held}
    new = [row for row in each_trial_once(rows) if _content(row) not in known]
    records = {run: record for store in (*stores, out) for run, record in store.runs().items()}
    for run in records.keys() - out.runs().keys():
        out.record_run(run, records[run])
    for store in stores:
        _copy_answers(store, out)
    if new:
        out.append(sorted(new, key=lambda row: row.identity), "merged")
    return len(new), _differences(list(records.values()))


def _copy_answers(store: Store, out: Store) -> None:
    copied = []
    for path in sorted((store.folder / "answers").glob("*.npy")):
        target = out.folder / "answers" / path.name
        if not target.exists():
            target.parent.mkdir(exist_ok=True)
            write_whole(target, read_regular(path))
            copied.append(target)
    out.list_answers(copied)


def _differences(records: list[dict[str, Any]]) -> list[str]:
    """What differs between the machines of several runs."""
    machines = [record.get("machine", {}) for record in records]
    keys = sorted({key for machine in machines for key in machine})
    found = []
    for key in keys:
        values = sorted({str(machine.get(key, "unknown")) for machine in machines})
        if len(values) > 1:
            found.append(f"{key}: {', '.join(values)}")
    return found


def _content(row: Row) -> tuple[Any, ...]:
    """What a row holds: rows that agree in it hold the same trials and losses of the same version."""
    return row.identity, row.algorithm_source, row.trials, *sorted(row.other_losses)


def trial_rows(store: Store, columns: Sequence[str] = FULL, versions: Sequence[str] = ()) -> list[dict[str, Any]]:
    """One row per trial, sorted by setting, sample and trial; a failed unit has one row without errors.

    Losses beyond those that every row holds are columns after the others, named by their labels. Of each algorithm
    there is one version; see :meth:`Store.table`.
    """
    table = store.table(versions=versions)
    names = (*columns, *other_losses(table))
    columns_of = (_columns(rows, names) for rows in portions(table))
    return [dict(zip(names, values, strict=True)) for each in columns_of for values in zip(*each, strict=True)]


def _columns(rows: Iterable[Row], names: Sequence[str]) -> list[list[Any]]:
    """Stored rows as columns with one cell per trial."""
    columns: list[list[Any]] = [[] for _ in names]
    for row in rows:
        varying = _varying(row)
        for name, column in zip(names, columns, strict=True):
            column.extend(varying[name] if name in varying else [_shared(row, name)] * len(varying["trial"]))
    return columns


def _lines(
    rows: Iterable[Row],
    names: Sequence[str],
    before: Sequence[str],
    after: str,
    cell: Callable[[Any], str],
    numbers: Callable[[list[Any]], str],
) -> Iterator[str]:
    """Stored rows as texts, one per trial; ``before`` stands in front of each cell, ``after`` behind the last.

    What the trials of a row share is written once, by ``cell``; those that differ are written as one list, by
    ``numbers``, and put into it.
    """
    escaped = [text.replace("%", "%%") for text in before]
    for row in rows:
        varying, held = _varying(row), vars(row)
        form: list[str] = []
        lists: list[list[str]] = []
        for name, text in zip(names, escaped, strict=True):
            form.append(text)
            if name in varying:
                form.append("%s")
                lists.append(numbers(varying[name])[1:-1].split(", "))
            else:
                value = _shared(row, name) if name in DERIVED else held.get(name)
                form.append(cell(value).replace("%", "%%"))
        if varying["trial"]:
            yield from map(("".join(form) + after).__mod__, zip(*lists, strict=True))


def _varying(row: Row) -> dict[str, list[Any]]:
    """What the trials of a row differ in; a failed unit stands for one, and has no errors."""
    if row.failure:
        return {"trial": [row.first_trial]}
    errors = {name: getattr(row, name) for name in ERRORS}
    return {**errors, **row.other_losses, "trial": list(range(row.first_trial, row.stop))}


def _shared(row: Row, name: str) -> Any:
    """What all trials of a row have in a column; None where the row has nothing to say."""
    if name == "seconds":
        return row.seconds / max(row.trials, 1)
    if name in BUDGET:
        return getattr(row, name) or None  # what does not apply is empty
    return None if name in ERRORS else getattr(row, name, None)


def export(store: Store, path: Path, *, canonical: bool = False, versions: Sequence[str] = ()) -> int:
    """Write one row per trial as .csv, .json or .parquet, a portion at a time; the number of rows."""
    if path.suffix not in WRITERS:
        raise InvalidStore(f"cannot export to {path.name!r}; give a file that ends in .csv, .json or .parquet")
    table = store.table(versions=versions)
    names = (*(CANONICAL if canonical else FULL), *other_losses(table))
    number = 0

    def counted() -> Iterator[list[Row]]:
        nonlocal number
        for rows in portions(table):
            number += sum(1 if row.failure else row.trials for row in rows)
            yield rows

    write_file(path, WRITERS[path.suffix](names, counted()))
    return number


def _as_csv(names: Sequence[str], portioned: Iterable[list[Row]]) -> Iterator[bytes]:
    yield csv_line(names).encode()
    before = ["", *[","] * (len(names) - 1)]
    for rows in portioned:
        yield "".join(_lines(rows, names, before, "\n", csv_cell, repr)).encode()


def _as_json(names: Sequence[str], portioned: Iterable[list[Row]]) -> Iterator[bytes]:
    """A list with one value per line, as ``json.dumps(rows, indent=0)`` writes it."""
    opening = ["\n{\n", *[",\n"] * (len(names) - 1)]
    before = [f"{sign}{json.dumps(name)}: " for sign, name in zip(opening, names, strict=True)]
    first = "["
    for rows in portioned:
        texts = ",".join(_lines(rows, names, before, "\n}", json_cell, _json_numbers))
        if texts:
            yield (first + texts).encode()
            first = ","
    yield b"[]\n" if first == "[" else b"\n]\n"


def _json_numbers(values: list[Any]) -> str:
    """Numbers as JSON; Python shows all but NaN and infinity, which have an n, the same way, and more quickly."""
    text = repr(values)
    return json.dumps(values) if "n" in text else text


def _as_parquet(names: Sequence[str], portioned: Iterable[list[Row]]) -> Iterator[bytes]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {column.name: column.type for column in arrow_schema()}
    kinds |= dict.fromkeys(ERRORS, pa.float64()) | {"trial": pa.int64()}
    schema = pa.schema([(name, kinds.get(name, pa.float64())) for name in names])
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, schema, compression="zstd") as writer:
        for rows in portioned:
            columns = zip(_columns(rows, names), schema, strict=True)
            writer.write_table(pa.table([pa.array(values, field.type) for values, field in columns], schema=schema))
    yield sink.getvalue().to_pybytes()


WRITERS = {".csv": _as_csv, ".json": _as_json, ".parquet": _as_parquet}
"""What writes rows in the form that the ending of a file's name asks for."""
