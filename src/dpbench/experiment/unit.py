"""A unit of work: one data vector, one algorithm, its trials. Plain data, so that it can go anywhere."""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm
from dpbench.domain import Domain
from dpbench.experiment.seeds import seed_for
from dpbench.experiment.source_data import SourceData
from dpbench.generator import generate
from dpbench.plugins import find
from dpbench.privacy import Ledger, RandomNoise
from dpbench.store.schema import Row
from dpbench.task_parts import AlgorithmPart, WorkloadPart
from dpbench.workloads import Workload

Kept = TypeVar("Kept")


@dataclass(frozen=True, kw_only=True)
class Unit:
    """What to run, complete in itself."""

    task: str
    data: SourceData
    domain: str
    workload: WorkloadPart
    scale: int
    epsilon: float
    algorithm: AlgorithmPart
    """With the name that the algorithm gives itself."""
    reference: str
    """Where the algorithm is found: its name in the catalogue, or FILE.py:Class."""
    side_information: str
    """Where the scale comes from; empty where none is declared."""
    rho_total: float
    sample: int
    seed: int
    first_trial: int
    trials: int
    key: str
    algorithm_source: str
    generator_source: str
    run: str = ""

    def row(self, **outcome: Any) -> Row:
        """The row of this unit with what came out."""
        return Row(
            task=self.task,
            dataset=self.data.name,
            domain=self.domain,
            workload=workload_label(self.workload),
            scale=self.scale,
            epsilon=self.epsilon,
            algorithm=self.algorithm.name,
            variant=self.algorithm.variant,
            side_information=self.side_information,
            parameters=json.dumps(dict(self.algorithm.parameters), sort_keys=True),
            sample=self.sample,
            seed=self.seed,
            first_trial=self.first_trial,
            key=self.key,
            algorithm_source=self.algorithm_source,
            dataset_source=self.data.source,
            generator_source=self.generator_source,
            run=self.run,
            **outcome,
        )

    @property
    def vector(self) -> tuple[Hashable, ...]:
        """What the data vector depends on."""
        return self.data.name, self.domain, self.scale, self.sample, self.seed


def workload_label(part: WorkloadPart) -> str:
    """A workload's name with its parameters."""
    settings = ", ".join(f"{key}={value}" for key, value in part.parameters)
    return f"{part.name}({settings})" if settings else part.name


def build_algorithm(reference: str, part: AlgorithmPart) -> Algorithm:
    """The algorithm that a part names, found by reference."""
    kind = find(reference)
    kind.refuse_unknown(dict(part.parameters))
    return kind(variant=part.variant, **dict(part.parameters))  # type: ignore[arg-type]  # checked by the class


class Bench:
    """Runs units one after the other, and keeps what several of them share."""

    def __init__(self) -> None:
        self._kept: dict[str, OrderedDict[Hashable, Any]] = {}

    def run(self, unit: Unit) -> Row:
        """The row of a unit; whatever goes wrong in it is a recorded failure."""
        try:
            return self._measure(unit)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return unit.row(failure=describe(error))

    def _measure(self, unit: Unit) -> Row:
        clock = time.perf_counter
        begin = clock()
        workload = self._keep("workload", (unit.workload, unit.domain), 8, lambda: unit.workload.build(unit.domain))
        shape = self._keep("shape", (unit.data, unit.domain), 8, lambda: self._shape(unit))
        x = self._keep("vector", (unit.data, *unit.vector), 4, lambda: self._vector(unit, shape))
        algorithm = self._keep("algorithm", unit.algorithm, 64, lambda: build_algorithm(unit.reference, unit.algorithm))
        asked = (unit.epsilon, workload.key, unit.algorithm.label, unit.side_information)
        noise_key = seed_for(unit.seed, "noise", *unit.vector[:4], *asked)
        started = clock()
        release = algorithm.release(
            x,
            workload,
            unit.epsilon,
            unit.trials,
            side_information=unit.side_information or None,  # type: ignore[arg-type]  # checked by the plan
            scale_share=Fraction(repr(unit.rho_total)),
            noise=RandomNoise.seeded(noise_key, unit.trials, unit.first_trial),
        )
        ended = clock()
        measured = losses(workload, x, shape, release.estimate, unit.scale)
        return unit.row(
            **measured,
            ledger=ledger_json(release.ledger),
            private=release.ledger.private and algorithm.is_private,
            seconds=ended - started,
            seconds_other=(started - begin) + (clock() - ended),
        )

    def _shape(self, unit: Unit) -> NDArray[np.float64]:
        """Probabilities of the cells of the unit's domain."""
        histogram = unit.data.shape_on(Domain.of(unit.domain))
        coarse: NDArray[Any] = Domain(histogram.shape).coarsen(histogram, unit.domain)
        return np.asarray(coarse / coarse.sum())

    def _vector(self, unit: Unit, shape: NDArray[np.float64]) -> NDArray[np.int64]:
        return generate(shape, unit.scale, unit.domain, seed_for(unit.seed, "data", *unit.vector[:4]))

    def _keep(self, kind: str, key: Hashable, most: int, make: Callable[[], Kept]) -> Kept:
        """What ``make`` gives, kept for the next unit that needs it; the longest unused goes first."""
        shelf = self._kept.setdefault(kind, OrderedDict())
        if key not in shelf:
            shelf[key] = make()
            if len(shelf) > most:
                shelf.popitem(last=False)
        shelf.move_to_end(key)
        return shelf[key]  # type: ignore[no-any-return]


def losses(
    workload: Workload, x: NDArray[np.int64], shape: NDArray[np.float64], estimate: NDArray[np.float64], scale: int
) -> dict[str, Any]:
    """Scaled errors of every trial, and bias and variance of the answers over trials."""
    queries = workload.queries or 1
    trials = len(estimate)
    error = workload.answer(estimate - x)
    drift = workload.answer(x - scale * shape)
    size = np.abs(error)
    squares = np.einsum("tq,tq->t", error, error)
    mean = error.mean(axis=0)
    squared_bias = float(mean @ mean) / queries
    spread = float(squares.sum() / queries - trials * squared_bias) / max(trials - 1, 1)
    population = error + drift
    per_query = scale * queries
    return {
        "l2": (np.sqrt(squares) / per_query).tolist(),
        "l1": (size.sum(axis=1) / per_query).tolist(),
        "linf": (size.max(axis=1) / per_query).tolist(),
        "population_l2": (np.sqrt(np.einsum("tq,tq->t", population, population)) / per_query).tolist(),
        "squared_bias": squared_bias,
        "variance": max(spread, 0.0),
    }


def ledger_json(ledger: Ledger) -> str:
    """The charges of a ledger, short: kind, why, share of epsilon; a region or trial stands for all alike."""

    def plain(book: Ledger) -> list[dict[str, Any]]:
        return [
            {
                "kind": charge.kind,
                "why": charge.why,
                "amount": str(charge.amount),
                **({"regions": len(charge.regions), "first": plain(charge.regions[0])} if charge.regions else {}),
            }
            for charge in book.charges
        ]

    return json.dumps({"epsilon": str(ledger.epsilon), "charges": _folded(plain(ledger))})


def _folded(charges: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Runs of equal charges, such as the rounds of MWEM, as one with a number."""
    folded: list[dict[str, Any]] = []
    for charge in charges:
        if "first" in charge:
            charge["first"] = _folded(charge["first"])
        same = next((other for other in folded[-2:] if {**other, "times": 0} == {**charge, "times": 0}), None)
        if same is None:
            folded.append({**charge, "times": 1})
        else:
            same["times"] += 1
    return folded


def describe(error: BaseException) -> str:
    """A failure in one line."""
    text = " ".join(str(error).split())[:300]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
