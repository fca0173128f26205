import json

import pytest

from dpbench.errors import AlgorithmFailed
from dpbench.privacy import PureDP
from dpbench.run.ledgers import checked_ledger
from dpbench.strangers_text import one_line, without_counts

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
        {"epsilon": "1/10", "charges": [{**GOOD, "times": True}]},
        {"epsilon": "1/10", "charges": [{**GOOD, "more": 1}]},
        {"epsilon": "1/10", "charges": [{**GOOD, "regions": 2, "first": []}]},
    ],
)
def test_a_ledger_that_does_not_add_up_is_refused(written):
    """Another budget, another sum, or no ledger at all."""
    with pytest.raises(AlgorithmFailed, match="ledger"):
        checked_ledger(written, [PureDP(0.1)])


def test_words_are_one_line_and_numbers_can_be_struck_out():
    """What steers a terminal is dropped, names of types stay."""
    assert one_line("\x1b[31mred\x07\u202e a\tb\n\udcff") == "red a b ?"
    assert len(one_line("x" * 10**6)) == 300
    assert without_counts("shape (3, 64) of float64, x12 1,000") == "shape (#, #) of float64, x# #"
