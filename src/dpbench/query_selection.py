"""Algorithms that learn in rounds from queries of the workload that they answer badly: MWEM and its descendants."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm
from dpbench.errors import Unsupported
from dpbench.mathematics.worst_answered import Queries, WorstAnswered, queries_of
from dpbench.privacy import PrivateData
from dpbench.workloads import Workload

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

LARGEST_BATCH = 2**22
"""Scores or cells held at once; where all trials together have more, they are run one by one."""


@dataclass(frozen=True, kw_only=True)
class QuerySelection(Algorithm):
    """Base of such an algorithm, which writes :meth:`_learn`."""

    rounds: int = 10
    """Queries to select (the paper's T); at most all of the workload."""

    def _learn(self, data: PrivateData, queries: Queries, rounds: int) -> Floats:
        """Estimated counts for every trial, ``(trials, *domain)``, after so many rounds."""
        raise NotImplementedError(f"{type(self).__name__} does not implement learn")

    def estimate(self, data: PrivateData, workload: Workload) -> Floats:
        """All trials at once, or one by one where the scores would fill the memory."""
        count = workload.queries
        if count is None:
            raise Unsupported(
                f"{self.name} selects from a list of queries and {workload!r} is a distribution; "
                f"give it queries=2000, say"
            )
        if data.trials > 1 and data.trials * max(count, data.domain.size) > LARGEST_BATCH:
            return super().estimate(data, workload)
        return self._learn(data, queries_of(workload), min(self.rounds, count))

    def estimate_once(self, data: PrivateData, workload: Workload) -> Floats:
        """One trial."""
        return np.asarray(self.estimate(data, workload)[0])


class Selection:
    """Selects one query per trial and round, none twice."""

    def __init__(self, data: PrivateData, queries: Queries, rounds: int, spend: Fraction) -> None:
        """``spend`` is the budget of one round's selection."""
        self._data, self._queries, self._spend = data, queries, spend
        self._chosen = np.empty((data.trials, rounds), dtype=np.int64)
        self._rounds = 0

    def next(self, answers: Floats) -> Ints:
        """A query that ``answers`` ``(trials, q)``, the estimate's totals of boxes, are far off on; ``(trials,)``."""
        score = WorstAnswered(self._queries, answers, self._chosen[:, : self._rounds])
        chosen = self._data.choose(score, self._spend, f"query {self._rounds + 1}")
        self._chosen[:, self._rounds] = chosen
        self._rounds += 1
        return np.reshape(chosen, len(self._chosen))
