"""What can be asked of private counts: strategies, scores, costs, queries, trees, and statistics that they rest on.

These are public mathematics that is shown counts by the handle, and by nobody else. Each knows how far one record can
move what it computes. One that says ``lattice = 1`` (or 1/2, ...) promises that its answers or scores are whole
multiples of that, computed without rounding, whatever the counts: only then can it be drawn exactly.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpbench.privacy.budget import Number

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


class Strategy(Protocol):
    """A linear map of the counts that knows how far one record can move its answers."""

    @property
    def sensitivity(self) -> Number:
        """Largest L1 change of the answers when one record is added or removed."""
        ...

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the answers of one trial."""
        ...

    def answer(self, counts: Any, /) -> NDArray[Any]:
        """True answers, ``(*shape)``, or ``(trials, *shape)`` where each trial asks its own."""
        ...


class Score(Protocol):
    """Scores of candidates, of which a private selection prefers the highest."""

    @property
    def sensitivity(self) -> Number:
        """Largest change of any candidate's score when one record is added or removed."""
        ...

    @property
    def monotone(self) -> bool:
        """Whether adding a record never moves two scores in opposite directions."""
        ...

    def score(self, counts: Any, /) -> Floats:
        """Scores, ``(candidates,)`` or ``(trials, candidates)``; -inf forbids a candidate."""
        ...


class GroupedScore(Score, Protocol):
    """Scores of candidates that fall into groups, each about a region of its own; one candidate wins in each."""

    @property
    def starts(self) -> NDArray[np.int64]:
        """``(groups + 1,)``: group g has the candidates ``starts[g] ... starts[g + 1] - 1``."""
        ...


class PartitionCost(Protocol):
    """Costs of intervals, of which a private selection prefers the partitions that cost little in all."""

    @property
    def sensitivity(self) -> Number:
        """Largest change of the total cost of any partition when one record is added or removed."""
        ...

    @property
    def lengths(self) -> tuple[int, ...]:
        """Lengths that an interval may have, ascending, 1 among them."""
        ...

    @property
    def penalty(self) -> float:
        """Public price of every interval, in nats."""
        ...

    def cost(self, counts: Any, /) -> Floats:
        """Costs ``(lengths, n + 1)``: entry [k, e] is for the interval ``[e - lengths[k], e)``; inf forbids it."""
        ...


class Queries(Protocol):
    """A sequence of queries, of which the first whose noisy answer is above a noisy threshold is wanted."""

    @property
    def sensitivity(self) -> Number:
        """Largest change of any answer when one record is added or removed."""
        ...

    @property
    def monotone(self) -> bool:
        """Whether adding a record never moves two answers in opposite directions."""
        ...

    @property
    def threshold(self) -> Any:
        """Public; one number, or one per query."""
        ...

    def answers(self, counts: Any, /) -> Floats:
        """Answers, ``(queries,)`` or ``(trials, queries)``."""
        ...


class NestedCounts(Protocol):
    """A public tree of regions, each of which its children tile, with the count of every region."""

    @property
    def sensitivity(self) -> Number:
        """Largest change of any region's count when one record is added or removed; regions of one path change."""
        ...

    @property
    def fanout(self) -> int:
        """Largest number of children of a region, at least 2."""
        ...

    @property
    def first_child(self) -> NDArray[np.int64]:
        """``(nodes + 1,)``, breadth first: v has the children ``first_child[v] ... first_child[v + 1] - 1``."""
        ...

    def counts(self, counts: Any, /) -> NDArray[Any]:
        """``(nodes,)``; no child has more than its parent."""
        ...


class Statistic(Protocol):
    """Something computed from the counts once, shared by all trials, and never handed to the algorithm.

    A strategy, score or cost that has an attribute ``statistic`` is shown the statistic in place of the counts.
    """

    def __hash__(self) -> int: ...

    def of(self, counts: Counts) -> Any:
        """Compute it."""
        ...


class Total:
    """The strategy that asks for the number of records."""

    sensitivity = 1
    lattice = 1
    shape: tuple[int, ...] = ()

    def answer(self, counts: Counts) -> NDArray[Any]:
        """The scale."""
        return np.asarray(counts.sum())
