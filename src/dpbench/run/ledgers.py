"""A ledger as a row keeps it: JSON, short, and checked where it comes from a stranger's process."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from dpbench.errors import AlgorithmFailed
from dpbench.given import stored_fraction, stored_sum
from dpbench.privacy import Ledger, Notion
from dpbench.privacy.ledger import FOR_NOTHING
from dpbench.store.schema import LONGEST_LEDGER, MOST_CHARGES
from dpbench.strangers_text import one_line

LONGEST = 120
"""Characters of a name or a reason that are kept of a stranger's ledger."""
DEEPEST = 20
"""Regions within regions that a stranger's ledger may have."""
_CHARGE = {"kind": str, "why": str, "amount": str, "times": int, "regions": int, "first": list}
"""What a charge is made of; the last two only where it is shared by regions."""


def ledger_json(ledger: Ledger) -> str:
    """The charges of a ledger, short: kind, why, share of epsilon; a region or trial stands for all alike."""

    def plain(book: Ledger) -> list[dict[str, Any]]:
        return [
            {
                "kind": charge.kind,
                "why": charge.why,
                "amount": str(charge.amount),
                **({"regions": len(charge.regions), "first": plain(charge.regions[0])} if charge.regions else {}),
            }
            for charge in book.charges
        ]

    return _text(ledger.notion.unit, ledger.budget, _folded(plain(ledger)))


def _text(unit: str, budget: Fraction, charges: list[dict[str, Any]]) -> str:
    """The ledger as a row keeps it; one that would take long to read is refused."""
    waiting, lines = [charges], 0
    for each in waiting:
        lines += len(each)
        waiting += [charge["first"] for charge in each if "first" in charge]
    if lines > MOST_CHARGES:
        raise AlgorithmFailed(
            f"its ledger has more than {MOST_CHARGES} charges that differ; ask for many answers by one call, or give "
            f"one reason to calls that are alike"
        )
    text = json.dumps({unit: str(budget), "charges": charges})
    if len(text) > LONGEST_LEDGER:
        raise AlgorithmFailed(f"its ledger has more than {LONGEST_LEDGER} characters; give shorter reasons")
    return text


def _folded(charges: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Runs of equal charges, such as the rounds of MWEM, as one with a number."""
    folded: list[dict[str, Any]] = []
    for charge in charges:
        if "first" in charge:
            charge["first"] = _folded(charge["first"])
        same = next((other for other in folded[-2:] if {**other, "times": 0} == {**charge, "times": 0}), None)
        if same is None:
            folded.append({**charge, "times": 1})
        else:
            same["times"] += 1
    return folded


def checked_ledger(written: object, notions: Sequence[Notion]) -> tuple[str, bool]:
    """A stranger's ledger, written anew after every sum was made again, and whether nothing was known for nothing.

    The budget has to be one of ``notions``. What was spent and forfeited has to be the budget exactly, in every region
    that is shown too.
    """
    unit = notions[0].unit
    if not isinstance(written, dict) or set(written) != {unit, "charges"}:
        raise AlgorithmFailed("its ledger is not a ledger: it has to have a budget and charges")
    notion = next((each for each in notions if each.amount == _fraction(written[unit])), None)
    if notion is None:
        raise AlgorithmFailed("its ledger speaks of another budget than the one that it was given")
    charges, private = _checked(written["charges"], notion.amount, DEEPEST)
    if getattr(notion, "one_measurement", False) and [charge["times"] for charge in charges] != [1]:
        raise AlgorithmFailed("its ledger counts one measurement by its own formula and has more charges than that")
    return _text(unit, notion.amount, charges), private


def _checked(charges: object, budget: Fraction, depth: int) -> tuple[list[dict[str, Any]], bool]:
    if not isinstance(charges, list) or depth == 0:
        raise AlgorithmFailed("its ledger is not a ledger: charges are a list")
    checked, private, spent = list[dict[str, Any]](), True, list[Fraction]()
    for charge in charges:
        if (
            not isinstance(charge, dict)
            or not {"kind", "why", "amount", "times"} <= charge.keys() <= _CHARGE.keys()
            or any(type(value) is not _CHARGE[name] for name, value in charge.items())
            or ("regions" in charge) != ("first" in charge)
        ):
            raise AlgorithmFailed("its ledger is not a ledger: a charge has a kind, a reason, an amount and a number")
        amount, times = _fraction(charge["amount"]), charge["times"]
        free = charge["kind"] in FOR_NOTHING
        if times < 1 or amount < 0 or (amount == 0 and not free):
            raise AlgorithmFailed("its ledger has a charge of nothing, or one that gives something back")
        shown = {**charge, "kind": one_line(charge["kind"], LONGEST), "why": one_line(charge["why"], LONGEST)}
        spent.append(amount * times)
        private = private and not free
        if "first" in charge:
            shown["first"], inner = _checked(charge["first"], amount, depth - 1)
            private = private and inner
        checked.append(shown)
    if _sum(spent) != budget:
        raise AlgorithmFailed("the charges of its ledger are not the budget that it was given")
    return checked, private


def _fraction(written: object) -> Fraction:
    try:
        return stored_fraction(written)
    except ValueError:
        raise AlgorithmFailed("its ledger has an amount that is no fraction, or one of thousands of digits") from None


def _sum(amounts: list[Fraction]) -> Fraction:
    try:
        return stored_sum(amounts)
    except ValueError:
        raise AlgorithmFailed("its ledger has amounts whose sum has thousands of digits") from None
