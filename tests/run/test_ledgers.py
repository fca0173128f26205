import json
from fractions import Fraction

import pytest

from dpbench.errors import AlgorithmFailed
from dpbench.privacy import Ledger, PureDP
from dpbench.privacy.ledger import Charge
from dpbench.run.ledgers import checked_ledger, ledger_json
from dpbench.store.schema import MOST_CHARGES
from dpbench.strangers_text import one_line, without_counts

UNLIKE = [10**3990 + odd for odd in range(1, 1001, 2)]
"""Denominators with little in common: their sum has a million digits."""
GOOD = {"kind": "laplace", "why": "cells", "amount": "1/20", "times": 2}


def test_a_ledger_that_adds_up_is_written_anew():
    """With its words on one line, and its regions summed too."""
    inner = {"kind": "parts", "why": "a\nb\x1b[2J", "amount": "1/20", "times": 1, "regions": 3}
    charges = [{**inner, "first": [{**GOOD, "times": 1}]}, {**GOOD, "times": 1}]
    text, private = checked_ledger({"epsilon": "1/10", "charges": charges}, [PureDP(0.1)])
    assert json.loads(text)["charges"][0]["why"] == "a b"
    assert private


def test_what_is_known_for_nothing_makes_a_run_not_private():
    """Whatever the stranger says."""
    known = {"kind": "reveal", "why": "counts", "amount": "0", "times": 1}
    assert checked_ledger({"epsilon": "1/10", "charges": [known, GOOD]}, [PureDP(0.1)])[1] is False


@pytest.mark.parametrize(
    "written",
    [
        None,
        {"epsilon": "1/10"},
        {"epsilon": "1/5", "charges": [{**GOOD, "times": 4}]},
        {"epsilon": "1/10", "charges": []},
        {"epsilon": "1/10", "charges": [GOOD, {**GOOD, "amount": "-1/20"}, {**GOOD, "times": 1}]},
        {"epsilon": "1/10", "charges": [{**GOOD, "amount": "x"}]},
        {"epsilon": "1/10", "charges": [{**GOOD, "amount": "1/0"}]},
        {"epsilon": "1/10", "charges": [{**GOOD, "amount": "1e-999999999"}]},
        {"epsilon": "1e-999999999", "charges": [GOOD]},
        {"epsilon": "1/10", "charges": [{**GOOD, "amount": f"1/{odd}"} for odd in UNLIKE]},
        {"epsilon": "1/10", "charges": [{**GOOD, "times": True}]},
        {"epsilon": "1/10", "charges": [{**GOOD, "more": 1}]},
        {"epsilon": "1/10", "charges": [{**GOOD, "regions": 2, "first": []}]},
    ],
)
def test_a_ledger_that_does_not_add_up_is_refused(written):
    """Another budget, another sum, or no ledger at all."""
    with pytest.raises(AlgorithmFailed, match="ledger"):
        checked_ledger(written, [PureDP(0.1)])


def test_a_ledger_that_takes_long_to_read_is_refused_by_its_cause():
    """Charges that differ are counted wherever they stand, those that are alike are one, and reasons have an end."""

    def ledger(reasons):
        book = Ledger(PureDP(1))
        for why in reasons:
            book.charge(Charge("laplace", why, Fraction(1, len(reasons))))
        return book

    alike = json.loads(ledger_json(ledger(["a"] * (MOST_CHARGES + 1))))
    assert [each["times"] for each in alike["charges"]] == [MOST_CHARGES + 1]
    many = [str(number) for number in range(MOST_CHARGES + 1)]
    with pytest.raises(AlgorithmFailed, match=f"more than {MOST_CHARGES} charges that differ"):
        ledger_json(ledger(many))
    with pytest.raises(AlgorithmFailed, match="characters; give shorter reasons"):
        ledger_json(ledger([str(number) * 4000 for number in range(1000)]))
    charge = {"kind": "laplace", "amount": f"1/{10 * len(many)}", "times": 1}
    shared = {**GOOD, "kind": "parts", "amount": "1/10", "times": 1, "regions": 2}
    for charges in (
        [{**charge, "why": why} for why in many],
        [{**shared, "first": [{**charge, "why": w} for w in many]}],
    ):
        with pytest.raises(AlgorithmFailed, match="charges that differ"):
            checked_ledger({"epsilon": "1/10", "charges": charges}, [PureDP(0.1)])


def test_words_are_one_line_and_numbers_can_be_struck_out():
    """What steers a terminal is dropped, names of types stay."""
    assert one_line("\x1b[31mred\x07\u202e a\tb\n\udcff") == "red a b ?"
    assert len(one_line("x" * 10**6)) == 300
    assert without_counts("shape (3, 64) of float64, x12 1,000") == "shape (#, #) of float64, x# #"
