"""The black box on released numbers."""

import json

import numpy as np
import pytest

import dpbench.release.black_box as black_box
from dpbench.cli import main
from dpbench.release.black_box import audit_release


def test_a_release_is_not_refuted(monkeypatch, capsys):
    """A few runs of the command; the slow test has more."""
    monkeypatch.setattr(black_box, "DOMAINS", ("4",))
    assert main(["check", "Identity", "--released", "--runs", "1000", "--json", "--quiet"]) == 0
    report = json.loads(capsys.readouterr().out)["algorithms"][0]
    layer = next(layer for layer in report["layers"] if layer["name"] == "black box")
    assert (report["form"], layer["verdict"]) == ("released", "pass")
    assert layer["figures"]["power"] < 2


def test_half_the_noise_is_refuted(monkeypatch):
    """A release that pays for twice of what it says."""
    honest = black_box.draw
    monkeypatch.setattr(black_box, "DOMAINS", ("4",))
    monkeypatch.setattr(black_box, "draw", lambda a, x, w, notion: honest(a, x, w, type(notion)(2 * notion.amount)))
    report = audit_release("Identity", runs=4000)
    assert not report.passed
    assert "is refuted" in report.layer("black box").cause


def test_tables_become_the_counts_that_they_were_made_from():
    """Rows first, as in a release."""
    counts = np.array([[3, 0], [1, 2]])
    np.testing.assert_array_equal(black_box._by_a_table(counts), counts)


def test_what_cannot_be_released_cannot_be_audited_as_released(capsys):
    """One line."""
    assert main(["check", "DAWA", "--released"]) == 2
    assert "DAWA cannot be released" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Identity", "HDMM", "Cascade"])
def test_releases_are_not_refuted_at_length(name):
    """20,000 releases on each side; `dpbench check NAME --released` has 100,000."""
    report = audit_release(name, runs=20_000)
    assert report.passed, report.layer("black box").cause
    assert report.layer("black box").figures["power"] < 4.3
