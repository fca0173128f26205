"""Claims recomputed: how much of what a question is paid for one record more takes.

A question holds its mechanism, so it can be put to any counts. The audit searches for the counts and the cell that take
most; the runner looks at the domain at hand before it believes a stranger's strategy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.privacy.mechanisms import Gaussian, Laplace
from dpbench.privacy.transcript import Question

Counts = NDArray[np.int64]

TOLERANCE = 1e-9
"""Relative; on top of it comes the rounding of each call, bounded from the size of its answers."""
THRESHOLDS = np.unique(
    [
        *range(1, 13),
        *(2**power for power in range(4, 18)),
        *(first * 10**power for power in range(1, 7) for first in (1, 2, 3, 5)),
        *(15, 25, 40, 60, 64, 70, 75, 80, 90, 120, 150, 250, 400, 600, 700, 750, 800, 900, 1500, 2500),
    ]
)
"""Counts at which somebody's code may take another branch; one less and one more are tried too."""
LIMITS = (7, 8, 15, 16, 23, 24, 31, 32, 40, 48, 52)
"""Powers of two at which a type of integers, or of floats, comes to its end."""
EXAMPLES = 3
"""Questions of the same kind and reason, but for a number at its end, that are examined: rounds ask alike."""
SECONDS = 0.3
"""Time of the processor for each question."""


def spent_share(question: Question, other: Any) -> float:
    """How much of what a call is paid for telling its truth from another one costs, rounding allowed for."""
    mechanism, level, paid = question.mechanism, question.level, float(question.loss)
    rounding = float(np.max(mechanism.rounding(question.truth, other, level)))
    if mechanism.pure:
        return max(mechanism.largest_loss(question.truth, other, level) - rounding, 0.0) / paid
    return float(np.sqrt(max(mechanism.divergence(question.truth, other, level) - rounding, 0.0) / paid))


def truth_on(asked: Question, counts: Counts) -> Any:
    """What the question comes to on given counts."""
    counts.setflags(write=False)
    statistic = asked.mechanism.statistic
    return asked.mechanism.truth(counts if statistic is None else statistic.of(counts))


def neighbours_of(asked: Question, x: Counts, cell: int) -> tuple[Question, Any]:
    """The question on flat counts, and its truth with one more record in a cell."""
    return _on(asked, x), _with_one_more(asked, x, cell)


def _on(asked: Question, x: Counts) -> Question:
    return replace(asked, truth=truth_on(asked, x.copy().reshape(asked.domain.shape)))


def _with_one_more(asked: Question, x: Counts, cell: int) -> Any:
    more = x.copy()
    more[cell] += 1
    return truth_on(asked, more.reshape(asked.domain.shape))


def overdrawn(asked: Question, other: Any, records: int = 1) -> str:
    """A claim that does not hold between a question's truth and another, so many records away, in words; else empty."""
    share = spent_share(asked, other) / records
    if share <= 1 + TOLERANCE:  # NaN is no share
        return ""
    claim, mechanism = float(asked.mechanism.claim), asked.mechanism
    kind = "an L2 sensitivity" if isinstance(mechanism, Gaussian) else "a sensitivity"
    moved = f"one record moved what it asks by {share * claim:g}"
    if records > 1:
        moved = f"one record more in each of {records} cells moved what it asks by {share * claim * records:.12g}"
    if not isinstance(mechanism, Laplace | Gaussian):
        loss, paid = float(asked.loss) * (share if mechanism.pure else share**2), float(asked.loss)
        unit = "" if mechanism.pure else " (of rho)"
        moved = (
            f"one record makes a loss{unit} of {loss:.4g} where {paid:.4g} is paid: something moves by more than that, "
            f"or in opposite directions though it is called monotone, or parts that are to be disjoint share the "
            f"record, or level() gives too little noise for the price"
        )
    return (
        f"'{asked.why}' claims {kind} of {claim:g}, but {moved}; "
        f"too little noise by a factor {share:.3g}{_verb(asked, other)}"
    )


def _verb(asked: Question, other: Any) -> str:
    """What to ask in place of noise on every score, where that seems to be meant."""
    if not isinstance(asked.mechanism, Laplace) or np.size(other) < 2:
        return ""
    if float(np.abs(asked.truth - other).max()) > float(asked.mechanism.claim):
        return ""
    return (
        " (no single answer moved by more than the claim, which has to cover the changes of all answers together; "
        "where only the largest of them is wanted, use data.choose)"
    )


def distinct(questions: Iterable[Question]) -> list[Question]:
    """A few of each kind and reason."""
    kept: dict[tuple[str, str], list[Question]] = {}
    for each in questions:
        alike = kept.setdefault((each.mechanism.name, each.why.rstrip("0123456789")), [])
        if len(alike) < EXAMPLES:
            alike.append(each)
    return [each for several in kept.values() for each in several]


def refuted_claim(questions: Iterable[Question], rng: np.random.Generator, seconds: float = SECONDS) -> str:
    """The first claim that some record, on some counts of the question's own domain, does not keep; else empty.

    Each question takes ``seconds`` of the processor at most, which for most is enough for all cells and thresholds.
    """
    for asked in distinct(questions):
        if isinstance(asked.mechanism, Laplace | Gaussian) and (words := _refuted_together(asked, rng)):
            return words
        for way in (_on_nothing, _at_thresholds, _scattered):
            deadline = process_time() + seconds / 3
            counts, question = np.zeros(0, dtype=np.int64), asked
            for x, cell in way(asked.domain.size, rng):
                if x is not counts:  # many cells are tried on the same counts
                    counts, question = x, _on(asked, x)
                other = _with_one_more(asked, x, cell)
                words = overdrawn(question, other)
                if words and not any(asked.mechanism.refusal(truth, 1) for truth in (question.truth, other)):
                    return words  # what the handle refuses to answer, as too large, claims nothing
                if process_time() > deadline:
                    break
    return ""


def _refuted_together(asked: Question, rng: np.random.Generator) -> str:
    """One record more in many cells at once moves a sum by at most as many claims: two truths try every cell."""
    n = asked.domain.size
    question = _on(asked, np.zeros(n, dtype=np.int64))

    def words(cells: Counts) -> str:
        more = np.bincount(cells, minlength=n)
        other = truth_on(asked, more.reshape(asked.domain.shape))
        found = overdrawn(question, other, len(cells))
        return "" if any(asked.mechanism.refusal(truth, 1) for truth in (question.truth, other)) else found

    def narrowed(cells: Counts) -> str:
        """Down to the cell that does it, as far as one half does it alone."""
        found = words(cells) if len(cells) else ""
        if not found or len(cells) == 1:
            return found
        return next((said for half in np.array_split(cells, 2) if (said := narrowed(half))), found)

    return narrowed(np.arange(n)) or narrowed(np.flatnonzero(rng.integers(0, 2, n)))


def _on_nothing(n: int, rng: np.random.Generator) -> Iterator[tuple[Counts, int]]:
    """Empty counts, which for a linear strategy are all there is to try, and every cell."""
    empty = np.zeros(n, dtype=np.int64)
    yield from ((empty, cell) for cell in dict.fromkeys([0, n // 2, n - 1, *rng.permutation(n).tolist()]))


def _at_thresholds(n: int, rng: np.random.Generator) -> Iterator[tuple[Counts, int]]:
    """Cells in which one record more reaches or passes a threshold, or the limit of a type; small counts beside."""
    edges = np.unique(np.concatenate([THRESHOLDS - 1, THRESHOLDS, [(1 << power) - 1 for power in LIMITS[:-1]]]))
    edges = rng.permutation(edges)
    for start in range(0, len(edges), n):
        some = edges[start : start + n]
        places = rng.permutation(n)[: len(some)]
        counts = rng.integers(0, 3, n)
        counts[places] = some
        yield from ((counts, cell) for cell in places.tolist())


def _scattered(n: int, rng: np.random.Generator) -> Iterator[tuple[Counts, int]]:
    """Few records in some cells, many in others."""
    counts = rng.integers(0, 4, n) * rng.integers(0, 2, n) * 50
    yield from ((counts, cell) for cell in rng.permutation(n).tolist())
