"""Stores made one, and stores written for other programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dpbench.errors import InvalidStore
from dpbench.store.schema import SETTING, Row
from dpbench.store.store import Store, write_whole

ERRORS = ("l2", "l1", "linf", "population_l2")
CANONICAL = (*SETTING, "sample", "trial", *ERRORS, "failure")
"""Columns that depend on what was asked alone: no times, no provenance."""
FULL = (*CANONICAL, "seed", "private", "seconds", "key", "run")


def merge(stores: Sequence[Store], out: Store) -> tuple[int, list[str]]:
    """Bring the rows of several stores together; say where their machines or versions differ.

    Rows of one unit with different sources are refused: they are results of different code or data.
    """
    rows: dict[tuple[Any, ...], Row] = {}
    for store in (*stores, out):
        for row in store.rows():
            known = rows.get(row.identity)
            if known is not None and known.key != row.key:
                raise InvalidStore(
                    f"{store.folder} and another store hold {row.algorithm} on {row.dataset} at scale {row.scale} "
                    f"made by different code or data ({known.key[:8]} and {row.key[:8]}); results are not mixed"
                )
            if known is None or (known.failure and not row.failure):
                rows[row.identity] = row
    present = {row.identity for row in out.rows()}
    runs = {run: record for store in stores for run, record in store.runs().items()}
    for run, record in runs.items():
        out.record_run(run, record)
    new = [row for identity, row in rows.items() if identity not in present]
    if new:
        out.append(sorted(new, key=lambda row: row.identity), "merged")
    return len(new), _differences(list(runs.values()))


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


def trial_rows(store: Store, columns: Sequence[str] = FULL) -> list[dict[str, Any]]:
    """One row a trial, sorted by setting, sample and trial; a failed unit has one row without errors."""
    result: list[dict[str, Any]] = []
    for row in sorted(store.rows(), key=lambda row: row.identity):
        shared = {name: getattr(row, name) for name in columns if hasattr(row, name)}
        shared["seconds"] = row.seconds / max(row.trials, 1)
        if row.failure:
            result.append(
                {**shared, "trial": row.first_trial, "l2": None, "l1": None, "linf": None, "population_l2": None}
            )
        for place in range(row.trials):
            errors = {name: getattr(row, name)[place] for name in ERRORS}
            result.append({**shared, **errors, "trial": row.first_trial + place})
    return [{name: each[name] for name in columns} for each in result]


def export(store: Store, path: Path, *, canonical: bool = False) -> int:
    """Write one row a trial as .csv, .json or .parquet; the number of rows."""
    columns = CANONICAL if canonical else FULL
    rows = trial_rows(store, columns)
    if path.suffix == ".csv":
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        write_whole(path, text.getvalue().encode())
    elif path.suffix == ".json":
        write_whole(path, (json.dumps(rows, indent=0) + "\n").encode())
    elif path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        sink = pa.BufferOutputStream()
        pq.write_table(pa.Table.from_pylist(rows), sink, compression="zstd")
        write_whole(path, sink.getvalue().to_pybytes())
    else:
        raise InvalidStore(f"cannot export to {path.name!r}; give a file that ends in .csv, .json or .parquet")
    return len(rows)
