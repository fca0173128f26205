"""R_param: learn free parameters on synthetic shapes, on the runner's executors, resumable like any run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from dpbench import datasets
from dpbench.datasets import shapes
from dpbench.domain import Domain
from dpbench.errors import InvalidTraining, UnknownName
from dpbench.plugins import is_stranger
from dpbench.repair.choice import Parameters, TableKey, best_rows
from dpbench.repair.table import ParameterTable
from dpbench.run.plan import Plan
from dpbench.run.seeds import seed_for
from dpbench.run.strangers import AlgorithmFacts, facts_of
from dpbench.run.units import Unit, build_algorithm
from dpbench.store import Row, Store
from dpbench.task.parts import AlgorithmPart
from dpbench.task.task import RANGE_1D, RANGE_2D, Task

TRAINING_SHAPES = {
    1: ("power-law", "power-law-steep", "permuted-power-law", "normal", "normal-narrow"),
    2: ("power-law-2d", "normal-2d"),
}
"""Power laws and normals, as in the paper."""
EPSILON = 0.1
"""The epsilon of training where the algorithm is exchangeable: only the product with the scale matters."""
EPSILONS = (0.01, 0.1, 1.0)
"""And where it is not: epsilon is then a key of its own."""


@dataclass(frozen=True)
class Training:
    """What to learn: an algorithm, its grid, and where."""

    reference: str
    """Name in the catalogue, or FILE.py:Class."""
    facts: AlgorithmFacts
    grid: tuple[Parameters, ...]
    domains: tuple[Domain, ...]
    log10_products: tuple[float, ...]
    samples: int
    trials: int
    seed: int
    epsilons: tuple[float, ...] = (EPSILON,)

    @classmethod
    def of(
        cls,
        reference: str,
        *,
        grid: Mapping[str, Sequence[Any]] | None = None,
        domains: Sequence[str] = ("4096", "128x128"),
        log10_products: Sequence[float] = (),
        samples: int = 3,
        trials: int = 10,
        seed: int = 0,
    ) -> Training:
        """A training with everything checked."""
        known = facts_of(reference, domains)
        chosen = dict(grid) if grid else dict(known.free)
        if not chosen:
            raise InvalidTraining(
                f"{known.name} declares no free parameter; name one with --grid parameter=value,value"
            )
        empty = [name for name, values in chosen.items() if not values]
        if empty:
            raise InvalidTraining(f"the grid of {empty[0]} is empty; give at least one value")
        names = list(chosen)
        combinations = tuple(tuple(zip(names, values, strict=True)) for values in product(*chosen.values()))
        for parameters in () if is_stranger(reference) else combinations:  # a stranger's are made when it is run
            build_algorithm(reference, AlgorithmPart(reference, parameters=parameters))
        supported = tuple(domain for domain in map(Domain.of, domains) if known.supports(domain))
        if not supported:
            raise InvalidTraining(f"{known.name} runs on none of the domains {', '.join(domains)}; give others")
        for domain in supported:
            if domain.ndim not in TRAINING_SHAPES:
                raise InvalidTraining(f"there are training shapes for 1 and 2 axes; domain {domain} has {domain.ndim}")
        keys = tuple(log10_products) or signals(1, 8)
        epsilons = (EPSILON,) if known.exchangeable else EPSILONS
        return cls(reference, known, combinations, supported, keys, samples, trials, seed, epsilons)

    def plan(self) -> Plan:
        """The same as tasks, one for each domain."""
        parts = [AlgorithmPart(self.reference, parameters=tuple(sorted(each))) for each in self.grid]
        own_seed = int(seed_for(self.seed, "training").generate_state(1)[0])
        tasks: list[Task] = [
            (RANGE_1D if domain.ndim == 1 else RANGE_2D).replace(
                name=f"tune-{self.facts.name}-{domain}" + (f"-{epsilon:g}" if len(self.epsilons) > 1 else ""),
                datasets=TRAINING_SHAPES[domain.ndim],
                domains=[str(domain)],
                scales=sorted({scale_for(key, epsilon) for key in self.log10_products}),
                epsilons=[epsilon],
                algorithms=parts,
                samples=self.samples,
                trials=self.trials,
                seed=own_seed,
            )
            for domain in self.domains
            for epsilon in self.epsilons
        ]
        return Plan(name=f"tune-{self.facts.name}", tasks=tuple(tasks))

    def shared_noise(self, units: Sequence[Unit]) -> list[Unit]:
        """The same units with the same noise for all parameters: differences between them are less noisy."""
        return [replace(unit, noise_name=f"training {self.facts.name}") for unit in units]

    def table(self, store: Store, provenance: Mapping[str, str]) -> ParameterTable:
        """The table that the errors in a store amount to."""
        errors: dict[tuple[TableKey, str, Parameters], list[float]] = {}
        by_label = {tuple(sorted(parameters)): parameters for parameters in self.grid}
        signals = {(e, scale_for(key, e)): key for e in self.epsilons for key in self.log10_products}
        for row in sorted(store.rows(), key=lambda row: row.identity):
            _refuse_failure(row)
            if (row.epsilon, row.scale) in signals:
                domain = Domain.of(row.domain)
                epsilon = row.epsilon if len(self.epsilons) > 1 else None
                key = TableKey(domain.ndim, domain.size, signals[row.epsilon, row.scale], epsilon)
                parameters = by_label.get(tuple(sorted(_plain(row).items())))
                if parameters is not None:
                    errors.setdefault((key, row.dataset, parameters), []).append(sum(row.l2) / row.trials)
        rows = best_rows(errors, self.grid, self.facts.monotone)
        return ParameterTable(self.facts.name, tuple(rows), tuple(sorted(provenance.items())))


def scale_for(log10_product: float, epsilon: float) -> int:
    """Records that make a signal at an epsilon; fewer than ten make no shape."""
    return max(10, round(10**log10_product / epsilon))


def _plain(row: Row) -> dict[str, Any]:
    return dict(json.loads(row.parameters))


def _refuse_failure(row: Row) -> None:
    if row.failure:
        raise InvalidTraining(
            f"{row.algorithm} failed on {row.dataset} with {row.parameters}: {row.failure}; mend it first"
        )


def refuse_evaluation_data(names: Sequence[str]) -> None:
    """Training on a dataset of the evaluation would fit the parameters to what they are judged by."""
    for name in names:
        try:
            known = datasets.get(name)
        except UnknownName:
            continue
        raise InvalidTraining(
            f"{known.name} is a dataset of the evaluation; train on synthetic shapes, such as {shapes.names()[0]}"
        )


def signals(low: float, high: float) -> tuple[float, ...]:
    """Half decades of epsilon * scale from ``low`` to ``high``, as logarithms."""
    if not low <= high:
        raise InvalidTraining(f"the signals go from {low:g} to {high:g}; give the lower first")
    return tuple(step / 2 for step in range(round(2 * low), round(2 * high) + 1))
