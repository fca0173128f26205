"""Lines whose cells nearly all stand out: how that is asked, least squares, bars and draws."""

from __future__ import annotations

import numpy as np
import pytest

import dpbench as dpb
from dpbench.mathematics.dense_line import (
    CappedTotal,
    DenseLine,
    evenness,
    records_of_full_cell,
    share_of_fullness,
    strategy_for_dense,
)
from dpbench.mathematics.rows_over_blocks import rows_over_blocks
from dpbench.workloads import AllRange, Identity, Prefix

CASCADE = dpb.algorithms.get("Cascade")


def dense(side, seed=0):
    return np.random.default_rng(seed).integers(2_000, 9_000, size=side)


def test_one_record_moves_the_capped_total_by_at_most_one():
    """By 1 below the cap, by 0 from the cap on; on any counts."""
    rng = np.random.default_rng(1)
    for most in (1, 7, 400):
        question = CappedTotal(most)
        for _ in range(50):
            x = rng.integers(0, 2 * most, size=rng.integers(1, 40))
            cell = rng.integers(len(x))
            more = x.copy()
            more[cell] += 1
            assert question.answer(more)[0] - question.answer(x)[0] == (x[cell] < most)


def test_a_full_cell_stands_out_at_any_budget():
    """Forty records over epsilon, at least one."""
    assert [records_of_full_cell(epsilon) for epsilon in (0.1, 1.0, 3.0, 1000.0)] == [400, 40, 14, 1]


def test_fullness_costs_little():
    """Below 0.6 % of a budget, and 0.1 % from 1,024 cells on."""
    shares = [float(share_of_fullness(cells)) for cells in (128, 256, 1024, 8192)]
    np.testing.assert_allclose(shares, [0.00587, 0.00294, 0.001, 0.001], rtol=0.01)


def test_evenness_is_1_on_even_lines_and_where_noise_hides_it():
    """Whatever the signal: half of what even cells of ten records times epsilon show is 0.5."""
    cells = 1024
    assert evenness(0.5 * 10 / 40, cells, 10.0 * cells) == 0.5
    assert evenness(0.25, cells, 1e9) == 0.25
    assert evenness(0.0, cells, 0.1 * cells) == 1.0
    assert evenness(float("inf"), cells, 1e9) > 1


def test_cells_of_sparse_lines_get_less():
    """0.7 times the odds at an evenness of 0; no more than usual above 0.35."""
    usual, sparse, even = (rows_over_blocks(Prefix(512), 1e6, each).cells for each in (1.0, 0.0, 5.0))
    assert usual == even
    odds = [float(each / (1 - each)) for each in (usual, sparse)]
    np.testing.assert_allclose(odds[1] / odds[0], 0.7, rtol=1e-3)


@pytest.mark.parametrize("side", [128, 300, 512, 1024])
def test_dense_lines_are_measured_by_rows_over_cells(side):
    """Two calls that spend everything; the estimate is least squares of dense algebra, which stays above 0."""
    x = dense(side)
    outcome = CASCADE.outcome(x, Prefix(side), 1.0, trials=2, seed=3)
    assert outcome.ledger.remaining == 0
    strategy = strategy_for_dense(Prefix(side)).strategy
    matrix = np.stack([strategy.answer(cell) for cell in np.eye(side, dtype=np.int64)], axis=1)
    np.testing.assert_array_equal(matrix.sum(axis=0), 1.0)
    for estimate, squares in zip(outcome.estimate, outcome.kept, strict=True):
        expected = np.linalg.lstsq(matrix, squares.dense.answers, rcond=None)[0]
        np.testing.assert_allclose(estimate, expected, atol=1e-6)


def mostly_empty(side):
    return dense(side) * (np.arange(side) % 4 == 0)


@pytest.mark.parametrize(
    ("x", "workload", "budget"),
    [
        (mostly_empty(256), Prefix(256), {"epsilon": 1.0}),
        (np.zeros(256, dtype=int), Prefix(256), {"epsilon": 1.0}),
        (dense(256), Prefix(256), {"rho": 0.5}),
        (dense(256), AllRange(256), {"epsilon": 1.0}),
        (dense(256), Identity(256), {"epsilon": 1.0}),
        (dense(100), Prefix(100), {"epsilon": 1.0}),
        (dense(1000), Prefix(1000), {"epsilon": 1.0}),
    ],
    ids=["mostly empty", "empty", "Gaussian", "all ranges", "cells", "short", "no strategy at hand"],
)
def test_other_lines_are_measured_as_before(x, workload, budget):
    """Squares have the answers, and everything is spent."""
    outcome = CASCADE.outcome(x, workload, **budget, seed=3)
    assert outcome.kept[0].dense is None
    assert outcome.ledger.remaining == 0


def test_it_errs_less_than_a_hierarchy_on_dense_lines():
    """Expected squared error per prefix of 256 cells is 53.6 at epsilon 1; 63.1 for blocks and rows over blocks.

    The mean of 300 trials has a standard error of about 1.5.
    """
    x, workload = dense(256), Prefix(256)
    off = CASCADE.run(x, workload, 1.0, trials=300, seed=4).cumsum(axis=1) - x.cumsum()
    assert 49 < (off**2).mean() < 59


@pytest.mark.parametrize("cautious", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_bars_hold_as_often_as_they_say(cautious):
    """Intervals of 90 % and 50 %, of 300 trials each; they are guaranteed, so there is nothing to be cautious about.

    Rounded outwards, by next to nothing at epsilon 0.1; four standard errors of one prefix are 7 % and 12 %.
    """
    x, workload = dense(128), Prefix(128)
    outcome = CASCADE.outcome(x, workload, 0.1, trials=300, seed=5)
    assert outcome.guaranteed(workload).all()
    truth = workload.answer(x)
    for level, least, most in ((0.9, 0.83, 0.97), (0.5, 0.38, 0.62)):
        bars = outcome.intervals(workload, level, cautious=cautious)
        hold = ((bars[..., 0] <= truth) & (truth <= bars[..., 1])).mean(axis=0)
        assert ((least < hold) & (hold < most)).all()


def test_draws_vary_as_the_estimate_does():
    """2,000 draws: standard deviations of prefixes within 10 % of least squares', at a standard error of 2 %."""
    solver = strategy_for_dense(Prefix(128))
    answers = solver.strategy.answer(dense(128)).astype(float)
    line = DenseLine(solver, answers, 10.0)
    draws = line.draws(2000, (7, 0))
    assert draws.dtype == np.int64
    assert (draws >= 0).all()
    sums = draws.cumsum(axis=1)
    expected = 10.0 * np.sqrt(2 * (solver.influence(np.tri(128)) ** 2).sum(axis=1))
    np.testing.assert_allclose(sums.std(axis=0), expected, rtol=0.10)
    assert (np.abs(sums.mean(axis=0) - line.unbiased[0].cumsum()) < 0.12 * expected).all()
    np.testing.assert_array_equal(line.draws(3, (7, 0)), draws[:3])
