"""dpbench paper on a store with little in it."""

from __future__ import annotations

import csv
import json

import pytest

from dpbench.cli import main
from dpbench.store import Store
from paper.synthetic import flat, rows


@pytest.fixture
def store(tmp_path):
    """The figures' algorithms on one dataset in the paper's setting."""
    made = Store(tmp_path / "store", create=True)
    made.append(rows(flat, dimensions=(1,), datasets=("MEDCOST",)), "run")
    return str(tmp_path / "store")


def test_every_finding_has_a_line(store, capsys):
    """Ten findings, three tables, two figures; what cannot be decided says why."""
    assert main(["paper", "--store", store]) == 0
    text = capsys.readouterr().out
    assert all(f"\nFINDING {number}\n" in text for number in range(1, 11))
    assert "\nTABLE 3\n" in text
    assert "cannot be decided: Identity lacks 17 of 18 datasets" in text


def test_one_finding_as_json(store, capsys):
    """Only that finding, with what it says and why."""
    assert main(["paper", "--store", store, "--finding", "7", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {each["group"] for each in told} == {"finding 7"}
    assert {"claim", "says", "ours", "private", "verdict", "why", "quantities"} <= set(told[0])


def test_verdicts_and_settings_as_csv(store, tmp_path, capsys):
    """One row a verdict, one row a setting."""
    assert main(["paper", "--store", store, "--table", "2", "--csv", str(tmp_path / "v.csv")]) == 0
    assert len(list(csv.DictReader((tmp_path / "v.csv").read_text().splitlines()))) == 1
    assert main(["paper", "--store", store, "--export", str(tmp_path / "s.csv")]) == 0
    assert len(list(csv.DictReader((tmp_path / "s.csv").read_text().splitlines()))) == 11 * 6


def test_the_price_needs_both_settings(store, capsys):
    """One line, exit code 2."""
    assert main(["paper", "--store", store, "--price"]) == 2
    assert "needs both settings" in capsys.readouterr().err


def test_claims_of_our_own_stand_in_a_block_of_their_own(capsys):
    """One open problem with what decided it; it says what was expected, holds or is refuted, and has one setting."""
    assert main(["paper", "--problem", "3"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("\nOPEN PROBLEM 3\n")
    assert shown.count("expected:") == 2
    assert "paper's setting" not in shown
    assert "claims of our own: " in shown.splitlines()[-1]
