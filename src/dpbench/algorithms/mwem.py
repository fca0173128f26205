"""MWEM: multiplicative weights, taught by the queries that it answers worst.

Hardt, Ligett, McSherry. A simple and practical algorithm for differentially private data release. NIPS 2012.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm
from dpbench.errors import InvalidInput, Unsupported
from dpbench.mathematics.multiplicative_weights import MultiplicativeWeights
from dpbench.mathematics.worst_answered import BoxTotals, Queries, WorstAnswered, queries_of
from dpbench.privacy import PrivateData, evenly, split
from dpbench.workloads import Workload

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

LARGEST_BATCH = 2**22
"""Scores or cells held at once; where all trials together have more, they are run one by one."""


class ChosenBox:
    """Ask for the records in one box a trial, which one record moves by 1."""

    sensitivity = 1
    lattice = 1
    shape: tuple[int, ...] = ()

    def __init__(self, queries: Queries, chosen: Ints) -> None:
        self.statistic = BoxTotals(queries.boxes)
        self._chosen = chosen

    def answer(self, counts: Any) -> Floats:
        """Those of the box totals, ``(trials,)``."""
        return np.asarray(counts[self._chosen])


@dataclass(frozen=True, kw_only=True)
class MWEM(Algorithm):
    """An estimate that starts uniform; every round measures a query that it answers badly and learns from it.

    A round selects a query of the workload that was not measured yet, by how far the estimate is off on it, and
    measures it with noise. Multiplicative weights then go through all measurements so far, oldest first, many times
    over. The estimate always adds up to the scale.

    As in the authors' code the estimate of the last round is returned and measurements are replayed. ``average=True``
    returns the mean over the rounds, which the publication's bound is about. Departures: exponents are clipped to
    +-50, where the authors' code overflows; there are at most as many rounds as queries; and where a query's weight
    exceeds 1 the whole workload is scaled down for the updates, which are made for coefficients from -1 to 1.

    The scale is side information, which the published form is given for free; it differs in nothing else.

    Privacy
    -------
    Each round spends epsilon / rounds, ``share`` of it on the selection. One record moves the score |W_j x - W_j xhat|
    by at most the largest |weight|: xhat follows from earlier answers and the scale. Scores can rise and fall, so
    the factor 2 of the exponential mechanism stays. The rest is spent on the number of records in the
    selected box, sensitivity 1, which is multiplied by the query's weight afterwards.
    The scale is estimated with a share of epsilon before; where it is public, one record shows.
    """

    name = "MWEM"
    paper = "Hardt, Ligett, McSherry: A simple and practical algorithm for private data release, NIPS 2012"
    notions = ("pure", "zCDP")
    side_information = ("scale",)
    free: ClassVar[Mapping[str, tuple[int, ...]]] = {
        "rounds": (1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 30, 40, 60, 80, 100, 120, 140, 170, 200)
    }
    monotone = True
    not_private = "the true scale is used without charge, so adding or removing a record shows in the total"
    consistent = False
    bounds: ClassVar[Mapping[str, tuple[int, int]]] = {"rounds": (1, 10**5), "replays": (1, 10**5)}

    rounds: int = 10
    """Queries to measure (the paper's T); at most all of the workload."""
    replays: int = 100
    """How many times each round goes through all measurements."""
    share: float = 0.5
    """Share of a round's budget that selects the query; the rest measures it."""
    average: bool = False
    """Return the mean of all rounds' estimates instead of the last."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.share < 1:
            raise InvalidInput(f"share is {self.share}; give a share of a round between 0 and 1, both excluded")

    def estimate(self, data: PrivateData, workload: Workload) -> Floats:
        """All trials at once, or one by one where the scores would fill the memory."""
        count = workload.queries
        if count is None:
            raise Unsupported(
                f"MWEM selects from a list of queries and {workload!r} is a distribution; give it queries=2000, say"
            )
        if data.trials > 1 and data.trials * max(count, data.domain.size) > LARGEST_BATCH:
            return super().estimate(data, workload)
        return self._learn(data, queries_of(workload), min(self.rounds, count))

    def estimate_once(self, data: PrivateData, workload: Workload) -> Floats:
        """One trial."""
        return np.asarray(self.estimate(data, workload)[0])

    def _learn(self, data: PrivateData, queries: Queries, rounds: int) -> Floats:
        trials = data.trials
        for_selection, for_answer = split(evenly(data.budget, rounds), self.share)
        weights = MultiplicativeWeights(data.domain, np.reshape(data.scale, trials), rounds, self.replays)
        estimate = weights.estimate()
        mean = np.zeros_like(estimate) if self.average else estimate
        measured = np.empty((trials, 0), dtype=np.int64)
        for number in range(1, rounds + 1):
            # select: the query that the estimate answers worst
            score = WorstAnswered(queries, estimate, measured)
            chosen = np.reshape(data.choose(score, for_selection, f"query {number}"), trials)
            measured = np.column_stack([measured, chosen])
            # measure: its answer
            noisy = np.reshape(data.measure(ChosenBox(queries, chosen), for_answer, f"answer {number}"), trials)
            # learn: multiplicative weights, with the earlier answers again
            coefficients = queries.coefficients[chosen]
            weights.learn(queries.lower[chosen], queries.upper[chosen], coefficients, coefficients * noisy)
            estimate = weights.estimate()
            if self.average:
                mean += (estimate - mean) / number
        return mean if self.average else estimate
