"""The black box on released numbers."""

import json

import numpy as np
import pytest

import dpbench as dpb
import dpbench.release.black_box as black_box
from dpbench.cli import main
from dpbench.privacy import PureDP
from dpbench.privacy.exact_channel import Exact
from dpbench.privacy.exact_noise import ExactNoise
from dpbench.release.black_box import audit_release
from dpbench.release.publishing import draw, released_counts


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

    def half(algorithm, counts, workload, notion, **others):
        return honest(algorithm, counts, workload, type(notion)(2 * notion.amount), **others)

    monkeypatch.setattr(black_box, "DOMAINS", ("4",))
    monkeypatch.setattr(black_box, "draw", half)
    report = audit_release("Identity", runs=4000)
    assert not report.passed
    assert "is refuted" in report.layer("black box").cause


@pytest.mark.parametrize("name", ["Identity", "HDMM", "Cascade", "AGrid", "DAWA", "AHP"])
def test_many_at_once_are_as_one_by_one(name):
    """A batch of one release reads the same random bytes as a release and publishes the same numbers."""
    algorithm = dpb.algorithms.get(name)
    domain = dpb.Domain.of("12" if algorithm.supports("12") else "12x3")
    workload, counts = black_box.workload_for(domain), np.arange(domain.size).reshape(domain.shape)
    one, together = Exact(exact_noise(3)), black_box.Together(1)
    together._noise = exact_noise(3)
    published = [
        released_counts(draw(algorithm, counts, workload, PureDP(1), channel=channel)) for channel in (one, together)
    ]
    np.testing.assert_array_equal(*published)


def exact_noise(seed):
    return ExactNoise(np.random.default_rng(seed).bytes)


def test_releases_of_a_batch_are_independent():
    """Noise of one release says nothing about that of the next, and cells of a batch have a law of their own.

    4,000 releases of an empty line: correlations beyond 5 standard errors come once in a million.
    """
    algorithm, workload = dpb.algorithms.get("Identity"), black_box.workload_for(dpb.Domain.of(4))
    found = draw(
        algorithm,
        np.zeros(4, dtype=np.int64),
        workload,
        PureDP(1),
        channel=black_box.Together(4000),
        noise=black_box._NoDrawsOfMany(4000),
    ).estimate
    assert found.shape == (4000, 4)
    assert abs(np.corrcoef(found[:-1, 0], found[1:, 0])[0, 1]) < 5 / np.sqrt(4000)
    assert np.abs(np.corrcoef(found.T) - np.eye(4)).max() < 5 / np.sqrt(4000)
    scale = np.exp(-1)  # of discrete Laplace noise: variance 2 e / (1 - e)^2
    assert found.var() == pytest.approx(2 * scale / (1 - scale) ** 2, rel=0.15)


def test_tables_become_the_counts_that_they_were_made_from():
    """Rows first, as in a release."""
    counts = np.array([[3, 0], [1, 2]])
    np.testing.assert_array_equal(black_box._by_a_table(counts), counts)


def test_what_cannot_be_released_cannot_be_audited_as_released(capsys):
    """One line."""
    assert main(["check", "EFPA", "--released"]) == 2
    assert "EFPA cannot be released" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Identity", "HDMM", "Cascade"])
def test_releases_are_not_refuted_at_length(name):
    """20,000 releases on each side; `dpbench check NAME --released` has 100,000."""
    report = audit_release(name, runs=20_000)
    assert report.passed, report.layer("black box").cause
    assert report.layer("black box").figures["power"] < 4.3
