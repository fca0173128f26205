"""The randomised replay: what is tried, until something is found or the cases are at their end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpbench.audit.cases import BATCH, Case, Cases
from dpbench.audit.fresh import TooSlow, fresh, load_what_it_loads, processor_seconds
from dpbench.audit.report import NotExamined
from dpbench.audit.shrinking import look, shrink
from dpbench.audit.slow import slow_words
from dpbench.audit.subject import Subject, workload_for
from dpbench.audit.traces import BESIDE, NAMES
from dpbench.audit.worlds import SECONDS, Finding, Looked, Runner, force, printed_otherwise, record, unrecorded
from dpbench.domain import Domain
from dpbench.errors import CheckFailed

SOME = 5
"""Runs by which is judged how many can be made."""
LOADING = 120.0
"""Seconds that the first fresh process may take, in which kernels are loaded, or compiled."""
FEWEST = 5
"""Batches that are run however long they take."""
AGAIN = 3
"""Runs on the same counts before a difference is taken to follow from the counts."""
QUICK = 1.0
"""Seconds of the processor for a batch on the study's domains up to which larger ones are tried next."""
WARMED = 4
"""The batch that is run in processes in which a stranger's algorithm has run many times before."""
MANY_RUNS = 300
WARMING = 0.5
"""Seconds of the processor that these may take; where they would take longer there are fewer."""
UNRECORDED_EVERY = 2
"""Batches, of which one is run without being recorded, and with claims recomputed."""


_loaded: set[type] = set()


@dataclass
class Tried:
    """What was tried and not refuted."""

    asked: int
    cases: int = 0
    too_large: int = 0
    too_slow: int = 0
    slow: str = ""
    """What of the first batch that was too slow takes so long, in words."""
    share: float = 0.0
    domains: set[Domain] = field(default_factory=set)
    epsilons: set[float] = field(default_factory=set)
    workloads: set[str] = field(default_factory=set)
    trials: set[int] = field(default_factory=set)
    notions: set[str] = field(default_factory=set)
    aside: tuple[str, ...] = ()
    varying: bool = False

    def add(self, cases: Sequence[Case], looked: Looked) -> None:
        """Count a batch that was gone through."""
        self.cases += looked.compared
        self.too_large += looked.too_large
        self.share = max(self.share, looked.share)
        for case in cases:
            self.domains.add(case.domain)
            self.epsilons.add(float(case.epsilon))
            self.workloads.add(case.workload.name)
            self.trials.add(case.trials)
            self.notions.add(case.notion)

    def figures(self, kept_out: int) -> dict[str, Any]:
        """As a report has them."""
        sizes = [domain.size for domain in self.domains]
        return {
            "cases": self.cases,
            "asked for": self.asked,
            "domains": len(self.domains),
            "cells": [min(sizes), max(sizes)] if sizes else [],
            "epsilons": [min(self.epsilons), max(self.epsilons)] if sizes else [],
            "workloads": sorted(self.workloads),
            "trials": sorted(self.trials),
            "notions": sorted(self.notions),
            "domains kept out by supports()": kept_out,
            "cases with counts too large for exact answers": self.too_large,
            "batches that took too long": self.too_slow,
            "what took too long": self.slow,
            "left aside, as different on the same counts too": [
                *(NAMES[name] for name in self.aside),
                *(["numbers in printed text"] if self.varying else []),
            ],
            "largest share of epsilon": self.share,
        }


def check_replay(subject: Subject) -> Mapping[str, Any]:
    """Nothing that leaves a run depends on the counts but by its answers, and no answer costs more than it is paid."""
    runner = Runner(subject.algorithm, subject.side_information)
    cases = Cases(subject.algorithm, subject.replayed or subject.notions, subject.seed, subject.domain)
    prepare(subject)
    seconds = subject.seconds * len(cases.notions) / len(subject.notions)
    tried, begun, last, most = Tried(asked=subject.cases), processor_seconds(), 0.0, np.inf
    for number in range(-(-subject.cases // BATCH)):
        now = processor_seconds()
        if number >= FEWEST and now - begun > seconds:
            break
        if cases.is_largest(number) and now - last > QUICK:
            continue
        last = now
        batch = [case for case in cases.batch(number) if case.domain.size < most]
        if not batch:
            continue
        prepare_ours(subject, batch)
        runner = replace(runner, warm=_many_runs(runner) if number == WARMED and not subject.ours else 0)
        try:
            runner, looked, words = examined(subject, runner, batch, number)
        except TooSlow:
            tried.too_slow += 1
            tried.slow = tried.slow or slow_words(runner, batch)
            most = max(case.domain.size for case in batch)
            continue
        except CheckFailed as failure:
            if cases.is_largest(number):
                continue
            raise CheckFailed(f"{subject.name} fails on {batch[0].domain} and other domains: {failure}") from None
        if words and cases.is_largest(number) and looked.finding is not None and looked.finding.kind == "fails":
            continue  # beyond what it was made for, whatever the counts
        if words:
            raise CheckFailed(words)
        tried.add(batch, looked)
    if not tried.cases:
        slow = f"; {tried.slow}" if tried.slow else ""
        raise NotExamined(f"{subject.name}: no random case could be compared{slow}")
    tried.aside, tried.varying = runner.aside, bool(runner.varying)
    return tried.figures(cases.kept_out)


def _many_runs(runner: Runner) -> int:
    """How often it can run on a few cells in the time there is for that; none where it does not run there."""

    def several() -> float:
        begun = processor_seconds()
        runner.warmed(SOME)
        return (processor_seconds() - begun) / SOME

    with suppress(CheckFailed, TooSlow):
        return int(min(WARMING / max(fresh(several, SECONDS, silent=True), 1e-6), MANY_RUNS))
    return 0


def prepare(subject: Subject) -> None:
    """Load the modules that runs need, so that each fresh process has them; the algorithm itself does not run here."""
    if type(subject.algorithm) in _loaded:
        return
    _loaded.add(type(subject.algorithm))
    runner, cases = Runner(subject.algorithm, subject.side_information), Cases(subject.algorithm, subject.notions, 0)

    def some() -> None:
        for case in cases.batch(0):
            with suppress(Exception):
                runner.run(replace(case, workload=workload_for(case.domain)), case.x, seed=0)

    load_what_it_loads(some, LOADING)


def prepare_ours(subject: Subject, batch: Sequence[Case]) -> None:
    """What one of ours computes from workload and budget, once for all worlds; a stranger's code is not run here."""
    if subject.ours:
        for case in batch:
            with suppress(Exception):
                subject.algorithm._prepare(case.workload)
                subject.algorithm.notion(**case.budget)


def examined(subject: Subject, runner: Runner, batch: Sequence[Case], number: int) -> tuple[Runner, Looked, str]:
    """One batch, as often as something turns out to differ on the same counts too; what was found, in words."""
    while True:
        looked = gone_through(runner, batch, number)
        if looked.finding is None:
            return runner, looked, ""
        words, cured = cause(subject, runner, batch, looked.finding)
        if words:
            return runner, looked, words
        runner = cured


def gone_through(runner: Runner, batch: Sequence[Case], number: int) -> Looked:
    """One batch in its worlds."""
    recorded = record(runner, batch)
    looked = force(runner, batch, recorded)
    if looked.finding is None and number % UNRECORDED_EVERY == 0:
        looked.finding = unrecorded(runner, batch, recorded).finding
    return looked


def cause(subject: Subject, runner: Runner, batch: Sequence[Case], finding: Finding) -> tuple[str, Runner]:
    """What was seen, on the smallest case found, in words that the evidence supports.

    No words where the same is seen on the same counts, and a runner that leaves that aside: memory that nobody wrote
    to, or a time that is printed. A rounded time seldom differs, so beside a time what is printed has to differ again.
    """
    found = shrink(runner, batch, finding)
    kind, words = found.finding.kind, found.finding.words
    where = f"{subject.name} is not private on {found.case.domain}"
    if kind == "fails":
        where = f"{subject.name} fails on {found.case.domain}"
    if kind == "direct":
        where = f"{subject.name} does something else when it is recorded, on {found.case.domain}"
    if kind == "batch":
        where = f"{subject.name} mixes its trials on {found.case.domain}"
    beside = next((name for name in BESIDE if NAMES[name] in words), "")
    unsteady = beside == "printed" and runner.varying and not _every_time(runner, found.cases, kind)
    if (beside or kind == "differs") and (unsteady or _by_itself(runner, found.cases, batch)):
        if beside == "printed":
            varying = runner.varying | printed_otherwise(runner, batch)
            if varying != runner.varying:
                return "", replace(runner, varying=varying)
        if beside:
            return "", replace(runner, aside=(*runner.aside, beside))
        where = f"{subject.name} cannot be examined on {found.case.domain}"
        by = "as by random numbers of its own, by a clock, or by memory that nobody wrote to (np.empty)"
        words = f"two runs on the same counts with the same answers differ, {by}: {words}"
        words += "; what error bars draw needs a seed" if NAMES["bars"] in words else ""
    elif kind == "differs":
        on = "a neighbour" if found.case.cell is not None else "other counts"
        words = f"on {on} {words}"
    return f"{where}: {words}; seen with {found.reproduction()}", runner


def _by_itself(runner: Runner, *several: Sequence[Case]) -> bool:
    """Whether the same is seen where the counts do not differ at all, in any of a few runs of some cases."""
    return any(
        (seen := look(runner, [replace(case, y=case.x, cell=None) for case in cases], "differs")) is not None
        and seen.kind == "differs"
        for cases in several
        for _ in range(AGAIN)
    )


def _every_time(runner: Runner, cases: Sequence[Case], kind: str) -> bool:
    """Whether something is seen in each of a few more runs."""
    return all(look(runner, cases, kind) is not None for _ in range(AGAIN))
