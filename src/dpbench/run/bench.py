"""Where a unit is run: data vector, algorithm, answers, errors.

The algorithm's part is apart from the rest: a stranger's is done in another process, and what it gives is measured
here.
"""

from __future__ import annotations

import io
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm
from dpbench.domain import Domain
from dpbench.errors import AlgorithmFailed, RunStopped
from dpbench.mathematics.kernel_cache import fault
from dpbench.plugins import is_stranger
from dpbench.privacy import RandomNoise
from dpbench.run.claims import insist_on_claims
from dpbench.run.data_vectors import draw_vector, drift_of, losses, noise_seed, shape_on
from dpbench.run.ledgers import ledger_json
from dpbench.run.units import Unit, describe, load_algorithm
from dpbench.store.schema import Row
from dpbench.store.store import answers_path, write_whole
from dpbench.workloads import Workload

Kept = TypeVar("Kept")
Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

CLOCK = time.process_time
"""Not by the wall: a busy machine makes no algorithm slow."""


@dataclass(frozen=True)
class Given:
    """What a unit is run on and measured by."""

    workload: Workload
    x: Counts
    drift: Floats
    """How far its answers are from those of what it was drawn from."""


@dataclass(frozen=True)
class Estimated:
    """What an algorithm gave for a unit."""

    estimate: Floats
    ledger: str
    private: bool
    seconds: float
    """Processor time in the algorithm."""


class Bench:
    """Runs units one after the other, and keeps what several of them share."""

    def __init__(self) -> None:
        self._kept: dict[str, OrderedDict[Hashable, Any]] = {}

    def run(self, unit: Unit) -> Row:
        """The row of a unit; whatever goes wrong in it is a recorded failure."""
        try:
            with np.errstate():  # an algorithm that changes numpy's error handling changes it for itself alone
                return self._measure(unit)
        except (KeyboardInterrupt, RunStopped):
            raise
        except BaseException as error:
            stop_for_kernels(error)
            self.forget()  # it may have spoilt what others share
            return unit.row(failure=describe(error))

    def forget(self) -> None:
        """Let go of everything that is kept."""
        self._kept.clear()

    def _measure(self, unit: Unit) -> Row:
        begin = CLOCK()
        given = self.given(unit)
        self.prepare(unit)
        estimated = self.estimate(unit, given.x)
        row = self.row(unit, given, estimated)
        return replace(row, seconds_other=CLOCK() - begin - estimated.seconds)

    def given(self, unit: Unit) -> Given:
        """What a unit is run on and measured by."""
        workload = self._workload(unit)
        shape = self._keep("shape", (unit.data, unit.domain), 8, lambda: _shape(unit))
        named = (unit.data, *unit.vector, unit.seed)
        x = self._keep("vector", named, 4, lambda: draw_vector(shape, *unit.vector, unit.seed))
        drift = self._keep("drift", (unit.workload, *named), 4, lambda: drift_of(workload, x, shape, unit.scale))
        return Given(workload, x, drift)

    def prepare(self, unit: Unit) -> None:
        """Load the algorithm, let it do what needs no data, and look at what a stranger's claims."""
        algorithm, workload = self._algorithm(unit), self._workload(unit)
        self._keep(
            "prepared", (unit.algorithm, unit.algorithm_source, workload), 64, lambda: algorithm._prepare(workload)
        )
        if is_stranger(unit.reference) and algorithm.variant == "private":
            self._keep(
                "claims",
                (unit.reference, unit.algorithm, unit.algorithm_source, workload, str(unit.budget)),
                64,
                lambda: insist_on_claims(algorithm, workload, unit.budget),
            )

    def estimate(self, unit: Unit, x: Counts) -> Estimated:
        """Run the algorithm on a data vector."""
        algorithm, workload = self._algorithm(unit), self._workload(unit)
        label = unit.noise_name or unit.algorithm.label
        seed = noise_seed(unit.vector, unit.seed, workload, unit.budget, label, unit.side_information)
        begin = CLOCK()
        outcome = algorithm._outcome(
            x,
            workload,
            trials=unit.trials,
            **unit.budget,
            side_information=unit.side_information or None,  # type: ignore[arg-type]  # checked by the plan
            scale_share=Fraction(repr(unit.rho_total)),
            noise=RandomNoise.seeded(seed, unit.trials, unit.first_trial),
            keep=False,
        )
        seconds = CLOCK() - begin
        if is_stranger(unit.reference) and _content(workload) != workload.key:
            raise AlgorithmFailed(f"{algorithm.name} changed the workload that it was given; work on a copy")
        private = outcome.ledger.private and algorithm.is_private
        return Estimated(outcome.estimate, ledger_json(outcome.ledger), private, seconds)

    def row(self, unit: Unit, given: Given, estimated: Estimated) -> Row:
        """The errors of an estimate, as the row of its unit."""
        estimate = estimated.estimate
        measured = losses(given.workload, given.x, given.drift, estimate, unit.scale, (unit.loss,))
        stored = {unit.loss.label: unit.loss_name}
        measured["other_losses"] = {stored[label]: errors for label, errors in measured["other_losses"].items()}
        if unit.answers:
            _write_answers(unit, given.workload.answer(estimate))
        return unit.row(**measured, ledger=estimated.ledger, private=estimated.private, seconds=estimated.seconds)

    def _workload(self, unit: Unit) -> Workload:
        return self._keep("workload", (unit.workload, unit.domain), 8, lambda: unit.workload.build(unit.domain))

    def _algorithm(self, unit: Unit) -> Algorithm:
        named = (unit.reference, unit.algorithm, unit.algorithm_source)
        return self._keep("algorithm", named, 64, lambda: load_algorithm(unit))

    def _keep(self, kind: str, key: Hashable, most: int, make: Callable[[], Kept]) -> Kept:
        """What ``make`` gives, kept for the next unit that needs it; the longest unused goes first."""
        shelf = self._kept.setdefault(kind, OrderedDict())
        if key not in shelf:
            shelf[key] = make()
            if len(shelf) > most:
                shelf.popitem(last=False)
        shelf.move_to_end(key)
        return shelf[key]  # type: ignore[no-any-return]


def stop_for_kernels(error: BaseException) -> None:
    """End the run where kernels of ours cannot be loaded: that is no algorithm's failure."""
    words = fault(error)
    if words:
        raise RunStopped(f"{words}; everything stored is kept: run the same command again") from None


def _shape(unit: Unit) -> NDArray[np.float64]:
    return shape_on(unit.data.histogram(Domain.of(unit.domain)), unit.domain)


def _content(workload: Workload) -> str:
    """A workload's key as its ranges are now."""
    return str(vars(Workload)["key"].func(workload))  # not the kept one


def _write_answers(unit: Unit, answers: NDArray[np.float64]) -> None:
    """Keep the answers of every trial; a disk that refuses stops the run, it is nobody's failure."""
    path = answers_path(unit.answers, unit.key, unit.first_trial)
    content = io.BytesIO()
    np.save(content, np.asarray(answers, dtype=np.float64), allow_pickle=False)
    try:
        path.parent.mkdir(exist_ok=True)
        write_whole(path, content.getvalue())
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise RunStopped(
            f"cannot keep answers in {path.parent}: {reason}; everything stored so far is kept: "
            f"free some space and run the same command"
        ) from None
