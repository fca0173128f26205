"""Algorithms described to a reader: the idea, the facts, and where the budget goes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from inspect import cleandoc

from dpbench import algorithms
from dpbench.algorithm import Algorithm
from dpbench.gallery.audited import NOTION_WORDS, audit_words, kept_of
from dpbench.gallery.budget_use import BudgetUse
from dpbench.page.cards import AlgorithmCard
from dpbench.privacy.ledger import BY_ITS_OWN
from dpbench.releasable import why_not


def algorithm_cards(audit: bool = False, names: Collection[str] | None = None) -> tuple[AlgorithmCard, ...]:
    """A card for every algorithm of the package, or for those with these names.

    With ``audit`` they are audited now, else the audit is the kept one.
    """
    cards = [card_of(kind) for name, kind in algorithms.ours().items() if names is None or name in names]
    if not audit:
        return tuple(cards)
    return tuple(replace(card, audit=audit_words(card.name)) for card in cards)


def card_of(kind: type[Algorithm], catalogued: bool = True) -> AlgorithmCard:
    """A card, with what is kept of its audit."""
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
        audit=words,
        not_releasable=why_not(kind.name),
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
    return (*(name for name, true in facts.items() if true), _release(algorithm))


def _release(algorithm: Algorithm) -> str:
    """Whether `dpbench release` takes it, and why not."""
    reason = why_not(algorithm.name if algorithm.name in algorithms.ours() else "")
    return f"cannot be released: {reason}" if reason else "can be released"
