"""MWEM: an estimate taught by the queries that it answers worst.

Hardt, Ligett, McSherry. A simple and practical algorithm for differentially private data release. NIPS 2012.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import by_variant
from dpbench.errors import InvalidInput
from dpbench.mathematics.maximum_entropy import MaximumEntropy
from dpbench.mathematics.multiplicative_weights import Replays
from dpbench.mathematics.worst_answered import BoxTotals, Queries
from dpbench.privacy import PrivateData, evenly, split
from dpbench.query_selection import QuerySelection, Selection

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

FEW = 20
"""Up to so many rounds replays are quick, and on synthetic shapes no worse than maximum entropy."""


class ChosenBox:
    """Ask for the records in one box per trial, which one record moves by 1."""

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
class MWEM(QuerySelection):
    """An estimate that starts uniform; every round measures a query that it answers badly and learns from it.

    A round selects a query of the workload that was not measured yet, by how far the estimate is off on it, and
    counts the records in its box with noise. The estimate then learns from all counts so far. It always adds up to the
    scale.

    In the published form, and in the private one up to 20 rounds, multiplicative weights go through all measurements so
    far, oldest first, a hundred times per round, as in the authors' code. With more rounds, on one or two axes, the
    private form takes the histogram of regularised maximum entropy, solved by Newton's method: where multiplicative
    weights would lead if they were replayed for ever, but for a pull towards uniform in proportion to the noise
    (``mathematics/maximum_entropy.py``). With many rounds that is many times as quick, and nearer to the data; with few
    it was worse by 2 to 3 % on synthetic shapes on a line (8 rounds at an epsilon * scale of 10^3, 16 at 10^4). Either
    is made of noisy answers alone, so it costs nothing. A trial for which Newton's method fails is done again by
    replays, and the ledger has a note of it.

    As there, the estimate of the last round is returned; ``average=True`` returns the mean over the rounds, which the
    publication's bound is about. Departures of the replays: exponents are clipped to +-50, where the authors' code
    overflows; there are at most as many rounds as queries; and where a query's weight exceeds 1 the whole workload is
    scaled down for the updates, which are made for coefficients from -1 to 1.

    The scale is side information, which the published form is given for free. Its selections draw Gumbel noise for
    every candidate, as when the shipped study was run; those of the private form, of the same law, draw once.

    Privacy
    -------
    Each round spends epsilon / rounds, ``share`` of it on the selection. One record moves the score |W_j x - W_j xhat|
    by at most the largest |weight|: xhat follows from earlier answers and the scale. Scores can rise and fall, so
    the factor 2 of the exponential mechanism stays. The rest is spent on the number of records in the
    selected box, sensitivity 1. Learning, whichever way it is done, sees these counts, the scale and public things.
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
    inference: Literal["by rounds", "maximum entropy", "replays"] = by_variant(private="by rounds", published="replays")
    """How a round learns: "by rounds" replays up to 20 rounds and solves for maximum entropy where there are more."""
    replays: int = 100
    """How many times each round goes through all measurements, where it replays."""
    share: float = 0.5
    """Share of a round's budget that selects the query; the rest measures it."""
    average: bool = False
    """Return the mean of all rounds' estimates instead of the last."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.share < 1:
            raise InvalidInput(f"share is {self.share}; give a share of a round between 0 and 1, both excluded")

    def _learn(self, data: PrivateData, queries: Queries, rounds: int) -> Floats:
        """Select, measure, learn, round by round."""
        for_selection, for_answer = split(evenly(data.budget, rounds), self.share)
        learner = self._learner(data, queries, rounds, for_answer)
        selection = Selection(data, queries, rounds, for_selection)
        mean = np.zeros((data.trials, *data.domain.shape))
        for number in range(1, rounds + 1):
            # select: the query that the estimate answers worst
            chosen = selection.next(learner.answers())
            # measure: the records in its box
            noisy = data.measure(ChosenBox(queries, chosen), for_answer, f"answer {number}")
            # learn: from this and all earlier answers
            learner.learn(chosen, np.reshape(noisy, data.trials))
            if self.average:
                mean += (learner.estimate() - mean) / number
        if isinstance(learner, MaximumEntropy):
            for trial in learner.replayed:
                data.ledger.note(f"trial {trial + 1} of {data.trials} was replayed: maximum entropy did not converge")
        return mean if self.average else learner.estimate()

    def _learner(
        self, data: PrivateData, queries: Queries, rounds: int, for_answer: Fraction
    ) -> MaximumEntropy | Replays:
        totals = np.reshape(data.scale, data.trials)
        few = self.inference == "by rounds" and rounds <= FEW
        if few or self.inference == "replays" or data.domain.ndim > 2:
            return Replays(queries, totals, rounds, self.replays)
        deviation = sqrt(2) / data.as_epsilon(for_answer)
        return MaximumEntropy(queries, totals, rounds, deviation, self.replays)
