"""Stores made one, and stores written for other programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dpbench.errors import InvalidStore
from dpbench.store.files import csv_text, write_file
from dpbench.store.mixing import Register
from dpbench.store.schema import ERRORS, Row, arrow_schema, each_trial_once
from dpbench.store.setting_key import BUDGET, SETTING
from dpbench.store.store import Store, write_whole

LATER = ("delta", "rho")
"""Columns that came after programs had learnt the others, and so stand behind them."""

CANONICAL = (*(name for name in SETTING if name not in LATER), "sample", "trial", *ERRORS, "failure", *LATER)
"""Columns that depend on what was asked alone: no times, no provenance."""
FULL = (*CANONICAL, "seed", "private", "seconds", "key", "run")


def merge(stores: Sequence[Store], out: Store) -> tuple[int, list[str]]:
    """Bring the rows of several stores together; say where their machines or versions differ.

    Rows made on different data are refused, even where they belong to different settings; versions of an algorithm are
    kept apart.
    """
    held = out.rows(every_version=True)
    register, rows = Register(), list(held)
    for place, found in [(out, held), *((store, store.rows(every_version=True)) for store in stores)]:
        for row in found:
            differs = register.differs(vars(row))
            if differs:
                raise InvalidStore(
                    f"{place.folder} differs from the others in {differs}; results on different data are not mixed: "
                    f"merge stores that were made in one state"
                )
        rows += found if place is not out else []
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
    for path in sorted((store.folder / "answers").glob("*.npy")):
        target = out.folder / "answers" / path.name
        if not target.exists():
            target.parent.mkdir(exist_ok=True)
            write_whole(target, path.read_bytes())


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
    rows = sorted(store.rows(versions=versions), key=lambda row: row.identity)
    labels = sorted({label for row in rows for label in row.other_losses})
    result: list[dict[str, Any]] = []
    for row in rows:
        shared = {name: getattr(row, name) for name in columns if hasattr(row, name)} | dict.fromkeys(labels)
        shared |= {name: getattr(row, name) or None for name in BUDGET}  # what does not apply is empty
        shared["seconds"] = row.seconds / max(row.trials, 1)
        if row.failure:
            result.append({**shared, **dict.fromkeys(ERRORS), "trial": row.first_trial})
        for place in range(row.trials):
            errors = {name: getattr(row, name)[place] for name in ERRORS}
            others = {label: values[place] for label, values in row.other_losses.items()}
            result.append({**shared, **errors, **others, "trial": row.first_trial + place})
    return [{name: each[name] for name in (*columns, *labels)} for each in result]


def export(store: Store, path: Path, *, canonical: bool = False, versions: Sequence[str] = ()) -> int:
    """Write one row per trial as .csv, .json or .parquet; the number of rows."""
    columns = CANONICAL if canonical else FULL
    if path.suffix not in {".csv", ".json", ".parquet"}:
        raise InvalidStore(f"cannot export to {path.name!r}; give a file that ends in .csv, .json or .parquet")
    rows = trial_rows(store, columns, versions)
    write_file(path, _written(rows, tuple(rows[0]) if rows else columns, path.suffix))
    return len(rows)


def _written(rows: list[dict[str, Any]], columns: Sequence[str], suffix: str) -> bytes:
    """Rows in the form that the ending of a file's name asks for."""
    if suffix == ".csv":
        return csv_text(columns, rows).encode()
    if suffix == ".json":
        return (json.dumps(rows, indent=0) + "\n").encode()
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {column.name: column.type for column in arrow_schema()}
    kinds |= dict.fromkeys(ERRORS, pa.float64()) | {"trial": pa.int64()}
    sink = pa.BufferOutputStream()
    table = pa.Table.from_pylist(rows, schema=pa.schema([(name, kinds.get(name, pa.float64())) for name in columns]))
    pq.write_table(table, sink, compression="zstd")
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]
