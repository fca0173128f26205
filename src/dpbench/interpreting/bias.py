"""Bias and variance: whether error would go away with more trials, or stay."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpbench.interpreting.errors_table import AlgorithmAtScale, scales_of
from dpbench.results import Results
from dpbench.results.display import Records


@dataclass(frozen=True)
class BiasShare(AlgorithmAtScale):
    """One algorithm at one scale of one table: where its squared error comes from, averaged over datasets."""

    datasets: int
    bias: float
    """Root of the mean squared bias of a query, in records; 0 where no bias shows."""
    deviation: float
    """Root of the mean variance of a query's answer, in records."""
    share: float
    """Mean over datasets of the share of bias in the squared error; below 0 by chance where there is none."""
    largest: float
    """The largest share on any dataset."""


def bias_shares(results: Results) -> list[BiasShare]:
    """Bias and variance of the answers, corrected for the number of trials; see :class:`Setting`."""
    Results.insist(results)
    grid = results.grid
    bias = grid.spread(np.where(results.whole, results.columns["squared_bias"], np.nan))
    variance = grid.spread(results.columns["variance"])
    with np.errstate(divide="ignore", invalid="ignore"):
        share = bias / (bias + variance)
    found = []
    for group, scale, places in scales_of(grid):
        for column, label in enumerate(grid.labels):
            kept = places[np.isfinite(share[places, column])]
            if len(kept):
                shares = (
                    float(np.sqrt(max(bias[kept, column].mean(), 0.0))),
                    float(np.sqrt(variance[kept, column].mean())),
                    float(share[kept, column].mean()),
                    float(share[kept, column].max()),
                )
                found.append(BiasShare(*group, scale, label, len(kept), *shares))
    return Records(found)
