"""Select the query of a workload that an estimate answers worst: what MWEM and its descendants have in common."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.workloads import Prefix, Ranges, Workload

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BoxTotals:
    """The statistic of records in every box of a workload, weights left aside, ``(q,)``."""

    boxes: Workload

    def of(self, counts: Ints) -> Floats:
        """Exact: a float holds every total up to 2^53."""
        return np.asarray(self.boxes.answer(counts), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Queries:
    """The queries of a workload as boxes with weights."""

    boxes: Workload
    """The same ranges, every weight 1."""
    lower: Ints
    """``(q, axes)``."""
    upper: Ints
    """``(q, axes)``."""
    magnitude: Floats
    """``(q,)``: |weight|."""
    coefficients: Floats
    """``(q,)``: weights as the updates use them, scaled down to -1 ... 1 where one exceeds that."""

    @cached_property
    def sensitivity(self) -> float:
        """The most that one record moves an answer: the largest |weight|."""
        return float(self.magnitude.max()) or 1.0

    @cached_property
    def prefixes(self) -> bool:
        """Whether all boxes begin at the first cell of a line."""
        return self.boxes.domain.ndim == 1 and not self.lower.any()


@lru_cache(maxsize=4)
def queries_of(workload: Workload) -> Queries:
    """The queries of a workload, kept between calls: they are public."""
    listed = workload.ranges()
    unit = listed if (listed.weights == 1).all() else Ranges(workload.domain, listed.lower, listed.upper)
    magnitude = np.abs(listed.weights)
    return Queries(
        boxes=workload if isinstance(workload, Prefix) else unit,  # one running sum instead of two look-ups
        lower=listed.lower,
        upper=listed.upper,
        magnitude=magnitude,
        coefficients=listed.weights / max(1.0, float(magnitude.max())),
    )


class WorstAnswered:
    """Score each query by how far the estimate's answer is off; those that were measured are forbidden.

    ``answers`` are the estimate's totals of the boxes, ``(trials, q)``: public. One record moves the true answer by at
    most the query's |weight|.
    """

    monotone = False

    def __init__(self, queries: Queries, answers: Floats, measured: Ints) -> None:
        self.statistic = BoxTotals(queries.boxes)
        self.sensitivity = queries.sensitivity
        self._magnitude = queries.magnitude
        self._answers = answers
        self._measured = measured

    def score(self, counts: Any) -> Floats:
        """|W_j x - W_j xhat|, ``(trials, q)``, from the box totals that stand in for the counts."""
        from dpbench.mathematics.kernels.worst_answered import score

        scores = np.empty(self._answers.shape)
        score(counts, np.ascontiguousarray(self._answers), self._magnitude, self._measured, scores)
        return scores
