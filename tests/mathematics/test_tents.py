"""Ladders of tents."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench.mathematics.moments import grouped_axes
from dpbench.mathematics.tents import Ladder, fit_ladder, ladders
from dpbench.workloads import AllRange, Prefix, Ranges
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
