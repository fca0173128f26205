"""Errors by algorithm and scale, averaged over datasets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpbench.results import Grid, Results
from dpbench.results.display import Records
from dpbench.store.setting_key import Group


@dataclass(frozen=True)
class AlgorithmAtScale:
    """One algorithm at one scale of one table; each kind of table adds its numbers."""

    task: str
    workload: str
    domain: str
    epsilon: float
    seed: int
    delta: float
    rho: float
    scale: int
    algorithm: str
    """With its form."""

    @property
    def group(self) -> Group:
        """The table that it belongs to."""
        return Group(self.task, self.workload, self.domain, self.epsilon, self.seed, self.delta, self.rho)


@dataclass(frozen=True)
class ErrorCell(AlgorithmAtScale):
    """Averages over the datasets of a table."""

    datasets: int
    failed: int
    """Datasets with failed units, left out."""
    standard_error: float
    """Of the mean below, over data vectors and noise; datasets are as given."""
    mean: float
    """Mean over datasets of the mean error."""
    deviation: float
    """Mean over datasets of the deviation of a single trial."""
    percentile: float
    """Mean over datasets of the percentile of the standards."""
    percentile_low: float
    percentile_high: float
    """Means over datasets of the ends of the percentile's intervals."""
    population_error: float
    """Mean over datasets of the L2 error against the expected counts of the shape; NaN by another loss."""


def scales_of(grid: Grid) -> list[tuple[Group, int, NDArray[np.int64]]]:
    """Every table and scale with the numbers of its places."""
    scales = grid.column("scale")
    return [
        (group, int(scale), places[scales[places] == scale])
        for group, places in grid.groups().items()
        for scale in np.unique(scales[places])
    ]


def error_cells(results: Results) -> list[ErrorCell]:
    """Errors of every algorithm at every scale, table after table."""
    Results.insist(results)
    grid, measured = results.grid, results.measured
    whole = grid.spread(results.whole) == 1
    named = ("mean", "deviation", "percentile", "percentile_low", "percentile_high")
    spread = [grid.spread(getattr(measured, name)) for name in named]
    known = results.standards.loss == "L2"
    spread.append(grid.spread(np.where(known, results.columns["population_error"], np.nan)))
    errors = grid.spread(measured.standard_error)
    cells = []
    for group, scale, places in scales_of(grid):
        for column, label in enumerate(grid.labels):
            kept = places[whole[places, column]]
            failed = int((grid.index[places, column] >= 0).sum()) - len(kept)
            if not (len(kept) or failed):
                continue
            averages = [float(np.mean(values[kept, column])) if len(kept) else np.nan for values in spread]
            error = float(np.sqrt((errors[kept, column] ** 2).sum()) / len(kept)) if len(kept) else np.nan
            cells.append(ErrorCell(*group, scale, label, len(kept), failed, error, *averages))
    return Records(cells)
