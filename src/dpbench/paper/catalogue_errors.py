"""Errors of the whole catalogue, private, at every domain: arrays by place and algorithm."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench import algorithms
from dpbench.errors import DPBenchError
from dpbench.paper.error_panel import EPSILON, TASKS
from dpbench.paper.study import Part
from dpbench.paper.verdict import Undecided
from dpbench.results import Results

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class CatalogueErrors:
    """The settings of one number of dimensions that were measured at the paper's epsilon and workload."""

    results: Results
    names: tuple[str, ...]
    """Algorithms, one for each column."""
    mean: Floats
    """``(places, algorithms)``, NaN where there is no error."""
    percentile: Floats

    @classmethod
    def of(cls, part: Part, dimensions: int) -> CatalogueErrors:
        """The errors of one setting of a study; made once for all claims."""
        return part.once(f"catalogue {dimensions}", lambda: cls._of(part.results, dimensions))

    @classmethod
    def _of(cls, results: Results | None, dimensions: int) -> CatalogueErrors:
        if results is None:
            raise Undecided("nothing was measured in this setting; dpbench run paper measures it")
        kept = results.where(dimensions=dimensions, epsilon=EPSILON, delta=0.0)
        kept = kept.take(np.char.startswith(kept.columns["workload"].astype(str), TASKS[dimensions].workloads[0].name))
        if not len(kept):
            raise Undecided(f"nothing was measured in {dimensions}-D at epsilon {EPSILON}")
        grid = kept.grid
        by_label = dict(zip(kept.labels.tolist(), kept.columns["algorithm"].tolist(), strict=True))
        whole = kept.whole
        return cls(
            kept,
            tuple(by_label[label] for label in grid.labels),
            grid.spread(np.where(whole, kept.measured.mean, np.nan)),
            grid.spread(np.where(whole, kept.measured.percentile, np.nan)),
        )

    def place(self, name: str) -> NDArray[Any]:
        """One part of every place: dataset, domain, scale."""
        return self.results.grid.column(name)

    @cached_property
    def scales(self) -> NDArray[np.int64]:
        """The scale of every place."""
        return np.asarray(self.place("scale"))

    @property
    def domains(self) -> list[str]:
        """Domains, the smallest first."""
        return sorted(set(self.place("domain").tolist()), key=lambda each: (len(each), each))

    def of_algorithm(self, name: str) -> Floats:
        """Mean errors of one algorithm, ``(places,)``."""
        if name not in self.names:
            raise Undecided(f"{name} was not measured; dpbench run paper --algorithm {name} measures it")
        return self.mean[:, self.names.index(name)]

    @cached_property
    def best(self) -> Floats:
        """The least mean error of every place."""
        return np.asarray(np.nanmin(self.mean, axis=1))

    def regrets(self) -> dict[str, float]:
        """Regret of every algorithm that has all places, the lowest first."""
        logs = np.log(self.mean / self.best[:, None])
        whole = np.asarray(np.isfinite(logs).all(axis=0))
        found = {name: float(np.exp(logs[:, at].mean())) for at, name in enumerate(self.names) if whole[at]}
        return dict(sorted(found.items(), key=lambda each: each[1]))

    def ratio(self, over: str, under: str, places: Mask | None = None) -> float:
        """Geometric mean of the error of one algorithm over that of another, on the places that both have."""
        logs = np.log(self.of_algorithm(over) / self.of_algorithm(under))
        logs = logs[np.isfinite(logs) if places is None else np.isfinite(logs) & places]
        if not len(logs):
            raise Undecided(f"{over} and {under} were not measured in the same settings")
        return float(np.exp(logs.mean()))

    def kinds(self, *, dependent: bool, among: Iterable[str] = ()) -> tuple[str, ...]:
        """The algorithms whose error depends on the data, or does not; of some of them if they are named."""
        chosen = [name for name in self.names if name in (tuple(among) or self.names)]
        return tuple(name for name in chosen if depends_on_data(name) == dependent)


@cache
def depends_on_data(name: str) -> bool:
    """Whether the error of an algorithm of the catalogue depends on the data; somebody's own is taken to."""
    try:
        return algorithms.get(name).data_dependent
    except DPBenchError:
        return True
