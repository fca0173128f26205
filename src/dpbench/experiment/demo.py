"""The demo: every algorithm on embedded synthetic shapes, without a file or a network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpbench import algorithms
from dpbench.algorithm import Algorithm
from dpbench.datasets import shapes
from dpbench.domain import Domain
from dpbench.experiment.evaluate import Setting, evaluate
from dpbench.interpreting import competitive
from dpbench.measuring import Measurement, measure
from dpbench.workloads import Prefix, RandomRange, Workload

SCALES = (10**3, 10**5, 10**7)
EPSILON = 0.1
WORKLOADS: tuple[Workload, ...] = (Prefix(1024), RandomRange((64, 64), queries=2000, seed=0))


@dataclass(frozen=True)
class DemoTable:
    """Errors on one workload: by algorithm and scale, averaged over shapes."""

    workload: Workload
    shapes: tuple[str, ...]
    errors: dict[tuple[str, int], float]
    """Mean error over shapes, by algorithm and scale."""
    wins: dict[tuple[str, int], int]
    """On how many shapes the algorithm is competitive."""

    @property
    def algorithms(self) -> list[str]:
        """Names in the order of the catalogue."""
        return list(dict.fromkeys(name for name, _ in self.errors))


def run_demo(seed: int = 0, samples: int = 3, trials: int = 10) -> Iterator[DemoTable]:
    """One table a workload, as soon as it is done."""
    for workload in WORKLOADS:
        candidates = [algorithms.get(name) for name in algorithms.names()]
        fitting = [algorithm for algorithm in candidates if algorithm.supports(workload.domain)]
        yield _table(workload, fitting, seed, samples, trials)


def _table(workload: Workload, fitting: list[Algorithm], seed: int, samples: int, trials: int) -> DemoTable:
    names = tuple(shapes.names(workload.domain.ndim))
    errors: dict[tuple[str, int], float] = {(a.name, scale): 0.0 for a in fitting for scale in SCALES}
    wins = dict.fromkeys(errors, 0)
    for name in names:
        shape = shapes.get(name, Domain.of(workload.domain))
        for scale in SCALES:
            setting = Setting(dataset=name, scale=scale, epsilon=EPSILON, workload=workload)
            measured: dict[str, Measurement] = {
                algorithm.name: measure(evaluate(algorithm, setting, shape, samples=samples, trials=trials, seed=seed))
                for algorithm in fitting
            }
            best = competitive(measured)
            for algorithm, measurement in measured.items():
                errors[algorithm, scale] += measurement.mean / len(names)
                wins[algorithm, scale] += algorithm in best
    return DemoTable(workload, names, errors, wins)
