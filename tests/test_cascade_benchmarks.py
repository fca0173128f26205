"""What the figures of docs/cascade.md rest on: samples, stronger forms, and the search for constants."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import cascade_constants as constants
from benchmarks.cascade_settings import FRESH, LINE, PLANE, sample_of
from benchmarks.strong_forms import algorithm_of

import dpbench as dpb
from dpbench.audit import check_algorithm
from dpbench.datasets import families
from dpbench.workloads import Identity, Prefix, RandomRange


@pytest.mark.parametrize(("ndim", "strata"), [(1, 108), (2, 114)])
def test_a_sample_has_every_stratum_and_grows(ndim, strata):
    """As many of every workload, domain and budget; different families; a larger sample holds the smaller."""
    small, large = list(sample_of(ndim, 1)), list(sample_of(ndim, 2))
    assert (len(small), len(large)) == (strata, 2 * strata)
    assert {setting[1:] for setting in small} == {setting[1:] for setting in large}
    assert set(small) < set(large)
    assert {setting[1] for setting in small} == set(LINE if ndim == 1 else PLANE)
    kinds = [shape.split("/")[0] for shape, *_ in large]
    assert set(kinds) == set(families.names(ndim))
    assert len({(kind, *setting[1:]) for kind, setting in zip(kinds, large, strict=True)}) == len(large)


def test_nothing_is_scored_on_shapes_that_something_was_chosen_on():
    """Instances of the search, of samples and of the held-out score are disjoint."""
    for part, ndim in (("line", 1), ("plane", 2)):
        searched, held_out = (
            {each[0] for each in constants.settings_of(part, constants.DOMAINS[part], (100,), first, 20)}
            for first in (0, constants.HELD_OUT)
        )
        sampled = {each[0] for each in sample_of(ndim, 10)}
        assert len(searched | held_out | sampled) == len(searched) + len(held_out) + len(sampled)
        assert {int(name.split("/")[1]) >= FRESH for name in sampled} == {True}


def test_every_constant_is_where_the_search_looks_for_it():
    """Its shipped value is on its ladder, and is there again after a candidate was tried."""
    before = [constant.shipped for constant in constants.CONSTANTS]
    point = dict.fromkeys(constants.CONSTANTS, 0)
    with constants.values(point) as cascade:
        assert cascade.rounds == 0
        assert all(
            getattr(constant.home, constant.name) == constant.ladder[0]
            for constant in constants.CONSTANTS
            if constant.module
        )
    assert [constant.shipped for constant in constants.CONSTANTS] == before


def test_the_search_goes_down_to_the_least_and_is_kept(tmp_path, monkeypatch):
    """On errors that are least at known rungs, whatever the order of the constants; evaluations are not repeated."""
    calls = []

    def bowl(point, settings, trials):
        calls.append(trials)
        off = sum((rung - 1 - number % 3) ** 2 for number, rung in enumerate(point.values()))
        return off + 0.1 * np.sin(np.arange(len(settings)) + off)

    monkeypatch.setattr(constants, "errors_of", bowl)
    work = constants.Search(tmp_path / "kept.json", "line", 1, 2)
    found = work.go(dict.fromkeys(work.constants, 0), passes=4)
    assert list(found.values()) == [1 + number % 3 for number in range(len(found))]
    once = len(calls)
    again = constants.Search(tmp_path / "kept.json", "line", 1, 2)
    assert again.go(dict.fromkeys(again.constants, 0), passes=4) == found
    assert len(calls) == once
    with pytest.raises(SystemExit, match="another search"):
        constants.Search(tmp_path / "kept.json", "plane", 1, 2)


@pytest.mark.parametrize("workload", [Prefix(100), Identity(37), RandomRange((12, 20), 50)])
def test_dawa_on_hbw_spends_its_budget_and_finds_the_counts(workload):
    """The ledger adds up; without noise to speak of the counts come back; the tree of its buckets has sensitivity 1."""
    x = np.random.default_rng(0).poisson(20, size=workload.domain.shape)
    outcome = algorithm_of("DAWA-HbW").outcome(x, workload, epsilon=1e6, seed=0)
    assert outcome.ledger.spent == outcome.ledger.notion.amount
    np.testing.assert_allclose(outcome.estimate[0], x, atol=0.1)


def test_names_of_stronger_forms():
    """A parameter in brackets, and non-negativity behind."""
    assert algorithm_of("MWEM-D(rounds=4)").rounds == 4
    x = np.array([0, 0, 50, 0, 0, 0, 3, 0])
    assert dpb.algorithms.get("Hb").run(x, Prefix(8), 0.5, trials=5, seed=0).min() < 0
    assert algorithm_of("Hb+top-down").run(x, Prefix(8), 0.5, trials=5, seed=0).min() >= 0


@pytest.mark.slow
def test_dawa_on_hbw_is_private_by_replay():
    """As any algorithm of the catalogue."""
    check_algorithm(algorithm_of("DAWA-HbW"))
