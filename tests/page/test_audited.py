"""The audit on the cards of the catalogue."""

import re

import pytest

from dpbench import algorithms
from dpbench.gallery import audited
from dpbench.gallery.algorithm_facts import algorithm_cards, card_of


def test_every_algorithm_of_the_catalogue_was_audited_as_it_is():
    """``python -m benchmarks.audit --cards`` renews the file after a revision is raised."""
    assert [name for name, kind in algorithms.catalogue().items() if not audited.kept_words(kind)] == []


def test_a_card_tells_the_kept_audit_only_of_the_code_that_was_audited(monkeypatch):
    """With another revision the card is silent rather than wrong; it says when the audit was made, by which version."""
    known = algorithm_cards()
    assert all(card.audit.startswith("no leak found in ") for card in known)
    assert all(re.search(r"\(audited on \d{4}-\d\d-\d\d by dpbench \S+\)$", card.audit) for card in known)
    monkeypatch.setattr(audited, "algorithm_version", lambda kind, files: "another")
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
