"""Events that tell two neighbours apart: chosen on one half of the runs, tested once on the other.

For an (epsilon, delta)-private algorithm P(E on x) <= exp(epsilon) P(E on x') + delta for every event E. The lower
Clopper-Pearson bound of the one probability, less delta, over the upper bound of the other refutes every epsilon below
its logarithm.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

TAILS = np.array([0.0003, 0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.08])
LEVELS = np.concatenate([TAILS, np.linspace(0.1, 0.9, 25), 1 - TAILS[::-1]])
"""Quantiles, of both halves together, at which thresholds are tried."""
ATOMS = 6
"""Most frequent values of a number, each tried as an event of its own."""
CAUTION = 3.0
"""Standard errors that the logarithm of a ratio is lowered by when events are compared."""
POWER = 0.95
"""Probability with which a loss has to be refuted to count as within reach."""


@dataclass(frozen=True)
class Event:
    """A set of outputs: those whose number ``column`` of a family is below, above or exactly at a value."""

    family: str
    column: int
    relation: str
    value: float

    def holds(self, numbers: Floats) -> NDArray[np.bool_]:
        """In which runs it happened."""
        column = numbers[:, self.column]
        if self.relation == "at":
            return np.asarray(column == self.value)
        return np.asarray(column <= self.value if self.relation == "below" else column > self.value)

    def __str__(self) -> str:
        relation = {"at": "exactly", "below": "at most", "above": "above"}[self.relation]
        return f"{self.family} [{self.column}] {relation} {self.value:.6g}"


@dataclass(frozen=True)
class Test:
    """One event, counted once on runs that had no part in choosing it."""

    event: Event
    happened: int
    """Runs on x."""
    happened_on_neighbour: int
    """Runs on the neighbour."""
    runs: int
    refuted: float
    """Every epsilon below this is refuted; may be negative."""
    within_reach: float
    """The least loss on this event that would have been refuted with probability 95 %; inf: none."""

    def above(self, epsilon: float) -> float:
        """Standard errors by which the logarithm of the ratio of frequencies exceeds epsilon."""
        ours, theirs = self.happened + 0.5, self.happened_on_neighbour + 0.5
        return float((np.log(ours / theirs) - epsilon) / np.sqrt(1 / ours + 1 / theirs))


def choose_event(family: str, mine: Floats, other: Floats) -> Event:
    """The event of a family whose probability seems to exceed the other side's by most; ``(runs, numbers)`` each."""
    best, score = Event(family, 0, "below", np.inf), -np.inf
    for column in range(mine.shape[1]):
        for relation, values, ours, theirs in _counted(mine[:, column], other[:, column]):
            ratio = np.log((ours + 0.5) / (theirs + 0.5))
            cautious = ratio - CAUTION * np.sqrt(1 / (ours + 0.5) + 1 / (theirs + 0.5))
            place = int(np.argmax(cautious))
            if cautious[place] > score:
                score = float(cautious[place])
                best = Event(family, column, relation, float(values[place]))
    return best


def _counted(mine: Floats, other: Floats) -> list[tuple[str, Floats, Floats, Floats]]:
    """Candidate events of one number: relation, values, and how often each happened on either side."""
    ours, theirs = np.sort(mine), np.sort(other)
    both = np.sort(np.concatenate([ours, theirs]), kind="stable")
    values = both[(LEVELS * (len(both) - 1)).astype(np.int64)]
    below = [np.searchsorted(ordered, values, side="right").astype(np.float64) for ordered in (ours, theirs)]
    found = [("below", values, below[0], below[1]), ("above", values, len(ours) - below[0], len(theirs) - below[1])]
    starts = np.flatnonzero(np.concatenate([[True], both[1:] != both[:-1]]))
    if len(starts) < len(both):
        lengths = np.diff(np.append(starts, len(both)))
        frequent = both[starts[np.argsort(-lengths, kind="stable")[:ATOMS]]]
        at = [
            (np.searchsorted(ordered, frequent, "right") - np.searchsorted(ordered, frequent, "left")).astype(
                np.float64
            )
            for ordered in (ours, theirs)
        ]
        found.append(("at", frequent, at[0], at[1]))
    return found


def test_event(
    event: Event,
    mine: Mapping[str, Floats],
    other: Mapping[str, Floats],
    epsilon: float,
    alarm: float,
    delta: float,
) -> Test:
    """Count an event on fresh runs; ``alarm`` is the probability of a false refutation."""
    happened = int(event.holds(mine[event.family]).sum())
    elsewhere = int(event.holds(other[event.family]).sum())
    runs = len(mine[event.family])
    highest = _upper(elsewhere, runs, alarm / 2)
    lowest = _lower(happened, runs, alarm / 2) - delta
    refuted = float(np.log(lowest / highest)) if lowest > 0 else -np.inf
    reach = _within_reach(elsewhere, runs, epsilon, alarm / 2)
    return Test(event, happened, elsewhere, runs, refuted, reach)


def _lower(happened: int, runs: int, alarm: float) -> float:
    """Clopper-Pearson: the probability is below this with probability at most ``alarm``."""
    from scipy.special import betaincinv

    return float(betaincinv(happened, runs - happened + 1, alarm)) if happened else 0.0


def _upper(happened: int, runs: int, alarm: float) -> float:
    """Clopper-Pearson: the probability is above this with probability at most ``alarm``."""
    from scipy.special import betaincinv

    return float(betaincinv(happened + 1, runs - happened, 1 - alarm)) if happened < runs else 1.0


def _within_reach(elsewhere: int, runs: int, epsilon: float, alarm: float) -> float:
    """The least log-ratio to the neighbour's probability that is refuted nineteen times in twenty.

    Either side may be unlucky one time in forty: the neighbour's count high, or this side's low.
    """
    from scipy.special import bdtrik, betaincinv

    unlucky = (1 - POWER) / 2
    probability = max(elsewhere, 0.5) / runs
    high = min(runs, int(np.ceil(bdtrik(1 - unlucky, runs, probability)))) if probability < 1 else runs
    needed = float(np.exp(epsilon)) * _upper(high, runs, alarm)
    few, many = 0, runs + 1  # the lower bound grows with the number of runs in which the event happened
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if _lower(middle, runs, alarm) > needed else (middle, many)
    if many > runs:
        return np.inf
    return float(np.log(betaincinv(many, runs - many + 1, 1 - unlucky) / probability))
