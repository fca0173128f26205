"""Ladders of tents."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench.mathematics.moments import grouped_axes
from dpbench.mathematics.tents import HOPELESS, Ladder, fit_ladder, fit_ladders, ladders
from dpbench.workloads import AllRange, Identity, Prefix, RandomRange, RandomSmall, Ranges
from reference import p_identity as reference


@pytest.mark.parametrize("side", [2, 3, 10, 41, 256])
@pytest.mark.parametrize("intervals", [(1,), (2,), (9, 1), (7, 3, 1)])
def test_the_tents_of_a_level_add_up_to_one(side, intervals):
    """In every cell, with the level's weight; tents are named once per cell."""
    ladder = Ladder(side, intervals, np.arange(1.0, len(intervals) + 1))
    rows, theta = ladder.theta()
    np.testing.assert_allclose(theta.sum(axis=1), ladder.ratio.sum())
    assert rows.max() < ladder.count
    assert all(len(set(row)) == len(row) for row in rows.tolist())


def test_a_tent_falls_from_its_knot_to_the_next():
    """One interval is a falling and a rising line; of two, the middle tent peaks at the middle."""
    rows, theta = Ladder(4, (1,), np.ones(1)).theta()
    assert rows[0].tolist() == [0, 1]
    np.testing.assert_allclose(theta[:, 0], [0.875, 0.625, 0.375, 0.125])
    rows, theta = Ladder(4, (2,), np.ones(1)).theta()
    np.testing.assert_allclose([theta[cell][rows[cell] == 1][0] for cell in range(4)], [0.25, 0.75, 0.75, 0.25])


def test_feet_can_be_raised():
    """So that a search, in which 0 stays 0, can use them."""
    _, theta = Ladder(50, (10, 1), np.array([1.0, 0.5])).theta(beyond=1e-3)
    assert (theta > 0).all()


def test_ladders_go_from_fine_to_coarse():
    """Intervals fall from level to level, and no ladder has more rows than a sixth of the cells and a few."""
    for side in (1, 2, 7, 100, 1000, 4096, 20_000):
        for intervals in ladders(side):
            assert list(intervals) == sorted(intervals, reverse=True)
            assert min(intervals) >= 1
            assert sum(intervals) <= max(side / 5, 1)


@pytest.mark.parametrize(
    "workload",
    [Prefix(600), AllRange(90), RandomSmall(700, None), Identity(64), RandomRange(500, queries=6), Prefix(1)],
    ids=repr,
)
def test_fine_ladders_without_hope_are_left_out(workload):
    """What is left out is worse than half as much again as the best, and the order is that of the errors."""
    ((_, moment),) = grouped_axes(workload)
    found = [(each.error, each.per_level) for each in fit_ladders(moment)]
    every = sorted((fit_ladder(moment, each).error, each) for each in ladders(moment.side))
    assert found == [each for each in every if each in found]
    assert all(error > HOPELESS * every[0][0] for error, intervals in every if (error, intervals) not in found)


def test_the_finest_ladders_of_a_long_axis_are_not_paid_for():
    """Those of 1,500 prefixes have up to 250 rows, and 90 in the best; the inverse of many rows is what costs."""
    ((_, moment),) = grouped_axes(Prefix(1500))
    assert max(ladders(1500)) == (250,)
    found = fit_ladders(moment)
    assert len(found[0].per_level) > 1
    assert max(each.count for each in found if len(each.per_level) == 1) < 100


@pytest.mark.parametrize(
    "workload", [Prefix(40), AllRange(33), Ranges(30, [0, 2, 9, 9], [9, 25, 12, 25], [1, 2, 0.5, 1])], ids=repr
)
@pytest.mark.parametrize("intervals", [(1,), (6,), (8, 1)])
def test_the_weights_of_a_ladder_are_the_best(workload, intervals):
    """Its error is the dense trace, and no other weights near have a smaller one."""
    ((_, moment),) = grouped_axes(workload)
    k, covered = moment.dense(), moment.diagonal > 0

    def trace(ratio):
        rows, theta = Ladder(moment.side, intervals, ratio).theta()
        theta = theta * covered[:, None]
        wide = np.zeros((int(rows.max()) + 1, moment.side))
        for cell in range(moment.side):
            wide[rows[cell], cell] = theta[cell]
        matrix = np.concatenate([np.eye(moment.side), wide]) / np.where(covered, 1 + theta.sum(axis=1), 1)
        return np.trace(k @ np.linalg.inv(matrix.T @ matrix))

    ladder = fit_ladder(moment, intervals)
    assert ladder.error == pytest.approx(trace(ladder.ratio), rel=1e-9)
    for level in np.flatnonzero(ladder.ratio > 1e-3):  # what is worth nothing stops at a bound
        for factor in (0.98, 1.02):
            changed = np.where(np.arange(len(intervals)) == level, factor, 1.0) * ladder.ratio
            assert trace(changed) >= ladder.error * (1 - 1e-9)


def test_the_reference_is_the_strategy_that_it_says():
    """The dense matrix above has columns of sum 1, as the package's."""
    from dpbench.mathematics.p_identity_fit import rounded

    ((_, moment),) = grouped_axes(Prefix(40))
    strategy = rounded(fit_ladder(moment, (6,)).theta(), moment)
    np.testing.assert_allclose(reference.axis_matrix(strategy).sum(axis=0), 1, rtol=0, atol=1e-15)
