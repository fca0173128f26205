"""Claims of sensitivity, recomputed: how far one record can move what was asked.

On small domains every cell gains a record, on an empty vector (for a linear strategy that is everything there
is) and on others; on larger ones a climb looks for the vector and the cell that move most. The search is numpy's, not
hypothesis's: a search for the largest change is wanted, not for the simplest, and ``dpbench check`` works on a plain
installation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.errors import CheckFailed, DPBenchError
from dpbench.testing.neighbours import SMALL_DOMAINS
from dpbench.testing.subject import Subject, in_words, weighted_workload, workload_for
from dpbench.testing.watch import Asked, questions_of

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

LARGER_DOMAINS = {1: ("40",), 2: ("12x9",), 3: ("4x3x5",)}
EXAMPLES = 3
"""Questions of the same kind and reason, but for a number at its end, examined in each setting: rounds ask alike."""
CLIMB = 24
"""Steps of the search on a larger domain."""
ROUNDING = 2.0**-46
"""Of the largest answer, times the number of answers: what rounding may add to a change."""


def check_sensitivity(subject: Subject) -> Mapping[str, Any]:
    """No record moves anything by more than its claim; the largest change found beside the claim."""
    rng = np.random.default_rng([subject.seed, 77])
    tightest: dict[str, tuple[float, float]] = {}
    examined = 0
    for domain, search in _domains(subject):
        for workload in (workload_for(domain), weighted_workload(domain)):
            for asked in _distinct(subject, workload, rng):
                claim = reach(asked)
                found = largest_change(asked, rng, search=search)
                examined += 1
                _insist(subject, asked, found, claim)
                if asked.why not in tightest or found / claim > np.divide(*tightest[asked.why]):
                    tightest[asked.why] = (found, claim)
    closest = max(tightest, key=lambda why: tightest[why][0] / tightest[why][1], default="")
    found, claim = tightest.get(closest, (0.0, 0.0))
    return {
        "questions": examined,
        "largest change": found,
        "claim": claim,
        "of": closest,
        "by reason": {why: {"change": each[0], "claim": each[1]} for why, each in tightest.items()},
    }


def reach(asked: Asked) -> float:
    """What the claim allows: for a selection twice the claim, between the candidates that move most and least."""
    claim = float(asked.asker.sensitivity)
    if asked.kind == "laplace" or (asked.kind != "partition" and asked.asker.monotone):
        return claim
    return 2 * claim


def largest_change(asked: Asked, rng: np.random.Generator, *, search: bool) -> float:
    """The largest change that any neighbour examined makes."""
    n = asked.domain.size
    best, start = 0.0, np.zeros(n, dtype=np.int64)
    for x in _starts(n, rng):
        cells = rng.permutation(n)[:24] if search else np.arange(n)
        changes = [_change_of(asked, x, int(cell)) for cell in cells]
        if max(changes) > best:
            best, start = max(changes), x
    for _ in range(CLIMB if search else 0):
        proposal = start.copy()
        some = rng.integers(0, n, rng.integers(1, 4))
        proposal[some] = rng.choice([0, 1, 5, 100, int(start.max()) + 1])
        change = max(_change_of(asked, proposal, int(cell)) for cell in rng.integers(0, n, 3))
        if change > best:
            best, start = change, proposal
    return best


def _starts(n: int, rng: np.random.Generator) -> Iterator[Counts]:
    yield np.zeros(n, dtype=np.int64)
    yield np.where(np.arange(n) == n // 2, 1000, 0)
    yield rng.integers(0, 4, n)
    yield rng.integers(0, 4, n) * rng.integers(0, 2, n) * 50
    yield 10**8 + rng.integers(0, 100, n)


def _change_of(asked: Asked, x: Counts, cell: int) -> float:
    """How far one more record in a cell moves what was asked, less what rounding may be."""
    more = x.copy()
    more[cell] += 1
    before, after = (_told(asked, counts.reshape(asked.domain.shape)) for counts in (x, more))
    return CHANGES[asked.kind](asked, before, after)


def _told(asked: Asked, counts: Counts) -> Floats:
    """What the question comes to on given counts."""
    counts.setflags(write=False)
    statistic = getattr(asked.asker, "statistic", None)
    material = counts if statistic is None else statistic.of(counts)
    verb = {"laplace": "answer", "partition": "cost"}.get(asked.kind, "score")
    return np.asarray(getattr(asked.asker, verb)(material), dtype=np.float64)


def _difference(before: Floats, after: Floats) -> tuple[Floats, float]:
    """The change, infinities that stay left out, and the size of what may be rounding in each entry."""
    with np.errstate(invalid="ignore"):
        change = np.where(before == after, 0.0, after - before)
    finite = np.abs(before[np.isfinite(before)])
    return change, float(finite.max(initial=0.0)) * ROUNDING


def _laplace_change(asked: Asked, before: Floats, after: Floats) -> float:
    """The L1 norm, in the trial where it is largest."""
    change, rounding = _difference(before, after)
    axes = len(tuple(asked.asker.shape))
    lengths = np.abs(change).reshape(*change.shape[: change.ndim - axes], -1)
    return float(lengths.sum(axis=-1).max() - rounding * lengths.shape[-1])


def _selection_change(asked: Asked, before: Floats, after: Floats) -> float:
    """The range over candidates; of groups, which are about disjoint regions, the sum of their ranges."""
    change, rounding = _difference(before, after)
    starts = np.asarray(asked.asker.starts)[:-1] if asked.kind == "choose each" else np.array([0])
    ranges = np.maximum.reduceat(change, starts, axis=-1) - np.minimum.reduceat(change, starts, axis=-1)
    return float(ranges.sum(axis=-1).max()) - 2 * rounding * len(starts)


def _partition_change(asked: Asked, before: Floats, after: Floats) -> float:
    """The range over all partitions of the change of the total cost, by dynamic programming."""
    change, rounding = _difference(before, after)
    lengths, ends = [int(length) for length in asked.asker.lengths], change.shape[1]
    most, least = np.full(ends, -np.inf), np.full(ends, np.inf)
    most[0] = least[0] = 0.0
    for end in range(1, ends):
        for place, length in enumerate(lengths):
            if length <= end and np.isfinite(before[place, end]):
                most[end] = max(most[end], most[end - length] + change[place, end])
                least[end] = min(least[end], least[end - length] + change[place, end])
    return float(most[-1] - least[-1] - 2 * rounding * ends)


CHANGES: Mapping[str, Callable[[Asked, Floats, Floats], float]] = {
    "laplace": _laplace_change,
    "choose": _selection_change,
    "choose each": _selection_change,
    "partition": _partition_change,
}


def _domains(subject: Subject) -> Iterator[tuple[Domain, bool]]:
    """Domains with whether a search is needed there."""
    yield from ((domain, False) for domain in subject.domains(SMALL_DOMAINS))
    yield from ((domain, True) for domain in subject.domains(LARGER_DOMAINS))


def _distinct(subject: Subject, workload: Any, rng: np.random.Generator) -> list[Asked]:
    """The questions of a run on a step and one on scattered counts, a few of each kind and reason."""
    n, shape = workload.domain.size, workload.domain.shape
    kept: dict[tuple[str, str], list[Asked]] = {}
    for x in (np.where(np.arange(n) < n // 2, 40, 2), rng.integers(0, 30, n)):
        try:
            asked = questions_of(
                subject.algorithm,
                x.reshape(shape),
                workload,
                1,
                trials=2,
                seed=int(rng.integers(2**31)),
                side_information=subject.side_information,
            )
        except DPBenchError as error:
            raise CheckFailed(f"{subject.name} fails on {workload.domain} at epsilon 1: {error}") from None
        except (Exception, SystemExit) as error:
            raise CheckFailed(
                f"{subject.name} fails on {workload.domain} at epsilon 1 with {in_words(error)}"
            ) from error
        for each in asked:
            of_its_kind = kept.setdefault((each.kind, each.why.rstrip("0123456789")), [])
            if len(of_its_kind) < EXAMPLES:
                of_its_kind.append(each)
    return [each for several in kept.values() for each in several]


def _insist(subject: Subject, asked: Asked, found: float, allowed: float) -> None:
    if found <= allowed * (1 + 1e-9):
        return
    claim = float(asked.asker.sensitivity)
    where = f"{subject.name} is not private on {asked.domain}"
    if asked.kind == "laplace":
        raise CheckFailed(
            f"{where}: '{asked.why}' claims a sensitivity of {claim:g}, but one record moved its answers by {found:g}; "
            f"too little noise by a factor {found / claim:.3g}"
        )
    raise CheckFailed(
        f"{where}: the scores of '{asked.why}' moved apart by {found:g} for one record; with the claimed sensitivity "
        f"{claim:g} at most {allowed:g} is paid for"
    )
