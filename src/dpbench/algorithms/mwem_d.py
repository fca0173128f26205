"""MWEM-D: MWEM with boxes that cost nothing beside each selected query, and least squares in place of weights.

Zhang, McKenna, Kotsogiannis, Bissias, Hay, Machanavajjhala, Miklau. Ektelo: a framework for defining differentially
private computations. SIGMOD 2018, variant d of its section on MWEM.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpbench.mathematics.nonnegative_boxes import BoxFit, halvings_of
from dpbench.mathematics.worst_answered import Queries
from dpbench.privacy import PrivateData, evenly, split
from dpbench.query_selection import QuerySelection, Selection
from dpbench.workloads import Ranges

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

TOTAL = 0.05
"""Share of the budget for the total."""


class Total:
    """Ask for the number of records."""

    sensitivity = 1
    lattice = 1
    shape: tuple[int, ...] = ()

    def answer(self, counts: Ints) -> Ints:
        """Their sum."""
        return np.asarray(counts.sum())


class ChosenBoxAndLevel:
    """Ask for the records in one box per trial, and in those boxes of a level that do not meet it.

    No two of them meet, so one record is in one of them at most. The boxes that meet the chosen one are answered with
    0, so that every trial has as many answers.
    """

    sensitivity = 1
    lattice = 1

    def __init__(self, queries: Queries, chosen: Ints, level: Ranges) -> None:
        self.apart = np.zeros((len(chosen), level.queries), dtype=np.bool_)
        """``(trials, boxes)``: which boxes of the level do not meet the chosen one."""
        for axis in range(level.domain.ndim):
            self.apart |= level.upper[:, axis] <= queries.lower[chosen, axis, None]
            self.apart |= level.lower[:, axis] >= queries.upper[chosen, axis, None]
        self.shape = (1 + self.apart.shape[1],)
        self._queries, self._chosen, self._level = queries, chosen, level

    def answer(self, counts: Ints) -> Ints:
        """``(trials, 1 + boxes)``: the chosen box first."""
        chosen = self._queries.boxes.answer(counts)[self._chosen]
        return np.column_stack([chosen, np.where(self.apart, self._level.answer(counts), 0)])


@dataclass(frozen=True, kw_only=True)
class MWEMD(QuerySelection):
    """Each round measures a query that the estimate answers badly, and beside it all boxes of a level that avoid it.

    Round i selects a query as MWEM does. Boxes of the i-th halving of the domain that do not meet the selected
    box are measured with it: they are disjoint, so they cost nothing more. Rounds beyond the last level measure single
    cells. The estimate is the non-negative histogram that fits all noisy totals best, each by its precision, the total
    of all records among them.

    The publication gives the number of records to the algorithm; here it is estimated with a twentieth of the budget.

    Privacy
    -------
    A twentieth of the budget is spent on the total. Each round has an equal part of the rest, half for the selection
    and half for the counts. One record moves the score |W_j x - W_j xhat| by at most the largest |weight|, up or down,
    so the factor 2 of the exponential mechanism stays; xhat follows from earlier answers. The boxes of a round follow
    from the selected query and the round's number, and no two of them meet: one record moves their counts by 1.
    """

    name = "MWEM-D"
    paper = "Zhang, McKenna, Kotsogiannis, Bissias, Hay, Machanavajjhala, Miklau: Ektelo, SIGMOD 2018"
    notions = ("pure", "zCDP")
    free: ClassVar[Mapping[str, tuple[int, ...]]] = {"rounds": (1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 30, 40)}
    monotone = True
    consistent = False
    bounds: ClassVar[Mapping[str, tuple[int, int]]] = {"rounds": (1, 10**5)}

    rounds: int = 10
    """Queries to select; at most all of the workload."""

    def _learn(self, data: PrivateData, queries: Queries, rounds: int) -> Floats:
        """Select, measure, fit, round by round."""
        trials, halvings = data.trials, halvings_of(data.domain)
        for_total, rest = split(data.budget, TOTAL)
        totals = np.reshape(data.measure(Total(), for_total, "total"), trials)
        fits = [BoxFit(halvings, float(total), data.as_epsilon(for_total) ** 2) for total in totals]
        for_selection, for_counts = split(evenly(rest, rounds), 0.5)
        selection = Selection(data, queries, rounds, for_selection)
        for number in range(1, rounds + 1):
            # select
            chosen = selection.next(queries.boxes.answer(np.stack([fit.estimate for fit in fits])))
            # measure
            depth = min(number, len(halvings.boxes) - 1)
            boxes = ChosenBoxAndLevel(queries, chosen, halvings.boxes[depth])
            answers = np.reshape(data.measure(boxes, for_counts, f"answers {number}"), (trials, *boxes.shape))
            # fit
            for fit, query, apart, answer in zip(fits, chosen, boxes.apart, answers, strict=True):
                box = queries.lower[query], queries.upper[query]
                fit.learn(box, float(answer[0]), depth, answer[1:], apart, data.as_epsilon(for_counts) ** 2)
        return np.stack([fit.estimate for fit in fits])
