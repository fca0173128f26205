"""Results as people see them: what they are in one line, short labels, small tables in HTML for a notebook."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpbench.results.markup import html_table
from dpbench.store.setting_key import BUDGET

if TYPE_CHECKING:
    from dpbench.results.grid import Grid
    from dpbench.results.results import Results

ROWS = 200
"""Rows of a list that a notebook shows."""
Row = TypeVar("Row")


class Records(list[Row]):
    """A list of records that a notebook shows as a table."""

    def _repr_html_(self) -> str:
        plain = [asdict(each) for each in self[:ROWS]]  # type: ignore[call-overload]
        columns = list(plain[0]) if plain else []
        more = f"<p>and {len(self) - ROWS} more</p>" if len(self) > ROWS else ""
        return html_table(columns, ([_words(value) for value in each.values()] for each in plain)) + more


def facts(results: Results) -> str:
    """What results are, in one line."""
    numbers = {"algorithm": len(set(results.labels.tolist()))}
    numbers |= {name: len(set(results.columns[name].tolist())) for name in ("dataset", "domain", "scale")}
    budgets = set(zip(*(results.columns[name].tolist() for name in BUDGET), strict=True))
    numbers["budget" if any(delta or rho for _, delta, rho in budgets) else "epsilon"] = len(budgets)
    return f"{len(results):,} settings: " + ", ".join(f"{n} {name}{'s' * (n != 1)}" for name, n in numbers.items())


def short_labels(results: Results) -> NDArray[Any]:
    """Labels without the marks of their form; in full where two would be the same."""
    short = {label: re.sub(r" \[[^\]]*\]$", "", label) for label in dict.fromkeys(results.labels.tolist())}
    number: dict[str, int] = {}
    for name in short.values():
        number[name] = number.get(name, 0) + 1
    return np.array([short[each] if number[short[each]] == 1 else each for each in results.labels], dtype=object)


def results_html(results: Results) -> str:
    """What results are, and mean errors over datasets by algorithm and scale."""
    means = results.grid.spread(np.where(results.whole, results.measured.mean, np.nan))

    def mean(places: NDArray[np.int64], column: int) -> str:
        there = means[places, column][np.isfinite(means[places, column])]
        return f"{there.mean():.2e}" if len(there) else "-"

    words = html.escape(f"{facts(results)}; mean {results.standards.error_words}")
    return f"<p>{words}</p>" + by_scale_html(results.grid, mean)


def by_scale_html(grid: Grid, cell: Callable[[NDArray[np.int64], int], str]) -> str:
    """A table by algorithm and scale for each workload, domain and budget; the first one open."""
    scales = grid.column("scale")
    parts: list[str] = []
    for group, places in grid.groups().items():
        used = np.flatnonzero((grid.index[places] >= 0).any(axis=0)).tolist()
        at = [places[scales[places] == scale] for scale in np.unique(scales[places])]
        rows = [[grid.labels[column], *(cell(some, column) for some in at)] for column in used]
        table = html_table(["", *(f"{scale:g}" for scale in np.unique(scales[places]))], rows)
        title = html.escape(f"{group.workload} on {group.domain}, {group.budget}, by scale")
        parts.append(f"<details{' open' if not parts else ''}><summary>{title}</summary>{table}</details>")
    return "".join(parts)


def _words(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, tuple):
        return ", ".join(f"{name} {each}" for name, each in value)
    return str(value)
