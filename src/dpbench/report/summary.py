"""A store in one look: error by algorithm and scale, the competitive ones marked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from dpbench.domain import Domain
from dpbench.interpreting import competitive
from dpbench.measuring import measure
from dpbench.store import Row


@dataclass
class SummaryTable:
    """Errors on one workload, domain and epsilon: by algorithm and scale, averaged over datasets."""

    title: str
    datasets: list[str] = field(default_factory=list)
    scales: list[int] = field(default_factory=list)
    algorithms: list[str] = field(default_factory=list)
    errors: dict[tuple[str, int], float] = field(default_factory=dict)
    """Mean error over datasets, by algorithm and scale."""
    wins: dict[tuple[str, int], int] = field(default_factory=dict)
    """On how many datasets the algorithm is competitive."""


def algorithm_label(row: Row) -> str:
    """An algorithm with what differs from its plain private form; a form that is not private says so."""
    settings = row.parameters.strip("{}").replace('"', "").replace(": ", "=")
    marks = [row.variant] if row.variant != "private" else []
    marks += ["public scale"] if row.side_information == "public" else []
    marks += ["not private"] if not row.private else []
    return row.algorithm + (f"({settings})" if settings else "") + (f" [{', '.join(marks)}]" if marks else "")


def summary_tables(rows: Iterable[Row]) -> list[SummaryTable]:
    """One table for each task, workload, domain and epsilon; the order in which rows were stored leaves no trace."""
    groups: dict[tuple[str, str, str, float], dict[tuple[str, int], dict[str, list[float]]]] = {}
    for row in sorted(rows, key=lambda row: row.identity):
        if not row.failure:
            place = groups.setdefault((row.task, row.workload, row.domain, row.epsilon), {})
            cell = place.setdefault((row.dataset, row.scale), {})
            cell.setdefault(algorithm_label(row), []).extend(row.l2)
    ordered = sorted(groups, key=lambda key: (key[0], key[1], Domain.of(key[2]).size, key[3]))
    return [_table(key, groups[key]) for key in ordered]


def _table(key: tuple[str, str, str, float], cells: dict[tuple[str, int], dict[str, list[float]]]) -> SummaryTable:
    _, workload, domain, epsilon = key
    names = list(dict.fromkeys(name for errors in cells.values() for name in errors))
    table = SummaryTable(
        title=f"{workload} on {domain}, epsilon {epsilon:g}",
        datasets=list(dict.fromkeys(dataset for dataset, _ in cells)),
        scales=sorted({scale for _, scale in cells}),
        algorithms=names,
    )
    for scale in table.scales:
        settings = [errors for (_, at), errors in cells.items() if at == scale]
        winners = [_winners(errors) for errors in settings]
        for name in names:
            means = [sum(errors[name]) / len(errors[name]) for errors in settings if name in errors]
            if means:
                table.errors[name, scale] = sum(means) / len(means)
                table.wins[name, scale] = sum(name in best for best in winners)
    return table


def _winners(errors: dict[str, list[float]]) -> set[str]:
    """The competitive algorithms of a setting; nobody where a single trial says nothing of variability."""
    if any(len(values) < 2 for values in errors.values()):
        return set()
    return competitive({name: measure(values) for name, values in errors.items()})
