"""Which algorithm to use, from public facts alone: cells, budget, and about how many records there are."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, isfinite, sqrt
from typing import Any

import numpy as np

from dpbench import algorithms, given, workloads
from dpbench.advice import experience
from dpbench.advice.experience import BELIEF, CLEARLY, RISKS, Range
from dpbench.advice.experience import STEPS as NEAR
from dpbench.data_independent import expected_errors
from dpbench.domain import Domain
from dpbench.errors import InvalidInput, Unsupported
from dpbench.mathematics.postprocess import apply_steps
from dpbench.privacy import read_budget
from dpbench.releasable import STEPS, why_not
from dpbench.workloads import Workload

Cells = Domain | int | str | Sequence[int]

LONGEST_TO_SHORTEST = 2
"""In two dimensions the study has squares; a rectangle is within it if no side is longer than twice the other."""
RUNS = 200
"""Runs on an empty table that show how an error that depends on no data varies from run to run."""
MOST_NUMBERS = 5 * 10**7
"""Cells and answers of all those runs together; where there would be more, nothing is simulated."""
WORST = 20
"""There, by Markov's inequality: squared error is more than 20 times its mean in at most 1 run of 20."""
MANY = 500
"""Random ranges in the plane that are as good as the 2,000 of the study."""
NEARLY = 1.05
"""A release that adds less is not worth a word."""
SURE = (1.0, 1.0)
"""How often an interval and a bad run hold that depend on no data."""
SURE_OF_ALL = (1.0, 1.0, 1.0)
"""Factors of low, high and a bad run where nothing is done to an estimate."""
FULL = 1000
"""Times the largest noise of a cell: a table so full that all a release does there is rounding."""
WHATEVER = "If you need an error that is known whatever the data"
NEXT = "Next to it, likewise known whatever the data"


@dataclass(frozen=True)
class Alternative:
    """Another algorithm that could be used."""

    algorithm: str
    expected: float
    """Root mean square error of a range, in records."""
    released: float
    """What it is at most after the steps of a release, as far as synthetic shapes have shown."""
    why: str


@dataclass(frozen=True)
class Advice:
    """One algorithm, and what to expect of it; ``str()`` is the text. Errors are root mean squares, in records."""

    algorithm: str
    domain: Domain
    workload: str
    budget: str
    records: int
    expected: float
    low: float
    """The mean over runs is at least this, for most kinds of data."""
    high: float
    """The mean over runs is at most this, for most kinds of data."""
    bad_run: float
    """One run in twenty is worse than this, for most kinds of data."""
    coverage: float
    """The part of settings with left-out data in which ``low`` to ``high`` held; 1 where it holds for all data."""
    bad_run_coverage: float
    """Likewise for ``bad_run``."""
    unseen: tuple[float, ...]
    """Both again on generators and public tables that nothing was made with; empty where that was not evaluated."""
    alternatives: tuple[Alternative, ...]
    releasable: tuple[str, ...]
    """Which of these can be released by exact noise."""
    notes: tuple[str, ...]
    """What the advice rests on, and what was outside of it."""

    def __str__(self) -> str:
        near = f"{self.records / BELIEF:,.0f} to {self.records * BELIEF:,.0f}"
        asked = f"{self.workload} on {self.domain} cells, {self.budget}, about {self.records:,} records ({near})"
        lines = [
            f"{self.algorithm}, for {asked}.",
            f"Expect a range to be off by about {self._amount(self.expected)}; {self._interval}",
            f"A bad run (1 in 20): up to {_records(self.bad_run)} records. {self._experience}",
            *map(_alternative, self.alternatives),
            f"Exactly releasable: {self._exactly}.",
            *self.notes,
        ]
        return "\n".join(lines)

    @property
    def _exactly(self) -> str:
        named = {self.algorithm, *(each.algorithm for each in self.alternatives)}
        if not self.releasable:
            return "neither; --exact names one that is" if len(named) > 1 else "it is not; --exact names one that is"
        if len(named) > 1 and set(self.releasable) == named:
            return "both"
        return self.releasable[0]

    @property
    def _interval(self) -> str:
        if self.coverage == 1:
            known = f"{_records(self.high)} on average over runs"
            if self.high <= NEARLY * self.expected:
                return f"at most {known}, whatever the data."
            return f"whatever the data as it comes, and up to {known} after a release, as far as shapes have shown."
        return f"between {_records(self.low)} and {_records(self.high)} for 9 of 10 kinds of data."

    @property
    def _experience(self) -> str:
        if self.coverage == 1:
            return "As it comes, neither depends on the data."
        held = f"the interval held in {self.coverage:.0%} of settings, and this bound in {self.bad_run_coverage:.0%}"
        more = "; on generators and public tables that it was not made with, in {:.0%} and {:.0%}"
        new = more.format(*self.unseen) if self.unseen else ""
        return f"On kinds of data left out of the study {held}{new}."

    def _amount(self, error: float) -> str:
        return f"{_records(error)} records ({100 * error / self.records:.2g} %)"

    def to_dict(self) -> dict[str, Any]:
        """The advice as plain values."""
        plain = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        plain["domain"] = str(self.domain)
        plain["alternatives"] = [vars(each) for each in self.alternatives]
        plain["unseen"] = list(self.unseen)
        return plain | {"notes": list(self.notes), "releasable": list(self.releasable), "text": str(self)}


def recommend(
    cells: Cells,
    epsilon: object,
    records: object,
    *,
    delta: object = None,
    workload: Workload | None = None,
    risk: str = "mean",
    exact: bool = False,
    among: Collection[str] = (),
) -> Advice:
    """One algorithm for a domain, a budget and about so many records, with the error to expect.

    No table can be given: everything here is public. The number of records is a guess, believed within a factor of
    three. Without a workload, the ranges are those of the study: all prefixes in 1-D, 2,000 random ranges else. With
    ``exact``, only algorithms that `dpbench release` can draw exactly are named; ``among`` names those to choose from.
    What is said holds for estimates as they come and for what a release makes of them, the wider of the two.

    >>> advice = recommend("64x64", epsilon=0.5, records=100_000)
    >>> advice.low <= advice.expected <= advice.high <= advice.bad_run
    True
    """
    named = given.texts(among, "among") or tuple(algorithms.ours())
    drawn = given.of_kind(exact, bool, "exact", "True")
    menu = [name for name in named if not (drawn and why_not(given.known(name, "algorithm", algorithms.ours())))]
    facts = Facts.of(cells, epsilon, records, delta, workload, menu)
    given.known(risk, "risk", RISKS)
    fixed, reason = facts.fixed, facts.beyond_the_study
    learned = None if reason else facts.learned(risk)
    if learned is None or (fixed and facts.rather_known(learned)):
        if not fixed:
            raise Unsupported(f"nothing is known beforehand of {', '.join(menu) or 'no algorithm'} here. {reason}")
        chosen, others = fixed[0], facts.alternatives(fixed[1:2], NEXT)
        error = facts.after_release(chosen)
        return facts.advice(chosen.algorithm, error, chosen.budget, SURE, SURE, others, chosen.notes(reason))
    at = str(facts.domain.ndim)
    held = experience.shipped()["held"][at][risk]
    unseen = _parts(experience.shipped(experience.TRIED).get("unseen", {}).get(at, {}).get(risk, {}))
    others = facts.alternatives(fixed[:1], WHATEVER)
    return facts.advice(
        learned.algorithm,
        learned.error,
        facts.pure,
        (held["interval"], held["bad_run"]),
        unseen,
        others,
        (facts.studied,),
    )


@dataclass(frozen=True)
class Learned:
    """An algorithm whose error depends on the data, as the study knows it."""

    algorithm: str
    error: Range


@dataclass(frozen=True)
class Fixed:
    """An algorithm whose error depends on no data."""

    algorithm: str
    error: float
    """Root mean square error of a range; the mean over runs is at most this."""
    workload: Workload
    epsilon: Any
    delta: Any

    @property
    def budget(self) -> str:
        """Its noise is Gaussian where there is a delta."""
        return f"epsilon {self.epsilon:g}" + (f", delta {self.delta:g}" if self.delta else "")

    @property
    def range(self) -> Range:
        """What single runs come to, seen in runs on an empty table: as they come, any other gives the same.

        After the steps of a release an empty table gives the least, and a full one what whole numbers add. On the sizes
        of the study runs at epsilon 1 are kept, and noise grows with 1 / epsilon. Above epsilon 1 whole numbers may
        swallow it where a table is next to empty, so the least is looked at.
        """
        domain, kept = self.workload.domain, experience.runs_at_epsilon_1(self.workload.domain, self.algorithm)
        if not kept or self.delta or self.workload.key != usual(domain).key:
            return self._seen
        low = kept["low"] if self.epsilon <= 1 else self._seen.low * self.epsilon
        added, at_1 = experience.rounding(domain.ndim, domain.shape[0]), self.error * self.epsilon
        return Range(at_1, low, at_1, kept["bad_run"]).in_records(self.epsilon, added)

    @property
    def _seen(self) -> Range:
        """The same from runs now."""
        domain = self.workload.domain
        corners = 1 if domain.ndim <= 2 else 2**domain.ndim  # of a box; up to two axes a kernel adds them up
        if RUNS * (domain.size + corners * (self.workload.queries or 0)) > MOST_NUMBERS:
            return Range(self.error, 0.0, self.error, self.error * sqrt(WORST))
        zeros = np.zeros(domain.shape, dtype=np.int64)
        algorithm = algorithms.get(self.algorithm)
        budget = {"epsilon": self.epsilon, "delta": self.delta, "trials": RUNS, "seed": 0}
        runs = algorithm.run(zeros, self.workload, **budget)
        many = np.ceil(FULL * np.abs(runs).max())
        empty, full = apply_steps(runs, STEPS), apply_steps(runs + many, STEPS) - many
        raw, small, rounded = (np.sqrt(self.workload.mean_squared(each)) for each in (runs, empty, full))
        return Range(
            self.error,
            float(min(raw.mean(), small.mean())),
            max(self.error, float(rounded.mean())),
            float(max(np.quantile(raw, 0.95), np.quantile(rounded, 0.95))),
        )

    def notes(self, reason: str) -> tuple[str, ...]:
        """Why no algorithm that depends on the data is named, if none is."""
        exact = f"The error of {self.algorithm} is computed, not measured; no data were read, so this costs no privacy."
        return (f"{reason}.", exact) if reason else (exact,)


@dataclass(frozen=True)
class Facts:
    """What is known in public."""

    domain: Domain
    epsilon: float
    records: int
    delta: float
    workload: Workload
    menu: list[str]
    """Algorithms to choose from."""

    @classmethod
    def of(cls, cells: Cells, epsilon: Any, records: object, delta: Any, workload: object, menu: list[str]) -> Facts:
        """The facts, if they make sense."""
        domain = Domain.of(cells)
        count = given.whole(records, "records", advice="about how many there are, 1 or more")
        read_budget(epsilon, delta, None, one_measurement=True)
        ranges = usual(domain) if workload is None else given.of_kind(workload, Workload, "workload", "Prefix(1024)")
        if ranges.domain != domain:
            raise InvalidInput(
                f"the workload is on {ranges.domain} cells and the table on {domain}; give one on {domain}"
            )
        return cls(domain, float(epsilon), count, float(delta or 0), ranges, menu)

    @property
    def pure(self) -> str:
        """The budget in words, where no delta is spent."""
        return f"epsilon {self.epsilon:g}"

    @cached_property
    def fixed(self) -> list[Fixed]:
        """The algorithms whose error depends on no data, the best first, by whichever noise the budget allows."""
        found = [
            Fixed(row.algorithm, sqrt(row.error), self.workload, self.epsilon, delta)
            for delta in ((0.0, self.delta) if self.delta else (0.0,))
            for row in expected_errors(self.workload, self.epsilon, delta=delta)
            if row.algorithm in self.menu and isfinite(row.error)
        ]
        return sorted(found, key=lambda each: each.error)

    @property
    def side(self) -> float:
        """Cells along an axis; for a rectangle, along that of the square with as many cells."""
        return float(self.domain.size ** (1 / self.domain.ndim))

    @property
    def beyond_the_study(self) -> str:
        """Why the study cannot tell; empty if it can."""
        if self.domain.ndim > 2:
            return "The study has one and two dimensions, so algorithms that depend on the data are not advised on"
        if not studied_ranges(self.workload):
            return "The study has other ranges than these, so algorithms that depend on the data are not advised on"
        known, signal = experience.experience(self.domain.ndim), self.epsilon * self.records
        long, short = max(self.domain.shape), min(self.domain.shape)
        if not known.sides[0] <= self.side <= known.sides[-1] or long > LONGEST_TO_SHORTEST * short:
            shape = "squares of " if self.domain.ndim == 2 else ""
            sizes = f"{shape}{known.sides[0]} to {known.sides[-1]} cells along an axis"
            return f"The study has {sizes}, so algorithms that depend on the data are not advised on here"
        if not known.signals[0] <= signal <= known.signals[-1]:
            ends = f"{known.signals[0]:,.0f} to {known.signals[-1]:,.0f}"
            here = f"The study has epsilon times records from {ends} and not {signal:,.3g}"
            return f"{here}, so algorithms that depend on the data are not advised on"
        return ""

    def learned(self, risk: str) -> Learned | None:
        """The best algorithm by the study, of those to choose from; None where it knows none of them."""
        known, signal = experience.experience(self.domain.ndim), self.epsilon * self.records
        names = [name for name in known.names if name in self.menu]
        if not names:
            return None
        best = known.choose(names, self.side, signal, risk)
        added = experience.rounding(self.domain.ndim, self.side)
        return Learned(best, known.range(best, self.side, signal).in_records(self.epsilon, added))

    def rather_known(self, learned: Learned) -> bool:
        """Whether an error that depends on no data is to be preferred: it is clearly less, or of the same kind."""
        names = [each.algorithm for each in self.fixed]
        return learned.algorithm in names or self.fixed[0].error * exp(CLEARLY) < learned.error.expected

    def after_release(self, fixed: Fixed) -> Range:
        """The range of an error that depends on no data, widened by what a release did to it on synthetic shapes."""
        own, (low, high, bad) = fixed.range, self._released(fixed.algorithm)
        return Range(own.expected, min(own.low, own.expected * low), own.high * high, own.bad_run * bad)

    def alternatives(self, found: Sequence[Fixed], why: str) -> tuple[Alternative, ...]:
        """Errors that depend on no data, as they come and after a release."""
        return tuple(Alternative(e.algorithm, e.error, e.error * self._released(e.algorithm)[1], why) for e in found)

    def _released(self, name: str) -> tuple[float, float, float]:
        """What a release may do to low, high and a bad run: nothing to what cannot be released.

        More than two axes were not tried; two stand for them.
        """
        at, signals = str(min(self.domain.ndim, 2)), [self.epsilon * self.records * BELIEF**step for step in NEAR]
        after = experience.read_after(experience.shipped(experience.TRIED)["after"][at]).get(name)
        return after.at(signals) if after and not why_not(name) else SURE_OF_ALL

    @property
    def studied(self) -> str:
        """What the advice rests on."""
        known = experience.experience(self.domain.ndim)
        count = f"{len(known.datasets)} histograms of {len(set(known.families))} families"
        return f"From {count}; no data were read, so this costs no privacy."

    def advice(
        self,
        algorithm: str,
        error: Range,
        budget: str,
        coverage: tuple[float, float],
        unseen: tuple[float, ...],
        alternatives: tuple[Alternative, ...],
        notes: tuple[str, ...],
    ) -> Advice:
        """All of it."""
        return Advice(
            algorithm, self.domain, ranges_in_words(self.workload), budget, self.records,
            error.expected, error.low, error.high, max(error.bad_run, error.high), *coverage, unseen, alternatives,
            tuple(name for name in (algorithm, *(each.algorithm for each in alternatives)) if not why_not(name)), notes,
        )  # fmt: skip


def usual(domain: Domain) -> Workload:
    """The ranges of the study: all prefixes in one dimension, 2,000 random ranges in more."""
    return workloads.Prefix(domain) if domain.ndim == 1 else workloads.RandomRange(domain, queries=2000, seed=0)


def studied_ranges(workload: Workload) -> bool:
    """Whether the study has such ranges: prefixes on a line, many random ranges in the plane, whatever their seed."""
    random = type(workload) is workloads.RandomRange and (workload.queries is None or workload.queries >= MANY)
    return workload.key == usual(workload.domain).key or (random and workload.domain.ndim == 2)


def ranges_in_words(workload: Workload) -> str:
    """What the ranges are, for a reader."""
    if workload.key == usual(workload.domain).key:
        return "all prefixes" if workload.domain.ndim == 1 else "random ranges"
    if studied_ranges(workload):
        return "random ranges of your own"
    return "ranges of your own" if workload.queries is None else f"{workload.queries:,} ranges of your own"


def _parts(found: Mapping[str, Any]) -> tuple[float, ...]:
    """The parts of settings in which the interval and a bad run held; nothing where that was not evaluated."""
    return (found["interval"], found["bad_run"]) if found else ()


def _alternative(each: Alternative) -> str:
    after = f" ({_records(each.released)} after a release)" if each.released > NEARLY * each.expected else ""
    return f"{each.why}: {each.algorithm}, {_records(each.expected)} records{after}."


def _records(error: float) -> str:
    return f"{error:,.0f}" if error >= 100 else f"{error:.3g}"
