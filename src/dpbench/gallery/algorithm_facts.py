"""Algorithms described to a reader: the idea, the facts, and where the budget goes."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import cleandoc

from dpbench import algorithms
from dpbench.algorithm import Algorithm
from dpbench.gallery.audited import NOTION_WORDS, audit_words, kept_of
from dpbench.gallery.budget_use import BudgetUse
from dpbench.page.cards import AlgorithmCard
from dpbench.privacy.ledger import BY_ITS_OWN


def algorithm_cards(audit: bool = False, added: Sequence[type[Algorithm]] = ()) -> tuple[AlgorithmCard, ...]:
    """A card for every algorithm of the catalogue, and for those that were added.

    Those that were added are audited now, and with ``audit`` everybody is; else the catalogue's audit is the kept one.
    """
    catalogue = {name: kind for name, kind in algorithms.everything().items() if kind not in added}
    known = [_card(kind, audit) for kind in catalogue.values()]
    return *known, *(_card(kind, audit=True, catalogued=False) for kind in added)


def _card(kind: type[Algorithm], audit: bool, catalogued: bool = True) -> AlgorithmCard:
    private = kind()
    paragraphs = cleandoc(kind.__doc__ or "").split("\n\n")
    words, kept = kept_of(kind)
    use = kept or BudgetUse.of(private)
    return AlgorithmCard(
        name=kind.name,
        idea=" ".join(paragraphs[0].split()),
        about=" ".join(paragraphs[1].split()).replace("``", "") if len(paragraphs) > 1 else "",
        paper=kind.paper,
        dimensions=" and ".join(f"{axes}-D" for axes in kind.dimensions) if kind.dimensions else "any number of axes",
        data_dependent=kind.data_dependent,
        properties=_properties(private) + ((BY_ITS_OWN,) if use.own_mechanisms else ()),
        parameters={name: str(value) for name, value in private.parameters.items()},
        side_information=kind.side_information,
        not_private=kind.not_private,
        ledger_where=use.where,
        ledger=use.lines,
        notions=tuple(NOTION_WORDS[notion] for notion in kind.notions),
        audit=audit_words(private) if audit else words,
        catalogued=catalogued,
    )


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
