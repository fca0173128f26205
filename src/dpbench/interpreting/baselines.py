"""Baselines: who does not beat Identity, who does not beat Uniform."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.interpreting.competitive import compare
from dpbench.interpreting.errors_table import Cell, scales_of
from dpbench.interpreting.significance import t_p_values
from dpbench.measuring import Measurements, measure_all
from dpbench.results import Grid, Results
from dpbench.results.display import Records

BASELINES = ("Identity", "Uniform")


@dataclass(frozen=True)
class Baseline(Cell):
    """One algorithm against one baseline at one scale of one table."""

    baseline: str
    """With its form."""
    datasets: int
    """On which both were run."""
    ratio: float
    """Mean error over datasets, over that of the baseline: the paper rules out whoever is not below 1."""
    p_value: float
    """Of the difference of these two means, on the datasets as given."""
    better: int
    """Datasets on which the algorithm is significantly better."""
    worse: int
    """Datasets on which it is significantly worse."""

    @property
    def beats(self) -> bool:
        """Whether the mean error over datasets is lower than the baseline's, the paper's criterion."""
        return self.ratio < 1.0


def baselines(results: Results, names: tuple[str, ...] = BASELINES, alpha: float = 0.05) -> list[Baseline]:
    """Every algorithm against every baseline that the results hold, by table and scale.

    On single datasets the unpaired test is made at alpha / (n - 1), as for competitive sets. The mean over datasets is
    tested by the sum of the variances of its parts: it speaks for these datasets.
    """
    grid, measured = results.grid, measure_all(results.errors)
    whole = grid.spread(results.whole) == 1
    levels = alpha / np.maximum(whole.sum(axis=1) - 1, 1)
    parts = scales_of(grid)
    found = []
    for name in names:
        rivals = _rivals(results, name)
        if not len(rivals):
            continue
        significant = compare(results, grid.index, grid.index[:, rivals], "unpaired") < levels[:, None]
        both = whole & whole[:, rivals]
        for column, label in enumerate(grid.labels):
            rival = int(rivals[column])
            for group, scale, places in parts if rival != column else ():
                kept = places[both[places, column]]
                if len(kept):
                    told = _against(measured, grid, kept, column, rival, significant[kept, column])
                    found.append(Baseline(*group, scale, label, grid.labels[rival], **told))
    return Records(found)


def _rivals(results: Results, baseline: str) -> NDArray[np.int64]:
    """For each algorithm the column of the baseline in the same form, or in any; empty where there is none."""
    grid = results.grid
    forms = {label: results.where(label=label)[0] for label in grid.labels}
    rivals = [column for column, label in enumerate(grid.labels) if forms[label].algorithm == baseline]
    if not rivals:
        return np.array([], dtype=np.int64)
    variants = {forms[grid.labels[column]].variant: column for column in rivals}
    return np.array([variants.get(forms[label].variant, rivals[0]) for label in grid.labels])


def _against(
    measured: Measurements,
    grid: Grid,
    kept: NDArray[np.int64],
    column: int,
    other: int,
    significant: NDArray[np.bool_],
) -> dict[str, Any]:
    one, two = grid.index[kept, column], grid.index[kept, other]
    mean, variance = measured.mean, measured.independent_error**2
    difference = mean[one] - mean[two]
    square = len(kept) ** 2
    both = np.concatenate([one, two])
    return {
        "datasets": len(kept),
        "ratio": float(mean[one].mean() / mean[two].mean()),
        "p_value": float(
            t_p_values(difference.mean(), variance[both] / square, np.maximum(measured.trials[both] - 1, 1))
        ),
        "better": int((significant & (difference < 0)).sum()),
        "worse": int((significant & (difference > 0)).sum()),
    }
