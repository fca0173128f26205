"""Strangers' units, run in guests and measured here, where no stranger's code ever ran."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from dpbench.errors import AlgorithmFailed, RunStopped
from dpbench.mathematics.kernel_cache import KERNELS, PACKAGE, being_loaded
from dpbench.privacy import Notion, read_budget
from dpbench.run.bench import CLOCK, Bench, Estimated, Given, stop_for_kernels
from dpbench.run.executors.contained import exit_words
from dpbench.run.executors.frames import BadFrame, Ended, Frame, Late
from dpbench.run.executors.guest import PATIENCE, Guest
from dpbench.run.ledgers import checked_ledger
from dpbench.run.units import Unit, describe
from dpbench.store.schema import Row
from dpbench.strangers_text import one_line, without_counts

KILLS = 2
"""A unit that has ended so many processes is recorded as failed."""
NEVER = 10.0**9
"""Seconds: for as long as it takes."""
SLACK = 1e-3
"""Seconds of processor time by which a stranger's word may be below the system's count: taking and sending."""
CODE = 60
"""Characters of the name of an exception that are kept."""


class Host:
    """Runs units of one stranger after the other, in a process for that stranger alone."""

    def __init__(self, bench: Bench, timeout: float | None, begins: Callable[[], None] = lambda: None) -> None:
        self._bench = bench
        self._timeout = timeout
        self._begins = begins
        self._guest: Guest | None = None
        self._reference = ""
        self._used = False
        self._words: dict[tuple[str, str], str] = {}

    def run(self, unit: Unit) -> Row:
        """The row of a unit; whatever a stranger does is a recorded failure."""
        try:
            with np.errstate():
                return self._run(unit)
        except RunStopped:
            raise
        except AlgorithmFailed as error:
            self.end()
            return unit.row(failure=str(error))
        except Exception as error:  # ours: data that cannot be loaded, errors that no loss can be computed of
            self.end()
            return unit.row(failure=describe(error))

    def end(self, patience: float = 0.0) -> int:
        """End the guest and whatever it has started; its exit code."""
        guest, self._guest, self._used = self._guest, None, False
        return guest.end(patience) if guest is not None else 0

    def _run(self, unit: Unit) -> Row:
        begin = CLOCK()
        given = self._bench.given(unit)
        estimated, guests = self._estimated(unit, given)
        row = self._bench.row(unit, given, estimated)
        return replace(row, seconds_other=CLOCK() - begin + guests)

    def _estimated(self, unit: Unit, given: Given) -> tuple[Estimated, float]:
        """What a guest gives, tried again where it dies; and its processor time beside the algorithm."""
        for kill in range(1, KILLS + 1):
            self._begins()
            deadline = time.monotonic() + (self._timeout or NEVER)
            try:
                return self._asked(unit, given, deadline)
            except Late:
                self.end()
                raise AlgorithmFailed(f"took longer than {self._timeout:g} s (--timeout)") from None
            except BadFrame as error:
                raise AlgorithmFailed(str(error)) from None
            except Ended:
                code = self.end(PATIENCE)
                if kill == KILLS:
                    raise AlgorithmFailed(f"ended {kill} workers ({exit_words(code)})") from None
        raise AssertionError

    def _asked(self, unit: Unit, given: Given, deadline: float) -> tuple[Estimated, float]:
        guest = self._guest_for(unit)
        begin = guest.seconds()
        ready = guest.ask(unit, deadline)
        if "failure" in ready.facts and self._used:  # once more where no counts are known: then it can be said in full
            self.end()
            guest = self._guest_for(unit)
            ready = guest.ask(unit, deadline)
        if "failure" in ready.facts:
            _insist_on_kernels(ready.facts)
            raise AlgorithmFailed(_failure(ready.facts["failure"]))
        started = guest.seconds()
        self._used = True
        answer = guest.ask(given.x, deadline, numbers=8 * unit.trials * given.x.size)
        ended = guest.seconds()
        if "failure" in answer.facts:
            _insist_on_kernels(answer.facts)
            raise AlgorithmFailed(self._without_counts(unit, given, answer.facts["failure"], deadline))
        estimated = _checked(unit, given, answer)
        if not ended - started - SLACK <= estimated.seconds <= ended - started:
            estimated = replace(estimated, seconds=ended - started)
        return estimated, max(0.0, ended - begin - estimated.seconds)

    def _without_counts(self, unit: Unit, given: Given, failure: object, deadline: float) -> str:
        """What went wrong, in words that cannot hold counts: said in full only by a process that knows none.

        The same algorithm is run once more, on made-up counts. Where the same kind of exception ends it, its words are
        taken from there; else every number in them is struck out.
        """
        cautious = without_counts(_failure(failure))
        known = (unit.reference, cautious)
        if known not in self._words:
            self.end()
            made_up = np.random.default_rng(0).integers(0, 30, given.x.shape)
            words = cautious
            with suppress(Late, Ended, BadFrame):
                guest = self._guest_for(unit)
                if "failure" not in guest.ask(unit, deadline).facts:
                    again = guest.ask(made_up, deadline, numbers=8 * unit.trials * made_up.size).facts.get("failure")
                    words = _failure(again) if _kind(again) == _kind(failure) else cautious
            self._words[known] = words
            self.end()
        return self._words[known]

    def _guest_for(self, unit: Unit) -> Guest:
        if self._guest is not None and self._reference != unit.reference:
            self.end()
        if self._guest is None:
            self._guest, self._reference = Guest(_server(self._bench)), unit.reference
        return self._guest


def _server(clean: Bench) -> Callable[[Callable[[], Any], Callable[..., None]], None]:
    """What a guest does: prepare a unit, then run it on counts that it is given only then."""

    def serve(take: Callable[[], Any], answer: Callable[..., None]) -> None:
        clean.forget()
        bench = Bench()
        while True:
            try:
                unit = take()
            except EOFError:
                return
            try:
                bench.prepare(unit)
            except BaseException as error:
                answer(_described(error))
                continue
            answer({"ready": True})
            x = take()
            try:
                with np.errstate():
                    done = bench.estimate(unit, x)
                facts = {"ledger": json.loads(done.ledger), "private": bool(done.private), "seconds": done.seconds}
                numbers = np.array(done.estimate, dtype=np.float64, order="C", subok=False).tobytes()
            except BaseException as error:
                bench.forget()  # it may have spoilt what others share
                answer(_described(error))
                continue
            answer(facts, numbers)

    return serve


def _described(error: BaseException) -> dict[str, Any]:
    """In the guest: an exception as facts."""
    try:
        text = str(error)
    except Exception:
        text = ""
    return {"failure": [type(error).__name__, text[:10_000]], "kernels": being_loaded(error)}


def _insist_on_kernels(facts: dict[str, Any]) -> None:
    """In the clean process: load the kernels that a guest says it could not; the run ends where we cannot either."""
    name = facts.get("kernels")
    if isinstance(name, str) and name in {path.stem for path in KERNELS.glob("[a-z]*.py")}:
        try:
            import_module(f"{PACKAGE}.{name}")
        except Exception as error:
            stop_for_kernels(error)


def _failure(written: object) -> str:
    """In the clean process: an exception of a stranger's in one line."""
    match written:
        case [str() as kind, str() as text]:
            name, words = one_line(kind, CODE), one_line(text)
            return f"{name}: {words}" if words else name or "an exception without a name"
    return "an exception that it did not describe"


def _kind(written: object) -> object:
    return written[0] if isinstance(written, list) and written else None


def _checked(unit: Unit, given: Given, answer: Frame) -> Estimated:
    """Plain numbers of the shape that was asked for, and a ledger that was summed again."""
    name = unit.algorithm.name
    if not answer.numbers:
        raise AlgorithmFailed("it sent something else than an answer to what it was asked")
    estimate = np.frombuffer(answer.numbers, dtype=np.float64).reshape(unit.trials, *given.x.shape)
    if not np.isfinite(estimate).all():
        raise AlgorithmFailed(f"{name} returned NaN or infinity; an estimate has to be finite")
    seconds = answer.facts.get("seconds")
    if type(seconds) is not float or not 0 <= seconds < NEVER:
        seconds = 0.0
    ledger, private = checked_ledger(answer.facts.get("ledger"), _notions(unit))
    return Estimated(estimate, ledger, private and answer.facts.get("private") is True, seconds)


def _notions(unit: Unit) -> list[Notion]:
    """The budget of a unit as its ledger may count it: one Gaussian measurement has a formula of its own."""
    named = [unit.budget.get(name) for name in ("epsilon", "delta", "rho")]
    return [read_budget(*named, one_measurement=one) for one in (False, True)]
