"""What is known of the error before the table is opened, and of the released answers afterwards.

An estimate and what is published of it are two things: published numbers are whole and not negative
(:data:`dpbench.releasable.STEPS`). That moves the error either way, by how much depends on the table, and there is no
useful bound; so it is tried, on synthetic tables of the same cells at the same budget. What was tried is not proved,
and both are said apart.

An interval is about the true answer, and made from the estimate. The published answer can be outside of it, and then
the interval is widened until it is not: a wider interval holds the truth as often or more often.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache, reduce
from itertools import product
from math import ceil, floor, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.advice.advisor import Advice, Alternative, usual
from dpbench.advice.experience import BELIEF
from dpbench.advice.experience import STEPS as NEAR
from dpbench.algorithm import Algorithm, Outcome
from dpbench.datasets import families, shapes
from dpbench.domain import Domain
from dpbench.errors import DPBenchError, Unsupported
from dpbench.generator import generate
from dpbench.mathematics.postprocess import apply_steps
from dpbench.privacy import Notion
from dpbench.releasable import STEPS
from dpbench.release.writing import csv_bytes
from dpbench.tables.spec import Boxes
from dpbench.workloads import Ranges, Workload

Ints = NDArray[np.int64]

LEVEL = 0.9
"""Of intervals."""
KNOWN = "Hb"
"""Whose error is known whatever the data, for those whose own is not."""
MAGNITUDES = (10**3, 10**4, 10**5, 10**6, 10**7, 10**8)
"""Numbers of records that a statement speaks of where nobody guesses one."""
RUNS = 40
"""On each synthetic table, where there is time for so many."""
MOST_CELLS = 2 * 10**7
"""Of all these runs together: a few seconds."""


@dataclass(frozen=True)
class Tried:
    """Root mean squares of published answers' errors on synthetic tables; another table may be outside."""

    low: float
    high: float
    tables: int
    fewest: int
    """Rows."""
    most: int

    def __str__(self) -> str:
        rows = f"{self.fewest:,} to {self.most:,} rows"
        return f"on {self.tables} synthetic tables of {rows} it was off by {self.low:.3g} to {self.high:.3g} records"


@dataclass(frozen=True)
class Statement:
    """What can be said of the error without the table."""

    algorithm: str
    workload: str
    root_mean_square: float | None
    """Of the estimate of a range of the workload, in records; None where it depends on the data."""
    known_alternative: float | None
    """The same of Hb, whose error does not depend on the data, where the algorithm's does."""

    advice: tuple[Advice, ...] = ()
    """What the study says: for the number of rows that the spec guesses, or for several."""
    published: Tried | None = None
    """What an answer was off by once the estimate was made whole and non-negative; None where that was not tried."""

    def __str__(self) -> str:
        return "\n".join([f"Before the table was opened: {self._known}", *self._advised])

    @property
    def _advised(self) -> list[str]:
        """The whole advice for one number of rows; a line for each of several."""
        if len(self.advice) < 2:
            return [str(each) for each in self.advice]
        listed = [
            f"  {each.records:>11,} rows: {each.expected:.3g} records; between {each.low:.3g} and {each.high:.3g} for "
            f"9 of 10 kinds of data; a bad run (1 in 20) up to {each.bad_run:.3g}"
            for each in self.advice
        ]
        return [
            "What the study says, by the number of rows (records = N in the spec has more to say):",
            *listed,
        ]

    @property
    def _known(self) -> str:
        if self.root_mean_square is not None:
            tried = "how much that changes was not tried on so many cells"
            if self.published is not None:
                tried = f"{self.published}; that was tried and not proved, so another table may be outside"
            return (
                f"over {self.workload}, the estimate is off by about {self.root_mean_square:.4g} records (root mean "
                f"square), whatever the data. What is published is the estimate made whole and non-negative: {tried}."
            )
        said = f"the error of {self.algorithm} depends on the data, so it is not known exactly."
        if self.known_alternative is None:
            return said
        return (
            f"{said} For comparison, over {self.workload} the estimate of {KNOWN} would be off by about "
            f"{self.known_alternative:.4g} records (root mean square), whatever the data, before it is made whole and "
            f"non-negative."
        )

    def as_json(self) -> dict[str, Any]:
        """For machines; errors are root mean squares of a range, in records."""
        return {
            "made": "before the table was opened",
            "algorithm": self.algorithm,
            "workload": self.workload,
            "error": self.root_mean_square,
            f"error_of_{KNOWN.lower()}": self.known_alternative,
            "error_is_of": "the estimate, before it is made whole and non-negative",
            "published": None if self.published is None else asdict(self.published),
            "advice": [each.to_dict() for each in self.advice],
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Statement:
        """The statement that was written."""
        return cls(
            plain["algorithm"],
            plain["workload"],
            plain["error"],
            plain[f"error_of_{KNOWN.lower()}"],
            tuple(map(_advice, plain["advice"])),
            None if plain["published"] is None else Tried(**plain["published"]),
        )


def usual_workload(domain: Domain) -> tuple[Workload, str]:
    """What a release is made for, and its words: all prefixes of a line, random ranges elsewhere."""
    workload = usual(domain)
    return workload, "all prefixes" if domain.ndim == 1 else f"{workload.queries:,} random ranges"


def state(
    algorithm: Algorithm,
    workload: Workload,
    words: str,
    notion: Notion,
    advice: tuple[Advice, ...] = (),
    records: int | None = None,
) -> Statement:
    """The statement, from public facts alone."""
    own, alternative = expected(algorithm, workload, notion)
    published = None if own is None else _tried(algorithm, workload, notion, own, records)
    return Statement(algorithm.name, words, own, alternative, advice, published)


def expected(algorithm: Algorithm, workload: Workload, notion: Notion) -> tuple[float | None, float | None]:
    """The error of an estimate, where it is known whatever the data; else that of the alternative."""
    from dpbench import algorithms

    own = _expected(algorithm, workload, notion)
    return own, _expected(algorithms.get(KNOWN), workload, notion) if own is None else None


def _expected(algorithm: Algorithm, workload: Workload, notion: Notion) -> float | None:
    try:
        return sqrt(float(algorithm.expected_error(workload, **as_budget(notion))))
    except Unsupported:
        return None


def as_budget(notion: Notion) -> dict[str, Any]:
    """A notion as :meth:`Algorithm.outcome` and others take it."""
    return {"epsilon": notion.amount} if notion.name == "pure" else {"rho": notion.amount}


@lru_cache(maxsize=8)
def _tried(algorithm: Algorithm, workload: Workload, notion: Notion, error: float, records: int | None) -> Tried | None:
    """What published answers are off by on synthetic tables, where the estimate's noise is the same on any.

    All tables see the same noise, and the mean over it is put right by the known error of the estimate.
    """
    domain = workload.domain
    sizes: tuple[int, ...] = MAGNITUDES
    if records is not None:
        sizes = tuple(max(round(records * BELIEF**step), 1) for step in NEAR)
    if domain.size > MOST_CELLS:
        return None
    tables = list(product(sizes, families.names(2 if domain.ndim == 2 else 1)))
    tables = tables[:: ceil(len(tables) * domain.size / MOST_CELLS)]
    runs = max(min(RUNS, MOST_CELLS // (len(tables) * domain.size)), 1)
    noise = algorithm.run(np.zeros(domain.shape, dtype=np.int64), workload, trials=runs, seed=0, **as_budget(notion))
    before, off = sqrt(workload.mean_squared(noise).mean()), []
    for size, family in tables:
        try:
            counts = generate(_shape(family, domain), scale=size, domain=domain, seed=0)
        except DPBenchError:  # more rows than can be made
            return None
        off.append(sqrt(workload.mean_squared(apply_steps(noise + counts, STEPS) - counts).mean()))
    low, high = (end * (error / before if before else 1.0) for end in (min(off), max(off)))
    return Tried(low, high, len(tables), min(sizes), max(sizes))


def _shape(family: str, domain: Domain) -> NDArray[np.float64]:
    """A synthetic shape; in more than two dimensions the product of one along every axis."""
    if domain.ndim <= 2:
        return shapes.get(f"{family}/0", domain)
    return np.asarray(reduce(np.multiply.outer, [shapes.get(f"{family}/0", side) for side in domain]))


def _advice(plain: Mapping[str, Any]) -> Advice:
    """What ``Advice.to_dict`` made."""
    known: dict[str, Any] = {
        name: tuple(each) if isinstance(each, list) else each for name, each in plain.items() if name != "text"
    }
    known["domain"] = Domain.of(plain["domain"])
    known["alternatives"] = tuple(Alternative(**each) for each in plain["alternatives"])
    return Advice(**known)


def named_ranges(domain: Domain, boxes: Boxes) -> tuple[list[str], Ranges]:
    """The ranges of a spec, and everything, as a workload."""
    everything = {"everything": tuple((0, side) for side in domain)}
    listed = {**everything, **boxes}
    lower = np.array([[first for first, _ in box] for box in listed.values()])
    upper = np.array([[last for _, last in box] for box in listed.values()])
    return list(listed), Ranges(domain, lower, upper)


@dataclass(frozen=True)
class Intervals:
    """Where the true answers are, each nine times in ten."""

    ends: Ints
    """``(q, 2)``, whole numbers of at least 0, around the published answers."""
    guaranteed: NDArray[np.bool_]
    """``(q,)``: whether that holds on any table, or rests on a model that was tried on many."""
    sure: Ints
    """``(q, 2)``: intervals that hold on any table; the same where ``ends`` are such."""

    def words(self, number: int) -> str:
        """One of them in words."""
        low, high = self.sure[number].tolist()
        sure = f"between {low:,} and {high:,} with probability {LEVEL:g} or more, whatever the table"
        if self.guaranteed[number]:
            return f"the true number is {sure}"
        low, high = self.ends[number].tolist()
        return (
            f"the true number is {sure}; by a model it is between {low:,} and {high:,}, which held for 9 of 10 ranges "
            f"on the tables that were tried, and for some ranges of some tables far less often"
        )


def intervals(outcome: Outcome, ranges: Workload, published: Ints) -> Intervals | None:
    """Intervals of level 0.9 for the true answers, around the published ones; None where the algorithm has none.

    The truth is a whole number of at least 0, so ends are rounded outwards and cut at 0. That also covers noise on
    whole numbers: a single one is beyond the rounded width with no greater chance than continuous noise of the same
    scale is beyond the width before rounding. Each interval is widened to hold the published answer, ``(q,)``.
    """
    try:
        found = sure = outcome.intervals(ranges, LEVEL)[0]
        guaranteed = outcome.guaranteed(ranges)[0]
        if not guaranteed.all():
            sure = outcome.intervals(ranges, LEVEL, guaranteed=True)[0]
    except Unsupported:
        return None
    return Intervals(_around(published, found), guaranteed, _around(published, sure))


def _around(published: Ints, found: NDArray[np.float64]) -> Ints:
    ends = [
        [min(max(floor(low), 0), answer), max(ceil(high), answer)]
        for (low, high), answer in zip(found.tolist(), published.tolist(), strict=True)
    ]
    return np.array(ends, dtype=np.int64)


@dataclass(frozen=True)
class Answers:
    """The published answers of the named ranges, with their intervals, as they are written."""

    names: list[str]
    ranges: Ranges
    values: Ints
    """``(q,)``."""
    bars: Intervals | None

    @classmethod
    def of(cls, boxes: Boxes, counts: Ints, outcome: Outcome) -> Answers:
        """Those of a release, whose published counts are given."""
        names, ranges = named_ranges(Domain(counts.shape), boxes)
        values = answered(ranges, counts)
        return cls(names, ranges, values, intervals(outcome, ranges, values))

    def csv(self) -> bytes:
        """``answers.csv``."""
        import pyarrow as pa

        bars, nothing = self.bars, pa.nulls(len(self.names), pa.int64())
        columns: dict[str, Any] = {"range": self.names, "answer": self.values}
        columns["low"], columns["high"] = (nothing, nothing) if bars is None else (bars.ends[:, 0], bars.ends[:, 1])
        columns["guaranteed"] = nothing if bars is None else ["yes" if each else "no" for each in bars.guaranteed]
        columns["guaranteed_low"], columns["guaranteed_high"] = (
            (nothing, nothing) if bars is None else (bars.sure[:, 0], bars.sure[:, 1])
        )
        return csv_bytes([pa.table(columns)])

    def as_json(self) -> dict[str, Any]:
        """The cells and the answer of every range, and their intervals."""
        boxes = np.stack([self.ranges.lower, self.ranges.upper], axis=-1).tolist()
        listed = zip(self.names, boxes, self.values.tolist(), strict=True)
        ranges = {name: {"cells": box, "answer": answer} for name, box, answer in listed}
        return {"ranges": ranges, "intervals": None if self.bars is None else self._intervals(self.bars)}

    def _intervals(self, bars: Intervals) -> dict[str, Any]:
        keys = ("low", "high", "guaranteed_low", "guaranteed_high", "guaranteed")
        columns = (*bars.ends.T.tolist(), *bars.sure.T.tolist(), bars.guaranteed.tolist())
        rows = zip(*columns, strict=True)
        found = {name: dict(zip(keys, row, strict=True)) for name, row in zip(self.names, rows, strict=True)}
        return {"level": LEVEL, "ranges": found}

    def lines(self) -> list[str]:
        """The end of ``error.txt``."""
        if self.bars is None:
            said = [f"{name}: {answer:,}" for name, answer in zip(self.names, self.values.tolist(), strict=True)]
            return [*said, "The algorithm has no intervals for its answers."]
        return [f"{name}: {self.values[at]:,}; {self.bars.words(at)}" for at, name in enumerate(self.names)]

    @classmethod
    def from_json(cls, plain: Mapping[str, Any], counts: Ints) -> Answers:
        """The answers that were written; their values are those of the counts."""
        boxes = {name: tuple((first, last) for first, last in each["cells"]) for name, each in plain["ranges"].items()}
        names, ranges = named_ranges(Domain(counts.shape), boxes)
        bars, found = None, plain["intervals"]
        if found is not None:
            rows = [found["ranges"][name] for name in names]
            ends, sure = (
                np.array([[row[f"{which}low"], row[f"{which}high"]] for row in rows], dtype=np.int64)
                for which in ("", "guaranteed_")
            )
            bars = Intervals(ends, np.array([row["guaranteed"] for row in rows], dtype=np.bool_), sure)
        return cls(names, ranges, answered(ranges, counts), bars)


def error_text(statement: Statement, answers: Answers) -> bytes:
    """``error.txt``: what was known before, then the answers."""
    return "\n".join([str(statement), *answers.lines(), ""]).encode()


def answered(ranges: Workload, counts: Ints) -> Ints:
    """``(q,)``: the answers of published counts."""
    return np.asarray(ranges.answer(counts[np.newaxis])[0]).astype(np.int64)
