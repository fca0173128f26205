"""What is known of the error before the table is opened, and of the released answers afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.advice.advisor import Advice, usual
from dpbench.algorithm import Algorithm, Outcome
from dpbench.domain import Domain
from dpbench.errors import Unsupported
from dpbench.privacy import Notion
from dpbench.tables.spec import Boxes
from dpbench.workloads import Ranges, Workload

LEVEL = 0.9
"""Of intervals."""
KNOWN = "Hb"
"""Whose error is known whatever the data, for those whose own is not."""


@dataclass(frozen=True)
class Statement:
    """What can be said of the error without the table."""

    algorithm: str
    workload: str
    root_mean_square: float | None
    """Of a range of the workload, in records; None where it depends on the data."""
    known_alternative: float | None
    """The same of Hb, whose error does not depend on the data, where the algorithm's does."""

    advice: tuple[Advice, ...] = ()
    """What the study says: for the number of rows that the spec guesses, or for several."""

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
            return (
                f"over {self.workload}, an answer is off by about {self.root_mean_square:.4g} records (root mean "
                f"square), whatever the data. Rounding to whole non-negative numbers comes on top."
            )
        said = f"the error of {self.algorithm} depends on the data, so it is not known exactly."
        if self.known_alternative is None:
            return said
        return (
            f"{said} For comparison, {KNOWN} would be off by about {self.known_alternative:.4g} records over "
            f"{self.workload} (root mean square), whatever the data."
        )

    def as_json(self) -> dict[str, Any]:
        """For machines; errors are root mean squares of a range, in records."""
        return {
            "made": "before the table was opened",
            "algorithm": self.algorithm,
            "workload": self.workload,
            "error": self.root_mean_square,
            f"error_of_{KNOWN.lower()}": self.known_alternative,
            "advice": [each.to_dict() for each in self.advice],
        }


def usual_workload(domain: Domain) -> tuple[Workload, str]:
    """What a release is made for, and its words: all prefixes of a line, random ranges elsewhere."""
    workload = usual(domain)
    return workload, "all prefixes" if domain.ndim == 1 else f"{workload.queries:,} random ranges"


def state(
    algorithm: Algorithm, workload: Workload, words: str, notion: Notion, advice: tuple[Advice, ...] = ()
) -> Statement:
    """The statement, from public facts alone."""
    own = _expected(algorithm, workload, notion)
    known = None
    if own is None:
        from dpbench import algorithms

        known = _expected(algorithms.get(KNOWN), workload, notion)
    return Statement(algorithm.name, words, own, known, advice)


def _expected(algorithm: Algorithm, workload: Workload, notion: Notion) -> float | None:
    budget = {"epsilon": notion.amount} if notion.name == "pure" else {"rho": notion.amount}
    try:
        return sqrt(float(algorithm.expected_error(workload, **budget)))
    except Unsupported:
        return None


def named_ranges(domain: Domain, boxes: Boxes) -> tuple[list[str], Workload]:
    """The ranges of a spec, and everything, as a workload."""
    everything = {"everything": tuple((0, side) for side in domain)}
    listed = {**everything, **boxes}
    lower = np.array([[first for first, _ in box] for box in listed.values()])
    upper = np.array([[last for _, last in box] for box in listed.values()])
    return list(listed), Ranges(domain, lower, upper)


@dataclass(frozen=True)
class Intervals:
    """Where the true answers are, nine times in ten."""

    ends: NDArray[np.int64]
    """``(q, 2)``, whole numbers of at least 0."""
    guaranteed: NDArray[np.bool_]
    """``(q,)``: whether that holds on any table, or rests on a model that was tried on many."""

    def words(self, number: int) -> str:
        """One of them in words."""
        low, high = self.ends[number].tolist()
        if self.guaranteed[number]:
            return f"the true number is between {low:,} and {high:,} with probability {LEVEL:g}, whatever the table"
        return (
            f"the true number is between {low:,} and {high:,} about {LEVEL:.0%} of the time, by a model of such tables"
        )


def intervals(outcome: Outcome, ranges: Workload) -> Intervals | None:
    """Intervals of level 0.9 for the true answers; None where the algorithm has none.

    The truth is a whole number of at least 0, so ends are rounded outwards and cut at 0. That also covers noise on
    whole numbers: a single one is beyond the rounded width with no greater chance than continuous noise of the same
    scale is beyond the width before rounding.
    """
    try:
        found, guaranteed = outcome.intervals(ranges, LEVEL)[0], outcome.guaranteed(ranges)[0]
    except Unsupported:
        return None
    ends = [[max(floor(low), 0), max(ceil(high), 0)] for low, high in found.tolist()]
    return Intervals(np.array(ends, dtype=np.int64), guaranteed)
