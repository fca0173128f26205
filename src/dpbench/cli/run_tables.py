"""What ``dpbench run`` ends with: error by algorithm and scale, the competitive ones marked."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpbench.page.summary import SummaryTable
    from dpbench.results import Results
    from dpbench.standards import Standards
    from dpbench.store import Store


@dataclass(frozen=True)
class RunTable:
    """One table with the standards that it is read by."""

    summary: SummaryTable
    standards: Standards
    percentiles: dict[tuple[str, int], float]
    """Mean over datasets of the percentile of the error, by algorithm and scale."""


def table_rows(store: Store) -> list[dict[str, Any]]:
    """The tables for machines: one row for each table, algorithm and scale."""
    return [
        {
            "table": table.summary.title,
            "algorithm": name,
            "scale": scale,
            "loss": table.standards.loss,
            "mean error": table.summary.errors[name, scale],
            "percentile": table.standards.percentile,
            "percentile error": table.percentiles[name, scale],
            "datasets": len(table.summary.datasets),
            "competitive on": table.summary.wins.get((name, scale), 0),
        }
        for table in _tables(store)
        for name in table.summary.algorithms
        for scale in table.summary.scales
        if (name, scale) in table.summary.errors
    ]


def print_tables(store: Store) -> None:
    """Error by algorithm and scale for everything in a store."""
    for table in _tables(store):
        _print(table)


def _tables(store: Store) -> Iterator[RunTable]:
    """Tables of all tasks of a store, each by the standards of its own plan."""
    from dpbench.page.summary import summary_tables
    from dpbench.results import Results

    for results in Results.readings(store):
        measured = results.take(results.whole)
        for table, each in zip(summary_tables(measured), _percentiles(measured), strict=True):
            yield RunTable(table, results.standards, each)


def _percentiles(results: Results) -> Iterator[dict[tuple[str, int], float]]:
    """Percentiles by algorithm and scale, averaged over datasets, of every table of some results."""
    import numpy as np

    grid, scales = results.grid, results.grid.column("scale")
    spread = grid.spread(results.measured.percentile)
    for places in grid.groups().values():
        at = {int(scale): spread[places[scales[places] == scale]] for scale in np.unique(scales[places])}
        yield {
            (label, scale): float(np.nanmean(values[:, column]))
            for scale, values in at.items()
            for column, label in enumerate(grid.labels)
            if np.isfinite(values[:, column]).any()
        }


def _print(result: RunTable) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    summary, standards = result.summary, result.standards
    number = len(summary.datasets)
    table = Table(box=None, pad_edge=False)
    table.add_column("algorithm")
    for scale in summary.scales:
        table.add_column(f"scale {scale:.0e}".replace("e+0", "e"), justify="right")
    for name in summary.algorithms:
        cells = []
        for key in ((name, scale) for scale in summary.scales):
            wins = summary.wins.get(key, 0)
            errors = f"{summary.errors[key]:.2e} {result.percentiles[key]:.2e} " if key in summary.errors else ""
            cells.append(Text(errors + (f"*{wins:2d}" if wins else "   ") if errors else "-"))
        table.add_row(Text(name), *cells)
    console = Console(width=None if sys.stdout.isatty() else 200)
    measured = f"{standards.error_words}, mean and {standards.percentile_words}"
    title = f"{summary.title}: {measured}, over {number} dataset{'s' * (number != 1)}"
    console.print(Text(title, style="bold"), soft_wrap=True)
    console.print(table)
    console.print(
        f"* competitive (lowest mean error, or not significantly above it) on so many of the {number} datasets\n",
        highlight=False,
        soft_wrap=True,
    )
