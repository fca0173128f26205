"""Errors in records: what a scaled error means for someone publishing a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dpbench.interpreting.errors_table import AlgorithmAtScale, scales_of
from dpbench.results import Results
from dpbench.results.display import Records


@dataclass(frozen=True)
class PerQuery:
    """How a scaled error becomes an error of one query."""

    words: str
    """What that error is."""
    power: float
    """The scaled error times the scale times the number of queries to this power."""


PER_QUERY: Mapping[str, PerQuery] = {
    "L2": PerQuery("root mean squared error", 0.5),
    "L1": PerQuery("mean absolute error", 0.0),
    "Linf": PerQuery("largest error", 1.0),
}
"""By loss. An L_p error is e = ||W x - y||_p / (scale q); ||W x - y||_p / q^(1/p) is the mean of order p over the q
queries, in records, and that is e scale q^(1 - 1/p)."""


@dataclass(frozen=True)
class InRecords(AlgorithmAtScale):
    """One algorithm at one scale of one table: errors of a query, averaged over datasets."""

    datasets: int
    records: float
    """Error of a query, in records: root mean squared, mean absolute or largest, as the loss says."""
    percent: float
    """The same in percent of all records."""
    bad_records: float
    """The same in a bad run: by the percentile of the standards instead of the mean over trials."""
    bad_percent: float


def in_records(results: Results) -> list[InRecords]:
    """Scaled errors as records and as percent of the data, for each query.

    Workloads whose number of queries is not known are left out, and so is everything by a loss that is no norm over the
    queries; see ``PER_QUERY``.
    """
    Results.insist(results)
    if results.standards.loss not in PER_QUERY:
        return Records([])
    grid, measured = results.grid, results.measured
    queries = results.columns["queries"].astype(np.float64)
    power = PER_QUERY[results.standards.loss].power
    usable = np.where(results.whole & (queries > 0), np.maximum(queries, 1) ** power, np.nan)
    typical, bad = grid.spread(measured.mean * usable), grid.spread(measured.percentile * usable)
    found = []
    for group, scale, places in scales_of(grid):
        for column, label in enumerate(grid.labels):
            kept = places[np.isfinite(typical[places, column])]
            if len(kept):
                mean, high = float(typical[kept, column].mean()), float(bad[kept, column].mean())
                numbers = (mean * scale, 100 * mean, high * scale, 100 * high)
                found.append(InRecords(*group, scale, label, len(kept), *numbers))
    return Records(found)
