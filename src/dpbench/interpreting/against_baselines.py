"""Baselines: which algorithms do not beat the simple ones that the standards name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpbench.given import texts
from dpbench.interpreting.errors_table import AlgorithmAtScale, scales_of
from dpbench.results import Results
from dpbench.results.display import Records
from dpbench.significance import SignificanceTest, find_test, t_p_values
from dpbench.standards import read_alpha


@dataclass(frozen=True)
class Baseline(AlgorithmAtScale):
    """One algorithm against one baseline at one scale of one table."""

    baseline: str
    """With its form."""
    datasets: int
    """On which both were run."""
    ratio: float
    """Mean error over datasets, over that of the baseline: the paper rules out every algorithm that is not below 1."""
    p_value: float
    """Of the difference of these two means, on the datasets as given."""
    better: int
    """Datasets on which the algorithm is significantly better, by the test of the standards."""
    worse: int
    """Datasets on which it is significantly worse."""

    @property
    def beats(self) -> bool:
        """Whether the mean error over datasets is lower than the baseline's, the paper's criterion."""
        return self.ratio < 1.0


def baselines(
    results: Results,
    names: Iterable[str] | None = None,
    alpha: float | None = None,
    test: str | SignificanceTest | None = None,
) -> list[Baseline]:
    """Every algorithm against every baseline of the standards that the results hold, by table and scale.

    On single datasets the test of the standards is made at alpha / (n - 1), as for competitive sets. The mean over
    datasets is tested by the sum of the variances of its parts: it speaks for these datasets.
    """
    Results.insist(results)
    standards, grid = results.standards, results.grid
    chosen = find_test(standards.test if test is None else test)
    whole = grid.spread(results.whole) == 1
    levels = read_alpha(standards.alpha if alpha is None else alpha) / np.maximum(whole.sum(axis=1) - 1, 1)
    parts = scales_of(grid)
    found = []
    for name in standards.baselines if names is None else texts(names, "the baselines"):
        rivals = _rivals(results, name)
        if np.array_equal(rivals, np.arange(len(rivals))):
            continue  # it is not there, or nothing else is
        own, other = grid.index, grid.index[:, rivals]
        significant = chosen.p_values(results, own, other) < levels[:, None]
        estimate = chosen.estimate(results)
        lower, higher = estimate[own] < estimate[other], estimate[own] > estimate[other]
        both = whole & whole[:, rivals]
        for column, label in enumerate(grid.labels):
            rival = int(rivals[column])
            for group, scale, places in parts if rival != column else ():
                kept = places[both[places, column]]
                if len(kept):
                    ratio = _against(results, own[kept, column], other[kept, column])
                    counts = ((significant & each)[kept, column].sum() for each in (lower, higher))
                    better, worse = map(int, counts)
                    found.append(Baseline(*group, scale, label, grid.labels[rival], len(kept), *ratio, better, worse))
    return Records(found)


def _rivals(results: Results, baseline: str) -> NDArray[np.int64]:
    """For each algorithm the column of the baseline in the same form, or in any; empty where there is none.

    A baseline is the name of an algorithm, of whose forms the one with default parameters is taken, or a label.
    """
    grid = results.grid
    forms = {label: results[numbers[numbers >= 0][0]] for label, numbers in zip(grid.labels, grid.index.T, strict=True)}
    named = {column: forms[label].algorithm for column, label in enumerate(grid.labels)}
    rivals = [column for column, name in named.items() if name == baseline]
    rivals = rivals or [column for column in named if grid.labels[column] == baseline]
    if not rivals:
        return np.array([], dtype=np.int64)
    rivals.sort(key=lambda column: forms[grid.labels[column]].parameters != "{}")
    variants: dict[str, int] = {}
    for column in rivals:
        variants.setdefault(forms[grid.labels[column]].variant, column)
    return np.array([variants.get(forms[label].variant, rivals[0]) for label in grid.labels])


def _against(results: Results, one: NDArray[np.int64], two: NDArray[np.int64]) -> tuple[float, float]:
    """Ratio of the means over datasets, and the p-value of their difference."""
    measured = results.measured
    mean, variance = measured.mean, measured.independent_error**2
    both = np.concatenate([one, two])
    freedoms = np.maximum(measured.trials[both] - 1, 1)
    p_value = t_p_values((mean[one] - mean[two]).mean(), variance[both] / len(one) ** 2, freedoms)
    return float(mean[one].mean() / mean[two].mean()), float(p_value)
