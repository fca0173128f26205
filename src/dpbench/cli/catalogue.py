"""``dpbench list``: what there is."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from dpbench.cli.arguments import add_json, add_verb, write_json

if TYPE_CHECKING:
    from dpbench.algorithm import Algorithm
    from dpbench.cli.arguments import Subparsers

Row = dict[str, Any]
SMALL = ("16", "4x4", "4x2x2")
"""Domains on which a plug-in is asked what its ledger says."""


def add_parser(subparsers: Subparsers) -> None:
    """Add ``list``."""
    parser = add_verb(
        subparsers,
        "list",
        "algorithms, datasets, workloads, losses, suites",
        "List what there is, as a table or as JSON.",
        "dpbench list algorithms\n  dpbench list datasets --json",
    )
    parser.add_argument("catalogue", choices=tuple(LISTS), help="what to list")
    add_json(parser)
    parser.set_defaults(run=run_list)


def run_list(chosen: argparse.Namespace) -> int:
    """Print one catalogue."""
    rows = LISTS[chosen.catalogue]()
    if chosen.json:
        write_json(rows)
    else:
        _print(rows)
    return 0


def _algorithms() -> list[Row]:
    from dpbench import algorithms
    from dpbench.releasable import why_not

    return [
        {
            "name": name,
            "dimensions": " ".join(f"{axes}-D" for axes in kind.dimensions) if kind.dimensions else "any",
            "data-dependent": kind.data_dependent,
            "hierarchical": kind.hierarchical,
            "partitioning": kind.partitioning,
            "side information": " ".join(kind.side_information),
            "notions": " ".join(kind.notions),
            "release": not why_not(name),
            "parameters": {parameter: str(value) for parameter, value in kind.defaults().items()},
            "published form": _published(kind.defaults(), kind.defaults("published"), kind.not_private),
            "not released": why_not(name),
            "paper": kind.paper,
            "privacy": _privacy(kind),
        }
        for name, kind in algorithms.everything().items()
    ]


def _published(private: Any, published: Any, not_private: str) -> str:
    changed = [f"{name} = {value}" for name, value in published.items() if value != private[name]]
    if not_private:
        return f"not private: {not_private}"
    return f"private too, with {', '.join(changed)}" if changed else ""


def _privacy(kind: type[Algorithm]) -> str:
    """What a plug-in's ledger says of it on a small domain, if it asks with a mechanism of its own; else nothing."""
    from dpbench.audit.subject import workload_for
    from dpbench.domain import Domain
    from dpbench.privacy.ledger import BY_ITS_OWN

    if kind.__module__.startswith("dpbench."):
        return ""
    for written in SMALL:
        with suppress(Exception):  # a stranger's code may raise anything; its check says what
            ledger = kind().explain(written, workload_for(Domain.of(written)), 1).ledger
            return BY_ITS_OWN if ledger.own_mechanisms else ""
    return ""


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


NOTES = ("published form", "not released", "paper", "privacy", "about")
"""What is too long for a column and goes on a line of its own."""


def _print(rows: list[Row]) -> None:
    """One line of facts a row, aligned, then its notes indented."""
    from dpbench.cli.text_tables import aligned

    columns = [heading for heading in rows[0] if heading not in NOTES]
    cells = [columns, *([_cell(row[heading]) for heading in columns] for row in rows)]
    for number, line in enumerate(aligned(cells)):
        sys.stdout.write(line + "\n")
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
