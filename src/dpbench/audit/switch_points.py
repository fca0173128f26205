"""Switch points: totals at which an algorithm does something else, although it was told the same.

Where answers are forced, a private algorithm makes the same calls and gives the same output on any counts whatever, not
on a neighbour alone. So one recorded run is forced on vectors of many totals, near and far. Where a far one
differs, bisection along a path that adds one record at a time ends at two neighbours that differ: the switch point
of a grid, a number of rounds, a clipping bound, wherever it lies. A switch and its way back between two totals of the
sweep stays unseen, which is why small totals are swept one by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.audit.replay import OTHER_OUTPUT, Recorded, ReplaySetting, force, record, told_for_nothing
from dpbench.audit.subject import Subject, workload_for
from dpbench.domain import Domain
from dpbench.errors import CheckFailed, DPBenchError, ReplayDiverged

Counts = NDArray[np.int64]

SWEPT_DOMAINS = {1: ("16", "40"), 2: ("4x4", "24x20"), 3: ("4x2x2",)}
EVERY = 128
"""Up to here every total is tried, on domains of few cells."""
SPARSE = np.unique(np.round(np.logspace(0, 8, 33)).astype(np.int64))
"""Beyond, four totals for every power of ten, with the total after each."""
EPSILONS = (Fraction(1), Fraction(1, 10), Fraction(10))
FEW_CELLS = 16


def check_totals(subject: Subject) -> Mapping[str, Any]:
    """The same answers give the same calls and output at every total."""
    forced = 0
    for domain in subject.domains(SWEPT_DOMAINS):
        for number, epsilon in enumerate(EPSILONS):
            setting = ReplaySetting(
                subject.algorithm, workload_for(domain), epsilon, 1, subject.side_information, subject.notion
            )
            start = 10
            try:
                recorded = record(setting, vector(domain, start), subject.seed * 100 + number)
            except DPBenchError as error:
                raise CheckFailed(f"{subject.name} fails on {domain} at epsilon {epsilon}: {error}") from None
            for total in _totals(domain, number):
                forced += 1
                if _difference(setting, recorded, total):
                    raise CheckFailed(_switch_point(setting, recorded, start, total))
    return {"totals forced": forced}


def vector(domain: Domain, total: int) -> Counts:
    """The first half of all records in one cell, the others spread evenly; one more total, one more record."""
    pile = (total + 1) // 2
    share, rest = divmod(total - pile, domain.size)
    counts = np.full(domain.size, share, dtype=np.int64)
    counts[:rest] += 1
    counts[domain.size // 2] += pile
    return counts.reshape(domain.shape)


def _totals(domain: Domain, number: int) -> list[int]:
    every = range(EVERY) if domain.size <= FEW_CELLS and number == 0 else range(0)
    return sorted({*every, 0, *SPARSE.tolist(), *(SPARSE + 1).tolist()})


def _difference(setting: ReplaySetting, recorded: Recorded, total: int) -> str:
    """How a run at another total differs where it is told the same; empty where it does not."""
    with np.errstate(all="ignore"):  # what the calls would have cost is of no interest so far apart
        try:
            again, _ = force(setting, recorded, vector(setting.domain, total))
        except ReplayDiverged as divergence:
            return str(divergence)
        except DPBenchError as error:
            return f"it failed there: {error}"
    return "" if np.array_equal(recorded.estimate, again) else OTHER_OUTPUT


def _switch_point(setting: ReplaySetting, recorded: Recorded, same: int, other: int) -> str:
    """The cause in words, with the two neighbouring totals that bisection ends at."""
    while abs(other - same) > 1:
        middle = (same + other) // 2
        same, other = (same, middle) if _difference(setting, recorded, middle) else (middle, other)
    hint = _scale_hint(setting, recorded, same, other) + told_for_nothing(recorded)
    return (
        f"{setting.algorithm.name} is not private on {setting.domain} at epsilon {setting.epsilon}, where the total "
        f"goes from {same} to {other}: {_difference(setting, recorded, other)}{hint}"
    )


def _scale_hint(setting: ReplaySetting, recorded: Recorded, same: int, other: int) -> str:
    """Whether the output follows the total."""
    with np.errstate(all="ignore"):
        sums = []
        for total in (same, other):
            try:
                sums.append(float(force(setting, recorded, vector(setting.domain, total))[0].sum()) - total)
            except DPBenchError:
                return ""
    return ": the output adds up to the true total" if np.allclose(sums, 0.0, atol=1e-6) else ""
