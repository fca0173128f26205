"""What ``dpbench run`` ends with: error by algorithm and scale, the competitive ones marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpbench.page.summary import SummaryTable
    from dpbench.standards import Standards
    from dpbench.store import Store


def table_rows(store: Store) -> list[dict[str, Any]]:
    """The tables for machines: one row for each table, algorithm and scale."""
    return [
        {
            "table": table.title,
            "algorithm": name,
            "scale": scale,
            "loss": standards.loss,
            "mean error": table.errors[name, scale],
            "percentile": standards.percentile,
            "percentile error": table.percentiles[name, scale],
            "datasets": len(table.datasets),
            "competitive on": table.wins.get((name, scale), 0),
            "over the best baseline": table.over.get((name, scale)),
        }
        for table, standards in _tables(store)
        for name, scale in _keys(table)
    ]


def print_tables(store: Store) -> None:
    """Error by algorithm and scale for everything in a store."""
    from dpbench.cli.text_tables import write_pivot
    from dpbench.interpreting import find_test

    for table, standards in _tables(store):
        number = len(table.datasets)
        measured = f"{standards.error_words}, mean and {standards.percentile_words}"
        best = f"best by {find_test(standards.test).measure_words(standards)}, or not significantly worse"
        write_pivot(
            f"{table.title}: {measured}, over {number} dataset{'s' * (number != 1)}",
            {key: _cell(table, key) for key in _keys(table)},
            f"* n: competitive on n of {number} dataset{'s' * (number != 1)} ({best}) {table.family}\n"
            + _beating(table, standards.baselines),
        )


def _beating(table: SummaryTable, wanted: Sequence[str]) -> str:
    """Which algorithms have a lower mean error than every baseline that is there, in one line."""
    if not table.baselines:
        return f"no algorithm is here beside a baseline ({', '.join(wanted)})"
    ratios: dict[str, list[float]] = {}
    for (name, _), ratio in table.over.items():
        ratios.setdefault(name, []).append(ratio)
    always = [name for name, several in ratios.items() if max(several) < 1]
    sometimes = [name for name, several in ratios.items() if min(several) < 1 and name not in always]
    parts = {"at every scale": always, "at some scales": sometimes}
    words = "; ".join(f"{', '.join(names)} {where}" for where, names in parts.items() if names)
    return f"below each baseline ({', '.join(table.baselines)}) by mean: {words or 'none'}"


def _tables(store: Store) -> Iterator[tuple[SummaryTable, Standards]]:
    """Tables of all tasks of a store, each with the standards of its own plan."""
    from dpbench.page.summary import summary_tables
    from dpbench.results import Results

    for results in Results._readings(store):
        for table in summary_tables(results):
            yield table, results.standards


def _keys(table: SummaryTable) -> list[tuple[str, int]]:
    """Algorithms and scales that have an error, algorithm after algorithm."""
    return [(name, scale) for name in table.algorithms for scale in table.scales if (name, scale) in table.errors]


def _cell(table: SummaryTable, key: tuple[str, int]) -> str:
    wins = table.wins.get(key, 0)
    return f"{table.errors[key]:.2e} {table.percentiles[key]:.2e}" + (f" *{wins:2d}" if wins else "")
