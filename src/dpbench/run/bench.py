"""Where a unit is run: data vector, algorithm, answers, errors."""

from __future__ import annotations

import io
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.errors import AlgorithmFailed, RunStopped
from dpbench.plugins import is_file_reference
from dpbench.privacy import Ledger, RandomNoise
from dpbench.run.claims import insist_on_claims
from dpbench.run.data_vectors import draw_vector, losses, noise_seed, shape_on
from dpbench.run.units import Unit, describe, load_algorithm
from dpbench.store.schema import Row
from dpbench.store.store import answers_path, write_whole
from dpbench.workloads import Workload

Kept = TypeVar("Kept")


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
            self._kept.clear()  # it may have spoilt what others share
            return unit.row(failure=describe(error))

    def _measure(self, unit: Unit) -> Row:
        clock = time.process_time  # not by the wall: a busy machine makes no algorithm slow
        begin = clock()
        workload = self._keep("workload", (unit.workload, unit.domain), 8, lambda: unit.workload.build(unit.domain))
        shape = self._keep("shape", (unit.data, unit.domain), 8, lambda: _shape(unit))
        named = (unit.data, *unit.vector, unit.seed)
        x = self._keep("vector", named, 4, lambda: draw_vector(shape, *unit.vector, unit.seed))
        algorithm = self._keep(
            "algorithm", (unit.reference, unit.algorithm, unit.algorithm_source), 64, lambda: load_algorithm(unit)
        )
        self._keep(
            "prepared", (unit.algorithm, unit.algorithm_source, workload), 64, lambda: algorithm.prepare(workload)
        )
        if is_file_reference(unit.reference) and algorithm.variant == "private":
            self._keep(
                "claims",
                (unit.reference, unit.algorithm, unit.algorithm_source, workload, str(unit.budget)),
                64,
                lambda: insist_on_claims(algorithm, workload, unit.budget),
            )
        label = unit.noise_name or unit.algorithm.label
        seed = noise_seed(unit.vector, unit.seed, workload, unit.budget, label, unit.side_information)
        started = clock()
        outcome = algorithm.outcome(
            x,
            workload,
            trials=unit.trials,
            **unit.budget,
            side_information=unit.side_information or None,  # type: ignore[arg-type]  # checked by the plan
            scale_share=Fraction(repr(unit.rho_total)),
            noise=RandomNoise.seeded(seed, unit.trials, unit.first_trial),
            keep=False,
        )
        ended = clock()
        if _content(workload) != workload.key:
            raise AlgorithmFailed(f"{algorithm.name} changed the workload that it was given; work on a copy")
        measured = losses(workload, x, shape, outcome.estimate, unit.scale, (unit.loss,))
        stored = {unit.loss.label: unit.loss_name}
        measured["other_losses"] = {stored[label]: errors for label, errors in measured["other_losses"].items()}
        if unit.answers:
            _write_answers(unit, workload.answer(outcome.estimate))
        return unit.row(
            **measured,
            ledger=ledger_json(outcome.ledger),
            private=outcome.ledger.private and algorithm.is_private,
            seconds=ended - started,
            seconds_other=(started - begin) + (clock() - ended),
        )

    def _keep(self, kind: str, key: Hashable, most: int, make: Callable[[], Kept]) -> Kept:
        """What ``make`` gives, kept for the next unit that needs it; the longest unused goes first."""
        shelf = self._kept.setdefault(kind, OrderedDict())
        if key not in shelf:
            shelf[key] = make()
            if len(shelf) > most:
                shelf.popitem(last=False)
        shelf.move_to_end(key)
        return shelf[key]  # type: ignore[no-any-return]


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

    return json.dumps({ledger.notion.unit: str(ledger.budget), "charges": _folded(plain(ledger))})


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
