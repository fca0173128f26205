"""TopDown: weighted blocks, least squares, non-negative from the top."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dpbench as dpb
from dpbench.domain import Domain
from dpbench.mathematics.level_shares import block_sides, level_shares
from dpbench.workloads import AllRange, Identity, Prefix, RandomRange

TOP_DOWN = dpb.algorithms.get("TopDown")


@pytest.mark.parametrize(
    "workload",
    [Prefix(1), Prefix(2), Prefix(100), AllRange((5, 12)), RandomRange((1, 40), 9), AllRange((2, 3, 4))],
    ids=repr,
)
@pytest.mark.parametrize("budget", [{"epsilon": 0.1}, {"rho": 0.01}], ids=["pure", "zCDP"])
def test_it_is_never_negative_and_spends_everything(workload, budget):
    """On any domain, under both notions; an empty table among the data."""
    for x in (np.zeros(workload.domain.shape, dtype=int), np.full(workload.domain.shape, 7)):
        outcome = TOP_DOWN.outcome(x, workload, **budget, trials=3, seed=1)
        assert (outcome.estimate >= 0).all()
        assert outcome.ledger.remaining == 0


def test_large_counts_make_it_least_squares():
    """Where no box is near zero nothing is cut: the estimate is unbiased, and as good as its measurement.

    The mean of 400 trials of a prefix is within 5 standard errors of the truth; 64 prefixes, false alarms below 1e-4.
    """
    x, workload = np.full(64, 10_000), Prefix(64)
    off = workload.answer(TOP_DOWN.run(x, workload, 1.0, trials=400, seed=5)) - workload.answer(x)
    assert (np.abs(off.mean(axis=0)) < 5 * off.std(axis=0) / 20).all()


def test_it_becomes_exact():
    """As epsilon grows."""
    x = np.arange(200) % 7
    np.testing.assert_allclose(TOP_DOWN.run(x, Prefix(200), 1e9, seed=0)[0], x, atol=1e-4)


def test_weak_signals_go_up_and_cells_get_what_cells_need():
    """Shares add up to 1; with few records blocks are preferred; a workload of cells takes nearly all of them."""
    sides = block_sides(Domain((4096,)))
    assert sides == (1024, 128, 16, 1)
    weak, strong = (level_shares(Prefix(4096), sides, signal) for signal in (10.0, 1e7))
    assert sum(weak) == sum(strong) == Fraction(1)
    assert weak[-1] < strong[-1]
    assert weak[0] > strong[0]
    assert level_shares(Identity(4096), sides, 1e8)[-1] > Fraction(95, 100)
    assert level_shares(Identity(4096), sides, 10.0)[-1] > Fraction(4, 5)


@pytest.mark.parametrize(
    ("shape", "sides"), [((2,), (1,)), ((256,), (128, 16, 1)), ((1, 5), (1,)), ((64, 256), (64, 16, 4, 1))]
)
def test_the_level_with_two_blocks_stays(shape, sides):
    """Every level below the longest side is measured."""
    assert block_sides(Domain(shape)) == sides


def test_the_published_form_is_the_private_one():
    """Nothing differs, and it says so."""
    published = dpb.algorithms.get("TopDown", variant="published")
    assert published.is_private
    x = np.arange(40)
    np.testing.assert_array_equal(published.run(x, Prefix(40), 1, 2, 3), TOP_DOWN.run(x, Prefix(40), 1, 2, 3))


def test_the_contract_of_postprocessing():
    """Hb, made non-negative, and whole on top: the words of the interface."""
    x, workload = np.arange(100) % 3, Prefix(100)
    hb = dpb.algorithms.get("Hb")
    assert (hb.run(x, workload, 0.1, trials=4, seed=0, postprocess=("top-down",)) >= 0).all()
    whole = hb.run(x, workload, 0.1, trials=4, seed=0, postprocess=("top-down", "integral"))
    np.testing.assert_array_equal(whole, np.rint(whole))
    assert (whole >= 0).all()
