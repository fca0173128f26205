"""Where the time of a study went."""

from __future__ import annotations

from dataclasses import dataclass

from dpbench.domain import Domain
from dpbench.results import Results


@dataclass(frozen=True)
class TimeSpent:
    """Processor time in one algorithm on one domain."""

    domain: str
    algorithm: str
    trials: int
    seconds: float
    """Over all trials."""
    share: float
    """Part of the time in all algorithms on all domains."""


def time_spent(results: Results) -> list[TimeSpent]:
    """Time by domain, small ones first, and algorithm; trials that failed are not counted, their time is not known."""
    Results.insist(results)
    seconds = results.columns["seconds"]
    trials = results.trials
    places: dict[tuple[str, str], list[int]] = {}
    for number, key in enumerate(zip(results.columns["domain"].tolist(), results.labels.tolist(), strict=True)):
        places.setdefault(key, []).append(number)
    whole = float(seconds.sum()) or 1.0
    return [
        TimeSpent(domain, label, int(trials[at].sum()), float(seconds[at].sum()), float(seconds[at].sum()) / whole)
        for (domain, label), at in sorted(places.items(), key=lambda item: _order(*item[0]))
    ]


def _order(domain: str, label: str) -> tuple[int, int, str]:
    known = Domain.of(domain)
    return known.ndim, known.size, label.casefold()
