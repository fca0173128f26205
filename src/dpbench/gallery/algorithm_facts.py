"""Algorithms described to a reader: the idea, the facts, and where the budget goes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from inspect import cleandoc
from typing import Any

from dpbench import algorithms
from dpbench.algorithm import Algorithm
from dpbench.domain import Domain
from dpbench.gallery.audited import NOTION_WORDS, audit_words, kept_words
from dpbench.page.cards import AlgorithmCard, LedgerLine
from dpbench.privacy import Ledger
from dpbench.privacy.ledger import BY_ITS_OWN, Charge
from dpbench.workloads import Prefix, RandomRange, Workload

BUDGETS: Mapping[str, Mapping[str, Any]] = {"pure": {"epsilon": 0.1}, "zCDP": {"rho": 0.0025}}
"""What a ledger is drawn up for: under the first notion that an algorithm has; noise on a count is as large in both."""
DOMAINS = ("1024", "64x64")
"""Where a ledger is drawn up: the first that the algorithm supports."""


def algorithm_cards(audit: bool = False, added: Sequence[type[Algorithm]] = ()) -> tuple[AlgorithmCard, ...]:
    """A card for every algorithm of the catalogue, and for those that were added.

    Those that were added are audited now, and with ``audit`` everybody is; else the catalogue's audit is the kept one.
    """
    catalogue = {name: kind for name, kind in algorithms.everything().items() if kind not in added}
    known = [_card(kind, audit) for kind in catalogue.values()]
    return *known, *(_card(kind, audit=True, catalogued=False) for kind in added)


def workload_on(domain: Domain) -> Workload:
    """The paper's workload for a domain."""
    return Prefix(domain) if domain.ndim == 1 else RandomRange(domain, queries=2000, seed=0)


def _card(kind: type[Algorithm], audit: bool, catalogued: bool = True) -> AlgorithmCard:
    private = kind()
    paragraphs = cleandoc(kind.__doc__ or "").split("\n\n")
    domain = next((Domain.of(each) for each in DOMAINS if private.supports(each)), None)
    ledger = None if domain is None else _ledger(private, domain)
    return AlgorithmCard(
        name=kind.name,
        idea=" ".join(paragraphs[0].split()),
        about=" ".join(paragraphs[1].split()).replace("``", "") if len(paragraphs) > 1 else "",
        paper=kind.paper,
        dimensions=" and ".join(f"{axes}-D" for axes in kind.dimensions) if kind.dimensions else "any number of axes",
        data_dependent=kind.data_dependent,
        properties=_properties(private) + ((BY_ITS_OWN,) if ledger is not None and ledger.own_mechanisms else ()),
        parameters={name: str(value) for name, value in private.parameters.items()},
        side_information=kind.side_information,
        not_private=kind.not_private,
        ledger_where=f"on {domain}, {ledger.notion}" if ledger is not None else "",
        ledger=() if ledger is None else _lines(ledger),
        notions=tuple(NOTION_WORDS[notion] for notion in kind.notions),
        audit=audit_words(private) if audit else kept_words(kind),
        catalogued=catalogued,
    )


def _ledger(algorithm: Algorithm, domain: Domain) -> Ledger | None:
    """Where the budget goes; nothing of an algorithm that fails there, which its audit reports."""
    try:
        return algorithm.explain(domain, workload_on(domain), **BUDGETS[algorithm.notions[0]]).ledger
    except Exception:
        if algorithm.name in algorithms.everything():
            raise
        return None


def _properties(algorithm: Algorithm) -> tuple[str, ...]:
    facts = {
        "hierarchical": algorithm.hierarchical,
        "partitioning": algorithm.partitioning,
        "data-dependent": algorithm.data_dependent,
        "data-independent": not algorithm.data_dependent,
        "consistent": algorithm.consistent,
        "not consistent": not algorithm.consistent,
        "scale-epsilon exchangeable": algorithm.exchangeable,
    }
    return tuple(name for name, true in facts.items() if true)


def _lines(ledger: Ledger) -> tuple[LedgerLine, ...]:
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
