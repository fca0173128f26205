"""Errors over the limit: how far an algorithm is from what no unbiased strategy can pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dpbench.given import of_kind
from dpbench.interpreting.errors_table import AlgorithmAtScale, error_cells, scales_of
from dpbench.measuring.yardstick import LOSS, Yardstick
from dpbench.results import Results
from dpbench.results.display import Records
from dpbench.store.setting_key import Group


@dataclass(frozen=True)
class AboveLimit(AlgorithmAtScale):
    """One algorithm at one scale of one table, beside the limit and the best known strategy."""

    datasets: int
    mean: float
    """Mean error over datasets."""
    limit: float
    """The limit as an error of the benchmark, at its root mean square."""
    best: float
    """The best known strategy's, likewise."""
    strategy: str
    """Which algorithm that is."""
    noise: str
    """The noise of the strategies that the limit bounds: Laplace or Gaussian."""

    @property
    def over_limit(self) -> float:
        """Mean error over the limit; below 1: biased or dependent on the data, and by how much that pays."""
        return self.mean / self.limit

    @property
    def over_best(self) -> float:
        """Mean error over that of the best known strategy."""
        return self.mean / self.best


def above_limits(results: Results, yardsticks: Mapping[Group, Yardstick]) -> list[AboveLimit]:
    """Errors beside the limit, by algorithm and scale, for the L2 loss and workloads whose queries are counted."""
    Results.insist(results)
    of_kind(yardsticks, Mapping, "what holds the yardsticks", "{}")
    if results.standards.loss != LOSS:
        return Records([])
    queries = queries_of(results)
    found = []
    for cell in error_cells(results):
        known = yardsticks.get(cell.group)
        if known is None or not queries[cell.group] or not cell.datasets:
            continue
        many = queries[cell.group]
        found.append(
            AboveLimit(
                *(*cell.group, cell.scale, cell.algorithm, cell.datasets, cell.mean),
                known.scaled_limit(cell.scale, many),
                known.scaled_best(cell.scale, many),
                known.algorithm,
                known.noise,
            )
        )
    return Records(found)


def queries_of(results: Results) -> dict[Group, int]:
    """The number of queries of every table's workload; 0 where it is not known."""
    grid, queries = results.grid, results.columns["queries"]
    found: dict[Group, int] = {}
    for group, _, places in scales_of(grid):
        numbers = grid.index[places]
        found[group] = max(found.get(group, 0), int(queries[numbers[numbers >= 0]].max(initial=0)))
    return found
