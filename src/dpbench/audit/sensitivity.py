"""Claims recomputed: how far one record can move what was asked.

On small domains every cell gains a record, on an empty vector (for a linear strategy that is everything there
is) and on others; on larger ones a climb looks for the vector and the cell that move most. The search is numpy's, not
hypothesis's: a search for the largest change is wanted, not for the simplest, and ``dpbench check`` works on a plain
installation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.audit.neighbours import SMALL_DOMAINS
from dpbench.audit.replay import ReplaySetting, spent_share
from dpbench.audit.subject import Subject, in_words, weighted_workload, workload_for
from dpbench.domain import Domain
from dpbench.errors import CheckFailed, DPBenchError
from dpbench.privacy import Recording
from dpbench.privacy.transcript import Question

Counts = NDArray[np.int64]

LARGER_DOMAINS = {1: ("40",), 2: ("12x9",), 3: ("4x3x5",)}
EXAMPLES = 3
"""Questions of the same kind and reason, but for a number at its end, examined in each setting: rounds ask alike."""
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
                share = largest_share(asked, rng, search=search)
                examined += 1
                _insist(subject, asked, share)
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


def largest_share(asked: Question, rng: np.random.Generator, *, search: bool) -> float:
    """The largest share of what is paid for that any neighbour examined takes."""
    n = asked.domain.size
    best, start = 0.0, np.zeros(n, dtype=np.int64)
    for x in _starts(n, rng):
        cells = rng.permutation(n)[:24] if search else np.arange(n)
        shares = [_share_of(asked, x, int(cell)) for cell in cells]
        if max(shares) > best:
            best, start = max(shares), x
    for _ in range(CLIMB if search else 0):
        proposal = start.copy()
        some = rng.integers(0, n, rng.integers(1, 4))
        proposal[some] = rng.choice([0, 1, 5, 100, int(start.max()) + 1])
        share = max(_share_of(asked, proposal, int(cell)) for cell in rng.integers(0, n, 3))
        if share > best:
            best, start = share, proposal
    return best


def _starts(n: int, rng: np.random.Generator) -> Iterator[Counts]:
    yield np.zeros(n, dtype=np.int64)
    yield np.where(np.arange(n) == n // 2, 1000, 0)
    yield rng.integers(0, 4, n)
    yield rng.integers(0, 4, n) * rng.integers(0, 2, n) * 50
    yield 10**8 + rng.integers(0, 100, n)


def _share_of(asked: Question, x: Counts, cell: int) -> float:
    """How much of what is paid for one more record in a cell takes."""
    more = x.copy()
    more[cell] += 1
    before, after = (truth_on(asked, counts.reshape(asked.domain.shape)) for counts in (x, more))
    return spent_share(replace(asked, truth=before), after)


def truth_on(asked: Question, counts: Counts) -> Any:
    """What the question comes to on given counts."""
    counts.setflags(write=False)
    statistic = asked.mechanism.statistic
    return asked.mechanism.truth(counts if statistic is None else statistic.of(counts))


def _domains(subject: Subject) -> Iterator[tuple[Domain, bool]]:
    """Domains with whether a search is needed there."""
    yield from ((domain, False) for domain in subject.domains(SMALL_DOMAINS))
    yield from ((domain, True) for domain in subject.domains(LARGER_DOMAINS))


def _distinct(subject: Subject, workload: Any, rng: np.random.Generator) -> list[Question]:
    """The questions of a run on a step and one on scattered counts, a few of each kind and reason."""
    n, shape = workload.domain.size, workload.domain.shape
    kept: dict[tuple[str, str], list[Question]] = {}
    setting = ReplaySetting(subject.algorithm, workload, Fraction(1), 2, subject.side_information, subject.notion)
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
        for each in recording.questions():
            of_its_kind = kept.setdefault((each.mechanism.name, each.why.rstrip("0123456789")), [])
            if len(of_its_kind) < EXAMPLES:
                of_its_kind.append(each)
    return [each for several in kept.values() for each in several]


def _insist(subject: Subject, asked: Question, share: float) -> None:
    if share <= 1 + 1e-9:
        return
    claim = float(asked.mechanism.claim)
    raise CheckFailed(
        f"{subject.name} is not private on {asked.domain}: '{asked.why}' claims a sensitivity of {claim:g}, but one "
        f"record moved what it asks by {share * claim:g}; too little noise by a factor {share:.3g}"
    )
