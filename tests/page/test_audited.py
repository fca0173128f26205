"""The audit on the cards of the catalogue."""

import re

import pytest

from dpbench import algorithms
from dpbench.gallery import audited
from dpbench.gallery.algorithm_facts import algorithm_cards, card_of
from dpbench.paper.changed import change_of


def test_every_algorithm_of_the_catalogue_was_audited_as_it_is():
    """But for what is listed as changed; ``python -m benchmarks.audit --cards`` renews the file."""
    silent = [name for name, kind in algorithms.catalogue().items() if not audited.kept_words(kind)]
    assert [name for name in silent if not change_of(name, "private", "draws", "code")] == []


def test_a_card_tells_the_kept_audit_only_of_the_code_that_was_audited(monkeypatch):
    """With other code the card is silent rather than wrong; it says when the audit was made, and by which version."""
    known = [card for card in algorithm_cards() if not change_of(card.name, "private", "draws", "code")]
    assert all(card.audit.startswith("no leak found in ") for card in known)
    assert all(re.search(r"\(audited on \d{4}-\d\d-\d\d by dpbench \S+\)$", card.audit) for card in known)
    monkeypatch.setattr(audited, "algorithm_source", lambda kind, files: "another")
    assert {card_of(algorithms.ours()[name]).audit for name in ("Identity", "UGrid")} == {""}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Identity", "UGrid"])
def test_the_kept_words_are_those_of_an_audit(name):
    """Run again, the audit says the same, but for how many cases ten seconds of this processor allow."""
    now, told = audited.audit_words(name), audited.kept_words(algorithms.catalogue()[name])
    kept, made = told.rsplit(" (", 1)
    assert re.fullmatch(r"audited on \d{4}-\d\d-\d\d by dpbench \S+\)", made)
    assert kept.startswith("no leak found in ")
    assert re.sub(r"\d+", "#", now) == re.sub(r"\d+", "#", kept)
