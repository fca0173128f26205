"""Cascade: what it measures, and what it promises. The posterior: tests/mathematics/test_cascade.py."""

from __future__ import annotations

import numpy as np
import pytest

import dpbench as dpb
from dpbench.errors import Unsupported
from dpbench.workloads import AllRange, Identity, Prefix, RandomRange

CASCADE = dpb.algorithms.get("Cascade")


@pytest.mark.parametrize(
    "workload",
    [Prefix(1), Prefix(2), Prefix(100), AllRange((5, 12)), RandomRange((1, 40), 9), AllRange((1, 1)), AllRange((2, 2))],
    ids=repr,
)
@pytest.mark.parametrize("budget", [{"epsilon": 0.1}, {"rho": 0.01}], ids=["pure", "zCDP"])
def test_it_is_never_negative_and_spends_everything(workload, budget):
    """On any domain of one or two axes, under both notions; an empty table among the data."""
    for x in (np.zeros(workload.domain.shape, dtype=int), np.full(workload.domain.shape, 7)):
        outcome = CASCADE.outcome(x, workload, **budget, trials=2, seed=1)
        assert (outcome.estimate >= 0).all()
        assert outcome.ledger.remaining == 0


def spike(shape, records):
    x = np.zeros(shape, dtype=int)
    x[3:9, 20:30] = records
    return x


@pytest.mark.parametrize("records", [0, 3, 40, 10_000])
def test_every_plan_of_the_plane_spends_everything(records):
    """Empty, low, middle and dense squares beside one another, on sides that are no powers of two."""
    x, workload = spike((100, 60), records), RandomRange((100, 60), 50)
    outcome = CASCADE.outcome(x, workload, 0.5, trials=2, seed=2)
    assert outcome.ledger.remaining == 0
    assert np.isfinite(outcome.estimate).all()


def test_it_becomes_exact():
    """As epsilon grows, on a line and in the plane."""
    for x in (np.arange(200) % 7, np.arange(20 * 24).reshape(20, 24) % 5):
        workload = AllRange(x.shape) if x.ndim > 1 else Prefix(x.shape)
        np.testing.assert_allclose(CASCADE.run(x, workload, 1e9, seed=0)[0], x, atol=1e-4)


def test_it_errs_less_than_least_squares_where_cells_are_few_and_empty():
    """Sparse data of 10^4 records: less than 0.8 of Hb's error, on the mean of 10 trials."""
    x = dpb.generate(dpb.datasets.shapes.get("spikes-1", 1024), scale=10_000, domain=1024, seed=0)
    workload = Prefix(1024)
    errors = [
        dpb.loss.scaled_error(workload, x, dpb.algorithms.get(name).run(x, workload, 0.1, trials=10, seed=4)).mean()
        for name in ("Cascade", "Hb")
    ]
    assert errors[0] < 0.8 * errors[1]


def test_single_cells_of_dense_data_are_measured_as_cells():
    """The workload decides: at high signal less than 1.15 times Identity's error on cells, 20 trials of 256 cells."""
    x, workload = np.full(256, 5_000) + np.arange(256) % 97 * 50, Identity(256)
    errors = [
        dpb.loss.scaled_error(workload, x, dpb.algorithms.get(name).run(x, workload, 1.0, trials=20, seed=4)).mean()
        for name in ("Cascade", "Identity")
    ]
    assert errors[0] < 1.15 * errors[1]


def test_three_axes_are_refused():
    """In one line."""
    with pytest.raises(Unsupported, match="1-D or 2-D"):
        CASCADE.run(np.ones((2, 2, 2), dtype=int), AllRange((2, 2, 2)), 1.0, seed=0)


def test_the_published_form_is_the_private_one():
    """Nothing differs."""
    published = dpb.algorithms.get("Cascade", variant="published")
    assert published.is_private
    x = np.arange(40)
    np.testing.assert_array_equal(published.run(x, Prefix(40), 1, 2, 3), CASCADE.run(x, Prefix(40), 1, 2, 3))


@pytest.mark.parametrize("side", [100, 1000, 4001])
@pytest.mark.parametrize("budget", [{"epsilon": 1.0}, {"rho": 0.5}], ids=["pure", "zCDP"])
def test_lines_with_signal_are_asked_for_wide_rows(side, budget):
    """All prefixes of at least eight blocks of 16, under pure privacy; everything is spent, nothing is negative.

    Under Gaussian noise the rows err more than a chain: 14.9 against 11.9 per prefix of 256 dense cells.
    """
    outcome = CASCADE.outcome(np.full(side, 50), Prefix(side), **budget, trials=2, seed=3)
    expected = side > 7 * 16 and "epsilon" in budget
    assert all((squares.wide is not None) == expected for squares in outcome.kept)
    assert outcome.ledger.remaining == 0
    assert (outcome.estimate >= 0).all()
    np.testing.assert_allclose(outcome.estimate.sum(axis=1), 50 * side, rtol=0.02)


@pytest.mark.parametrize(
    ("workload", "records"), [(Prefix(256), 0), (AllRange(256), 50), (Identity(256), 50)], ids=repr
)
def test_other_workloads_and_weak_signals_keep_the_chain(workload, records):
    """No wide rows there."""
    outcome = CASCADE.outcome(np.full(256, records), workload, 1.0, seed=3)
    assert outcome.kept[0].wide is None


@pytest.mark.parametrize("budget", [{"epsilon": 1.0}, {"rho": 0.5}], ids=["pure", "zCDP"])
def test_bars_beside_wide_rows_hold_the_truth(budget):
    """Calibrated and guaranteed 95 % intervals of 256 prefixes, 4 trials: at least 85 % hold; draws are tables.

    Three blocks of four are empty: a line most of whose cells stand out is asked for no blocks.
    """
    x = np.random.default_rng(1).poisson(300, size=256) * (np.arange(256) // 16 % 4 == 0)
    workload = Prefix(256)
    outcome = CASCADE.outcome(x, workload, **budget, trials=4, seed=5)
    assert all((squares.wide is not None) == ("epsilon" in budget) for squares in outcome.kept)
    truth = workload.answer(x)
    for guaranteed in (False, True):
        bars = outcome.intervals(workload, 0.95, guaranteed=guaranteed)
        assert ((bars[..., 0] <= truth) & (truth <= bars[..., 1])).mean() > 0.85
    draws = outcome.draws(5, seed=0)
    assert draws.shape == (4, 5, 256)
    assert (draws >= 0).all()


def test_a_workload_of_the_whole_domain_alone():
    """It asks for no square inside, and whatever it asks for is answered."""
    x = np.full((40, 70), 30)
    estimate = dpb.algorithms.get("Cascade").run(
        x, dpb.workloads.Ranges((40, 70), [[0, 0]], [[40, 70]]), epsilon=1, seed=0
    )
    assert estimate.sum() == pytest.approx(x.sum(), rel=0.01)
