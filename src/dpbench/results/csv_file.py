"""Results for other programs: one row per setting."""

from __future__ import annotations

from dataclasses import fields
from os import PathLike
from typing import Any

from dpbench.given import as_path
from dpbench.measuring import Measurement
from dpbench.results.results import COLUMNS, Results
from dpbench.store.files import csv_text, known, write_file

MEASURED = tuple(each.name for each in fields(Measurement))


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
    path = as_path(path, "the file to write")
    rows = setting_rows(Results.insist(results))
    write_rows(path, rows, ("label", *COLUMNS, *MEASURED, "loss", "percentile_level"))
    return len(rows)


def write_rows(path: str | PathLike[str], rows: list[dict[str, Any]], names: tuple[str, ...] = ()) -> None:
    """Write rows as CSV, whole or not at all; numbers that are not known are empty."""
    names = names or tuple(dict.fromkeys(name for row in rows for name in row))
    write_file(path, csv_text(names, known(rows)).encode())
