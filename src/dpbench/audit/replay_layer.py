"""The replay layer: every kind of neighbouring pair, small domains and larger, plain and weighted queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from dpbench.audit.neighbours import LARGER_DOMAINS, SMALL_DOMAINS, pairs
from dpbench.audit.replay import LastBitsDiffer, ReplaySetting, check_pair
from dpbench.audit.subject import Subject, weighted_workload, workload_for
from dpbench.workloads import Workload

REPLAYS = 3000
"""At least so many on small domains, where rare outputs occur; an algorithm of few domains has more trials on each."""
FEW_TRIALS = 4
"""On larger domains and for weighted queries."""
EPSILONS = (Fraction(1), Fraction(1, 10), Fraction(4))
"""Taken in turn by the pairs."""


def check_replay(subject: Subject) -> Mapping[str, Any]:
    """The same calls, the same output, no call over its charge; how many replays, and the most that one cost."""
    replays, worst = 0, 0.0
    faint: LastBitsDiffer | None = None
    for workload, trials in _problems(subject):
        for number, pair in enumerate(pairs(workload.domain)):
            setting = ReplaySetting(
                subject.algorithm,
                workload,
                EPSILONS[number % len(EPSILONS)],
                trials,
                subject.side_information,
                subject.notion,
            )
            try:
                worst = max(worst, check_pair(setting, pair, seed=1000 * subject.seed + 2 * number))
            except LastBitsDiffer as difference:
                faint = faint or difference  # a failure too, but another pair may show what it is about
            replays += 2 * trials
    if faint is not None:
        raise faint
    return {"replays": replays, "largest share of epsilon": worst}


def _problems(subject: Subject) -> Iterator[tuple[Workload, int]]:
    small = list(subject.domains(SMALL_DOMAINS))
    directions = 2 * sum(sum(1 for _ in pairs(domain)) for domain in small)
    for domain in small:
        yield workload_for(domain), -(-REPLAYS // directions)
        yield weighted_workload(domain), FEW_TRIALS
    for domain in subject.domains(LARGER_DOMAINS):
        yield workload_for(domain), FEW_TRIALS
