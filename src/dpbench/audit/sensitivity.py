"""Claims recomputed: how far one record can move what was asked.

On small domains every cell gains a record, on an empty vector (for a linear strategy that is everything there
is) and on others; on larger ones a climb looks for the vector and the cell that move most. The search is numpy's, not
hypothesis's: a search for the largest change is wanted, not for the simplest, and ``dpbench check`` works on a plain
installation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.audit.setting import RecordedSetting
from dpbench.audit.subject import Subject, in_words, weighted_workload, workload_for
from dpbench.domain import Domain
from dpbench.errors import CheckFailed, DPBenchError
from dpbench.privacy import Recording
from dpbench.privacy.claims import distinct, neighbours_of, overdrawn, spent_share
from dpbench.privacy.transcript import Question

Counts = NDArray[np.int64]

SMALL_DOMAINS = {1: ("4", "16"), 2: ("3x1", "2x4"), 3: ("2x2x2",)}
"""Every cell is tried on these."""
LARGER_DOMAINS = {1: ("40",), 2: ("12x9",), 3: ("4x3x5",)}
CLIMB = 24
"""Steps of the search on a larger domain."""


def check_sensitivity(subject: Subject) -> Mapping[str, Any]:
    """No record moves anything by more than its claim; the largest change found beside the claim."""
    rng = np.random.default_rng([subject.seed, 77])
    tightest: dict[str, tuple[float, float]] = {}
    examined = 0
    for domain, search in _domains(subject):
        for workload in (workload_for(domain), weighted_workload(domain)):
            for asked in _distinct(subject, workload, rng):
                share, x, cell = largest_share(asked, rng, search=search)
                examined += 1
                words = overdrawn(*neighbours_of(asked, x, cell))
                if words:
                    raise CheckFailed(f"{subject.name} is not private on {asked.domain}: {words}")
                claim = float(asked.mechanism.claim)
                if asked.why not in tightest or share > np.divide(*tightest[asked.why]):
                    tightest[asked.why] = (share * claim, claim)
    closest = max(tightest, key=lambda why: tightest[why][0] / tightest[why][1], default="")
    found, claim = tightest.get(closest, (0.0, 0.0))
    return {
        "questions": examined,
        "largest change": found,
        "claim": claim,
        "of": closest,
        "by reason": {why: {"change": each[0], "claim": each[1]} for why, each in tightest.items()},
    }


def largest_share(asked: Question, rng: np.random.Generator, *, search: bool) -> tuple[float, Counts, int]:
    """The largest share of what is paid for that any neighbour examined takes, with the counts and the cell."""
    n = asked.domain.size
    best: tuple[float, Counts, int] = (-1.0, np.zeros(n, dtype=np.int64), 0)

    def consider(x: Counts, cells: Iterable[int]) -> None:
        nonlocal best
        for cell in cells:
            share = _share_of(asked, x, cell)
            if share > best[0]:
                best = (share, x, cell)

    for x in _starts(n, rng):
        consider(x, rng.permutation(n)[:24].tolist() if search else range(n))
    for _ in range(CLIMB if search else 0):
        proposal = best[1].copy()
        some = rng.integers(0, n, rng.integers(1, 4))
        proposal[some] = rng.choice([0, 1, 5, 100, int(best[1].max()) + 1])
        consider(proposal, rng.integers(0, n, 3).tolist())
    return best


def _starts(n: int, rng: np.random.Generator) -> Iterator[Counts]:
    yield np.zeros(n, dtype=np.int64)
    yield np.where(np.arange(n) == n // 2, 1000, 0)
    yield rng.integers(0, 4, n)
    yield rng.integers(0, 4, n) * rng.integers(0, 2, n) * 50
    yield 10**8 + rng.integers(0, 100, n)


def _share_of(asked: Question, x: Counts, cell: int) -> float:
    """How much of what is paid for one more record in a cell takes."""
    return spent_share(*neighbours_of(asked, x, cell))


def _domains(subject: Subject) -> Iterator[tuple[Domain, bool]]:
    """Domains with whether a search is needed there."""
    if subject.domain is not None:
        yield subject.domain, True
        return
    yield from ((domain, False) for domain in subject.domains(SMALL_DOMAINS))
    yield from ((domain, True) for domain in subject.domains(LARGER_DOMAINS))


def _distinct(subject: Subject, workload: Any, rng: np.random.Generator) -> list[Question]:
    """The questions of a run on a step and one on scattered counts, a few of each kind and reason."""
    n, shape = workload.domain.size, workload.domain.shape
    asked: list[Question] = []
    setting = RecordedSetting(subject.algorithm, workload, Fraction(1), 2, subject.side_information, subject.notion)
    for x in (np.where(np.arange(n) < n // 2, 40, 2), rng.integers(0, 30, n)):
        recording = Recording()
        try:
            setting.run(x.reshape(shape), seed=int(rng.integers(2**31)), channel=recording)
        except DPBenchError as error:
            raise CheckFailed(f"{subject.name} fails on {workload.domain} at epsilon 1: {error}") from None
        except (Exception, SystemExit) as error:
            raise CheckFailed(
                f"{subject.name} fails on {workload.domain} at epsilon 1 with {in_words(error)}"
            ) from error
        asked += recording.questions()
    return distinct(asked)
