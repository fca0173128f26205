"""What ``dpbench run`` ends with: error by algorithm and scale, the competitive ones marked."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpbench.report.summary import SummaryTable
    from dpbench.store import Store


def table_rows(store: Store) -> list[dict[str, Any]]:
    """The tables for machines: one row for each table, algorithm and scale."""
    return [
        {
            "table": table.title,
            "algorithm": name,
            "scale": scale,
            "mean error": table.errors[name, scale],
            "datasets": len(table.datasets),
            "competitive on": table.wins.get((name, scale), 0),
        }
        for table in _tables(store)
        for name in table.algorithms
        for scale in table.scales
        if (name, scale) in table.errors
    ]


def print_tables(store: Store) -> None:
    """Error by algorithm and scale for everything in a store."""
    for table in _tables(store):
        _print(table)


def _tables(store: Store) -> list[SummaryTable]:
    from dpbench.report.summary import summary_tables
    from dpbench.results import Results

    return summary_tables(Results.from_store(store))


def _print(result: SummaryTable) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    number = len(result.datasets)
    title = f"{result.title}: scaled error, mean over {number} dataset{'s' * (number != 1)}"
    table = Table(box=None, pad_edge=False)
    table.add_column("algorithm")
    for scale in result.scales:
        table.add_column(f"scale {scale:.0e}".replace("e+0", "e"), justify="right")
    for name in result.algorithms:
        cells = []
        for scale in result.scales:
            wins = result.wins.get((name, scale), 0)
            error = result.errors.get((name, scale))
            cells.append(Text("-" if error is None else f"{error:.2e} " + (f"*{wins:2d}" if wins else "   ")))
        table.add_row(Text(name), *cells)
    console = Console(width=None if sys.stdout.isatty() else 200)
    console.print(Text(title, style="bold"), soft_wrap=True)
    console.print(table)
    console.print(
        f"* competitive (lowest mean error, or not significantly above it) on so many of the {number} datasets\n",
        highlight=False,
        soft_wrap=True,
    )
