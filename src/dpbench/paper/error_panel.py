"""Errors at one domain, by algorithm, dataset and scale, under the paper's names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpbench.interpreting import CompetitiveSets, competitive_sets
from dpbench.measuring import Measurements
from dpbench.paper.reported import PLOTTED
from dpbench.paper.verdict import Undecided
from dpbench.results import Results
from dpbench.task.task import RANGE_1D, RANGE_2D

TASKS = {1: RANGE_1D, 2: RANGE_2D}
EPSILON = 0.1


@dataclass(frozen=True)
class Panel:
    """The settings of one domain in which an algorithm has one form."""

    dimensions: int
    domain: str
    results: Results

    @classmethod
    def of(cls, results: Results, dimensions: int, domain: str) -> Panel:
        """The settings at a domain, the paper's epsilon and workload; of several studies and deltas, the largest."""
        kept = results.where(dimensions=dimensions, domain=domain, epsilon=EPSILON)
        kept = kept.take(np.char.startswith(kept.columns["workload"].astype(str), _workload(dimensions)))
        if not len(kept):
            raise Undecided(f"nothing was measured at {domain}")
        groups = kept.grid.groups()
        largest = max(groups, key=lambda group: len(groups[group]))
        return cls(dimensions, domain, kept.where(task=largest.task, seed=largest.seed, delta=largest.delta))

    @property
    def wanted(self) -> tuple[str, ...]:
        """The datasets that the paper uses."""
        return TASKS[self.dimensions].datasets

    @property
    def measured(self) -> Measurements:
        """What was measured of every setting."""
        return self.results.measured

    @cached_property
    def _place(self) -> Mapping[tuple[str, str, int], int]:
        names = ("algorithm", "dataset", "scale")
        keys = zip(*(self.results.columns[name].tolist() for name in names), strict=True)
        return {key: number for number, key in enumerate(keys) if self.results.whole[number]}

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The paper's name of every label."""
        return dict(zip(self.results.labels.tolist(), self.results.columns["algorithm"].tolist(), strict=True))

    @property
    def scales(self) -> list[int]:
        """Scales that something was measured at."""
        return sorted({scale for _, _, scale in self._place})

    def number(self, algorithm: str, dataset: str, scale: int) -> int:
        """The number of a setting in the results."""
        found = self._place.get((algorithm, dataset, scale))
        if found is None:
            raise Undecided(f"{algorithm} was not measured on {dataset} at scale {scale:.0e} and {self.domain}")
        return found

    def mean(self, algorithm: str, dataset: str, scale: int) -> float:
        """The mean error of one setting."""
        return float(self.measured.mean[self.number(algorithm, dataset, scale)])

    def has(self, algorithm: str, dataset: str, scale: int) -> bool:
        """Whether a setting was measured."""
        return (algorithm, dataset, scale) in self._place

    def each(self, algorithm: str, scale: int) -> NDArray[np.float64]:
        """Mean errors on all of the paper's datasets, in the order of its Table 2."""
        if (algorithm, scale) not in self._each:
            self._each[algorithm, scale] = self._found(algorithm, scale)
        return self._each[algorithm, scale].copy()

    @cached_property
    def _each(self) -> dict[tuple[str, int], NDArray[np.float64]]:
        return {}

    def _found(self, algorithm: str, scale: int) -> NDArray[np.float64]:
        missing = [name for name in self.wanted if not self.has(algorithm, name, scale)]
        if missing:
            shown = ", ".join(missing[:3]) + (", ..." if len(missing) > 3 else "")
            raise Undecided(
                f"{algorithm} lacks {len(missing)} of {len(self.wanted)} datasets ({shown}) at scale {scale:.0e} "
                f"and {self.domain}"
            )
        return np.array([self.mean(algorithm, name, scale) for name in self.wanted])

    def average(self, algorithm: str, scale: int) -> float:
        """The mean over all of the paper's datasets of the mean error: a white diamond of Figure 1."""
        return float(self.each(algorithm, scale).mean())

    def table(self, scale: int, algorithms: Iterable[str] = ()) -> dict[str, NDArray[np.float64]]:
        """Mean errors of several algorithms on all of the paper's datasets."""
        return {name: self.each(name, scale) for name in algorithms or PLOTTED[self.dimensions]}

    def part(self, scales: Iterable[int], algorithms: Iterable[str] = ()) -> Results:
        """The settings of some scales and algorithms (those of Figure 1) on all of the paper's datasets."""
        key = tuple(scales), tuple(algorithms) or PLOTTED[self.dimensions]
        if key not in self._parts:
            at, chosen = key
            for scale in at:
                self.table(scale, chosen)
            self._parts[key] = self.results.where(algorithm=list(chosen), scale=list(at), dataset=list(self.wanted))
        return self._parts[key]

    @cached_property
    def _parts(self) -> dict[tuple[tuple[int, ...], tuple[str, ...]], Results]:
        return {}

    def competitive(self, scale: int, algorithms: Iterable[str] = (), test: str | None = None) -> CompetitiveSets:
        """Competitive sets on all of the paper's datasets at one scale, among the algorithms of Figure 1."""
        return competitive_sets(self.part([scale], algorithms), test)

    def counts(self, sets: CompetitiveSets) -> dict[str, int]:
        """On how many datasets each algorithm is competitive, under the paper's names."""
        return {self.names[label]: number for label, number in sets.counts().items()}


def _workload(dimensions: int) -> str:
    return TASKS[dimensions].workloads[0].name
