"""Results for other programs: one row per setting."""

from __future__ import annotations

import csv
import io
from dataclasses import fields
from os import PathLike
from pathlib import Path
from typing import Any

from dpbench.errors import InvalidStore
from dpbench.measuring import Measurements
from dpbench.results.results import COLUMNS, Results
from dpbench.store.store import write_whole

MEASURED = tuple(each.name for each in fields(Measurements))


def setting_rows(results: Results) -> list[dict[str, Any]]:
    """One row per setting: what it is, what was measured of it, where it comes from."""
    measured = results.measured
    columns = {name: results.columns[name].tolist() for name in COLUMNS}
    columns |= {name: getattr(measured, name).tolist() for name in MEASURED}
    columns["label"] = results.labels.tolist()
    columns["loss"] = [results.standards.loss] * len(results)
    columns["percentile_level"] = [results.standards.percentile] * len(results)
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def export_csv(results: Results, path: str | PathLike[str]) -> int:
    """Write one row per setting; the number of rows."""
    rows = setting_rows(results)
    write_rows(path, rows, ("label", *COLUMNS, *MEASURED, "loss", "percentile_level"))
    return len(rows)


def write_rows(path: str | PathLike[str], rows: list[dict[str, Any]], names: tuple[str, ...] = ()) -> None:
    """Write rows as CSV, whole or not at all; numbers that are not known are empty."""
    text = io.StringIO()
    writer = csv.DictWriter(
        text, names or tuple(dict.fromkeys(name for row in rows for name in row)), lineterminator="\n"
    )
    writer.writeheader()
    writer.writerows({name: "" if value != value else value for name, value in row.items()} for row in rows)  # noqa: PLR0124
    try:
        write_whole(Path(path), text.getvalue().encode())
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InvalidStore(f"cannot write {path}: {reason}; give a file in a folder that exists") from None
