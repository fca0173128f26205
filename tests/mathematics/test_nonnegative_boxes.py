"""Non-negative least squares on box totals, against scipy's dense one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

from dpbench.domain import Domain
from dpbench.mathematics.kernels.box_gradient import accumulate
from dpbench.mathematics.nonnegative_boxes import RIDGE, BoxFit


def random_boxes(rng, shape, many):
    ends = np.sort(rng.integers(0, np.array(shape) + 1, (2, many, len(shape))), axis=0)
    upper = np.maximum(ends[1], ends[0] + 1)
    return np.minimum(ends[0], np.array(shape) - 1), np.minimum(upper, shape)


def dense(shape, lower, upper):
    rows = np.zeros((len(lower), *shape))
    for row, low, high in zip(rows, lower, upper, strict=True):
        row[tuple(slice(*sides) for sides in zip(low, high, strict=True))] = 1
    return rows.reshape(len(lower), -1)


@pytest.mark.parametrize("shape", [(1,), (32,), (5, 6), (3, 2, 4)], ids=str)
@pytest.mark.parametrize("many", [12, 1])
@pytest.mark.parametrize("noise", [0.5, 20.0])
def test_the_fit_is_that_of_a_dense_solver(shape, many, noise):
    """Totals of two precisions in five rounds: the objective within 1e-4 of the least, and no cell below 0.

    With one box per round many cells are told apart by none, and have one number between them.
    """
    rng = np.random.default_rng(7)
    counts = rng.poisson(4, shape) * (rng.random(shape) < 0.5)
    total = counts.sum() + 3.0
    rows, answers, weights = [np.ones((1, counts.size))], [np.array([total])], [np.array([0.3])]
    fit = BoxFit(Domain(shape), total, 0.3)
    for precision in (1.0, 1.0, 2.5, 2.5, 2.5):
        lower, upper = random_boxes(rng, shape, many)
        rows.append(dense(shape, lower, upper))
        answers.append(rows[-1] @ counts.ravel() + rng.normal(0, noise, many))
        weights.append(np.full(many, precision))
        fit.learn(lower, upper, answers[-1], precision)
    root = np.sqrt(np.concatenate(weights) / 2.5)
    A = np.concatenate([np.concatenate(rows) * root[:, None], np.sqrt(RIDGE) * np.eye(counts.size)])
    y = np.concatenate([np.concatenate(answers) * root, np.full(counts.size, np.sqrt(RIDGE) * total / counts.size)])
    wanted, _ = nnls(A, y)
    found = fit.estimate.ravel()
    assert (found >= 0).all()
    least = np.sum((A @ wanted - y) ** 2)
    assert np.sum((A @ found - y) ** 2) <= least * (1 + 1e-4)


def test_cells_that_no_box_tells_apart_are_equal():
    """On a domain of a million cells, of which one box tells two halves apart."""
    fit = BoxFit(Domain((1024, 1024)), 2.0**20, 1.0)
    fit.learn(np.array([[0, 0]]), np.array([[512, 1024]]), np.array([2.0**20]), 1.0)
    halves = fit.estimate.reshape(2, 512, 1024)
    assert np.ptp(halves, axis=(1, 2)).max() == 0
    assert halves[0, 0, 0] > 1 > halves[1, 0, 0]


def test_before_any_round_it_is_uniform_and_a_negative_total_is_none():
    assert BoxFit(Domain((4, 5)), 40.0, 1.0).estimate.tolist() == [[2.0] * 5] * 4
    assert not BoxFit(Domain((3,)), -7.0, 1.0).estimate.any()


@pytest.mark.parametrize("sides", [(7,), (3, 4), (2, 3, 5)], ids=str)
def test_running_sums_both_ways_along_every_axis_but_the_last(sides):
    values = np.random.default_rng(0).normal(size=sides)
    forward, backward = values.ravel().copy(), values.ravel().copy()
    accumulate(forward, np.array(sides), 1)
    accumulate(backward, np.array(sides), -1)
    wanted, wanted_back = values, np.flip(values)
    for axis in range(len(sides) - 1):
        wanted, wanted_back = np.cumsum(wanted, axis), np.cumsum(wanted_back, axis)
    np.testing.assert_allclose(forward.reshape(sides), wanted)
    np.testing.assert_allclose(backward.reshape(sides), np.flip(wanted_back))
