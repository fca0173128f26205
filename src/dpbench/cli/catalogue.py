"""``dpbench list``: what there is."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dpbench.cli.arguments import add_verb

if TYPE_CHECKING:
    from dpbench.cli.arguments import Subparsers

Row = dict[str, Any]


def add_parser(subparsers: Subparsers) -> None:
    """Add ``list``."""
    parser = add_verb(
        subparsers,
        "list",
        "algorithms, datasets, workloads, losses, suites",
        "List what there is, as a table or as JSON.",
        "dpbench list algorithms\n  dpbench list datasets --json",
    )
    parser.add_argument("what", choices=tuple(LISTS), help="which catalogue")
    parser.add_argument("--json", action="store_true", help="write JSON")
    parser.set_defaults(run=run_list)


def run_list(chosen: argparse.Namespace) -> int:
    """Print one catalogue."""
    rows = LISTS[chosen.what]()
    if chosen.json:
        sys.stdout.write(json.dumps(rows, indent=1) + "\n")
    else:
        _print(rows)
    return 0


def _algorithms() -> list[Row]:
    from dpbench import algorithms

    return [
        {
            "name": name,
            "dimensions": " ".join(f"{axes}-D" for axes in kind.dimensions) if kind.dimensions else "any",
            "data-dependent": kind.data_dependent,
            "hierarchical": kind.hierarchical,
            "partitioning": kind.partitioning,
            "side information": " ".join(kind.side_information),
            "parameters": {parameter: str(value) for parameter, value in kind.defaults().items()},
            "published form": _published(kind.defaults(), kind.defaults("published"), kind.not_private),
            "paper": kind.paper,
        }
        for name, kind in algorithms.catalogue().items()
    ]


def _published(private: Any, published: Any, not_private: str) -> str:
    changed = [f"{name} = {value}" for name, value in published.items() if value != private[name]]
    if not_private:
        return f"not private: {not_private}"
    return f"private too, with {', '.join(changed)}" if changed else ""


def _datasets() -> list[Row]:
    from dpbench import datasets

    return [
        {
            "name": dataset.name,
            "domain": str(dataset.domain),
            "scale": dataset.scale,
            "% zero": dataset.percent_zero,
            "paper's scale": dataset.paper_scale,
            "paper's % zero": dataset.paper_percent_zero,
            "about": dataset.about,
        }
        for dataset in datasets.DATASETS.values()
    ]


def _workloads() -> list[Row]:
    from dpbench import workloads

    return [{"name": name, "about": getattr(workloads, name).describe()} for name in workloads.names()]


def _losses() -> list[Row]:
    from dataclasses import fields

    from dpbench.loss import LOSSES

    return [
        {
            "name": name,
            "parameters": {each.name: each.default for each in fields(kind)},
            "about": kind.describe(),
        }
        for name, kind in LOSSES.items()
    ]


def _suites() -> list[Row]:
    from dpbench.run.suites import SUITES

    return [{"name": suite.name, "about": suite.about} for suite in SUITES.values()]


LISTS: dict[str, Callable[[], list[Row]]] = {
    "algorithms": _algorithms,
    "datasets": _datasets,
    "workloads": _workloads,
    "losses": _losses,
    "suites": _suites,
}


NOTES = ("published form", "paper", "about")
"""What is too long for a column and goes on a line of its own."""


def _print(rows: list[Row]) -> None:
    """One line of facts a row, aligned, then its notes indented."""
    columns = [heading for heading in rows[0] if heading not in NOTES]
    cells = [columns, *([_cell(row[heading]) for heading in columns] for row in rows)]
    widths = [max(len(line[place]) for line in cells) for place in range(len(columns))]
    for number, line in enumerate(cells):
        aligned = "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        sys.stdout.write(aligned + "\n")
        notes = rows[number - 1] if number else {}
        for heading in NOTES:
            if notes.get(heading):
                label = "" if heading == "about" else f"{heading}: "
                sys.stdout.write(f"    {label}{notes[heading]}\n")


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "-"
    if isinstance(value, dict):
        return ", ".join(f"{name}={setting}" for name, setting in value.items()) or "-"
    return "-" if value in (None, "") else f"{value:,}" if isinstance(value, int) else str(value)
