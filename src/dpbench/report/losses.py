"""The same settings under the other losses that a store keeps."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from dpbench.measuring import Measurements, measure_all
from dpbench.results import Results
from dpbench.store import Store

LOSSES = ("l1", "linf")
"""Beside L2, which every summary has."""


def other_losses(path: str | PathLike[str]) -> dict[str, Measurements]:
    """Measurements of each setting of a store under L1 and L-infinity, in the order of its results.

    A summary file keeps L2 alone, so that it gives none.
    """
    from dpbench.results.reading import settings_of

    if Path(path).is_file():
        return {}
    table = Store(path).table()
    place = table.column_names.index("l2")
    return {name: measure_all(settings_of(table.set_column(place, "l2", table[name]))[1]) for name in LOSSES}


def open_all(path: str | PathLike[str]) -> tuple[Results, dict[str, Measurements]]:
    """Results of a store or summary, and what other losses say of them."""
    return Results.open(path), other_losses(path)
