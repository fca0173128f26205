"""Where the budget of an algorithm goes, as a card shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from dpbench import algorithms
from dpbench.algorithm import Algorithm
from dpbench.domain import Domain
from dpbench.page.cards import LedgerLine
from dpbench.privacy import Ledger
from dpbench.privacy.ledger import Charge
from dpbench.workloads import Prefix, RandomRange, Workload

BUDGETS: Mapping[str, Mapping[str, Any]] = {"pure": {"epsilon": 0.1}, "zCDP": {"rho": 0.0025}}
"""What a ledger is drawn up for: under the first notion that an algorithm has; noise on a count is as large in both."""
DOMAINS = ("1024", "64x64")
"""Where a ledger is drawn up: the first that the algorithm supports."""


@dataclass(frozen=True)
class BudgetUse:
    """A ledger in the words of a card."""

    where: str = ""
    lines: tuple[LedgerLine, ...] = ()
    own_mechanisms: bool = False

    @classmethod
    def of(cls, algorithm: Algorithm) -> BudgetUse:
        """Drawn up now; nothing of an algorithm that fails there, which its audit reports."""
        domain = next((each for each in map(Domain.of, DOMAINS) if algorithm.supports(each)), None)
        ledger = None if domain is None else _ledger(algorithm, domain)
        if ledger is None:
            return cls()
        return cls(f"on {domain}, {ledger.notion}", ledger_lines(ledger), bool(ledger.own_mechanisms))

    def plain(self) -> dict[str, Any]:
        """As JSON holds it; see :meth:`read`."""
        return asdict(self)

    @classmethod
    def read(cls, plain: Mapping[str, Any]) -> BudgetUse:
        """Back from JSON."""
        return cls(plain["where"], tuple(LedgerLine(**each) for each in plain["lines"]), plain["own_mechanisms"])


def workload_on(domain: Domain) -> Workload:
    """The paper's workload for a domain."""
    return Prefix(domain) if domain.ndim == 1 else RandomRange(domain, queries=2000, seed=0)


def _ledger(algorithm: Algorithm, domain: Domain) -> Ledger | None:
    try:
        return algorithm.explain(domain, workload_on(domain), **BUDGETS[algorithm.notions[0]]).ledger
    except Exception:
        if algorithms.ours_by_name(algorithm.name) is not None:
            raise
        return None


def ledger_lines(ledger: Ledger) -> tuple[LedgerLine, ...]:
    """Charges for the same thing as one line: rounds lose their numbers, of trials the first stands for all."""
    shares: dict[tuple[str, str], tuple[float, int]] = {}
    for charge in _unfolded(ledger):
        key = charge.kind, re.sub(r"\s+\d+$", "", charge.why)
        share, times = shares.get(key, (0.0, 0))
        shares[key] = share + float(charge.amount / ledger.budget), times + 1
    return tuple(LedgerLine(kind, why, share, times) for (kind, why), (share, times) in shares.items())


def _unfolded(ledger: Ledger) -> Iterator[Charge]:
    for charge in ledger.charges:
        if charge.kind == "trials" and charge.regions:
            yield from _unfolded(charge.regions[0])
        else:
            yield charge
