"""Somebody's own algorithm on a page: its card, its audit, and noisy histograms, made in processes of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.gallery.algorithm_facts import card_of
from dpbench.gallery.audited import audit_words
from dpbench.gallery.histograms import EPSILONS, estimates
from dpbench.page.cards import AlgorithmCard, Estimate, Example, LedgerLine
from dpbench.plugins import find, is_stranger
from dpbench.run.interviews import Call, answers_of, nonsense
from dpbench.run.strangers import facts_of, reference_of
from dpbench.strangers_text import one_line

SECONDS = 600.0
"""By the clock, that it may take for its card and all histograms."""
TEXT = 2000
"""Characters that are kept of a text on a card."""


@dataclass(frozen=True, eq=False)
class Added:
    """What a page shows of an algorithm that was added."""

    card: AlgorithmCard
    noisy: tuple[tuple[Estimate, ...], ...]
    """Of each example in turn; none where it does not run there, or fails."""


def described(reference: str, examples: Sequence[Example]) -> Added:
    """The card and the noisy histograms of an algorithm; it is audited now."""
    where = reference_of(reference)
    calls = [Call(_card, (where,))]
    calls += [Call(_noisy, (where, each.counts), 8 * len(EPSILONS) * each.counts.size) for each in examples]
    if is_stranger(reference):
        name = facts_of(reference).name
        answers = [(frame.facts, frame.numbers) for frame in answers_of(where, calls, SECONDS)]
    else:
        name = find(reference).name
        answers = [call.function(*call.arguments) for call in calls]
    card = replace(_read(where, name, answers[0][0]), audit=audit_words(where))
    noisy = [_estimates(name, each.counts, numbers) for each, (_, numbers) in zip(examples, answers[1:], strict=True)]
    return Added(card, tuple(noisy))


# --- in the stranger's process --------------------------------------------------------------------


def _card(reference: str) -> tuple[dict[str, Any], bytes]:
    return asdict(card_of(find(reference), catalogued=False)), b""


def _noisy(reference: str, counts: NDArray[np.int64]) -> tuple[dict[str, Any], bytes]:
    try:
        algorithm = find(reference)()
        made = estimates(algorithm, counts) if algorithm.supports(Domain(counts.shape)) else []
        return {}, b"".join(np.asarray(each.counts, dtype=np.float64).tobytes() for each in made)
    except Exception:  # its failures are counted in the results
        return {}, b""


# --- where the page is made -----------------------------------------------------------------------


def _estimates(name: str, counts: NDArray[np.int64], numbers: bytes) -> tuple[Estimate, ...]:
    if not numbers:
        return ()
    noisy = np.frombuffer(numbers).reshape(len(EPSILONS), *counts.shape)
    return tuple(Estimate(name, *pair) for pair in zip(EPSILONS, noisy, strict=True))


def _read(reference: str, name: str, facts: Mapping[str, Any]) -> AlgorithmCard:
    """A card from plain values, which may come from anywhere."""

    def text(key: str) -> str:
        return one_line(facts.get(key, ""), TEXT)

    def texts(key: str) -> tuple[str, ...]:
        return tuple(one_line(each, TEXT) for each in facts.get(key) or ())

    try:
        ledger = [
            LedgerLine(one_line(each["kind"]), one_line(each["why"]), float(each["share"]), int(each["times"]))
            for each in facts["ledger"]
        ]
        parameters = {one_line(key): one_line(value) for key, value in dict(facts["parameters"]).items()}
        return AlgorithmCard(
            name=name,
            idea=text("idea"),
            about=text("about"),
            paper=text("paper"),
            dimensions=text("dimensions"),
            data_dependent=facts["data_dependent"] is True,
            properties=texts("properties"),
            parameters=parameters,
            side_information=texts("side_information"),
            not_private=text("not_private"),
            ledger_where=text("ledger_where"),
            ledger=tuple(ledger),
            notions=texts("notions"),
            audit="",
            not_releasable=text("not_releasable"),
            catalogued=False,
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise nonsense(reference) from None
