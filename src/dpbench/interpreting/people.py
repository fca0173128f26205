"""Errors in people: what a scaled error means to who publishes a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpbench.interpreting.errors_table import Cell, scales_of
from dpbench.measuring import measure_all
from dpbench.results import Results
from dpbench.results.display import Records


@dataclass(frozen=True)
class InRecords(Cell):
    """One algorithm at one scale of one table: errors of a typical query, averaged over datasets."""

    datasets: int
    records: float
    """Root mean squared error of a query, in records."""
    percent: float
    """The same in percent of all records."""
    bad_records: float
    """The same in a bad run: by the 95th percentile instead of the mean over trials."""
    bad_percent: float


def in_records(results: Results) -> list[InRecords]:
    """Scaled errors as records and as percent of the data, for each query.

    A scaled error is e = ||W x - y||_2 / (scale q). The root mean squared error over the q queries is
    ||W x - y||_2 / sqrt(q) = e scale sqrt(q) records, that is 100 e sqrt(q) percent of the data. Workloads whose number
    of queries is not known are left out.
    """
    grid, measured = results.grid, measure_all(results.errors)
    root = np.sqrt(np.where(results.columns["queries"] > 0, results.columns["queries"], np.nan))
    usable = np.where(results.whole, root, np.nan)
    typical, bad = grid.spread(measured.mean * usable), grid.spread(measured.percentile * usable)
    found = []
    for group, scale, places in scales_of(grid):
        for column, label in enumerate(grid.labels):
            kept = places[np.isfinite(typical[places, column])]
            if len(kept):
                mean, high = float(typical[kept, column].mean()), float(bad[kept, column].mean())
                told = (mean * scale, 100 * mean, high * scale, 100 * high)
                found.append(InRecords(*group, scale, label, len(kept), *told))
    return Records(found)
