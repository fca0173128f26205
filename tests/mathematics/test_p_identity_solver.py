"""Least squares for p-Identity strategies."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench.domain import Domain
from dpbench.mathematics.moments import grouped_axes
from dpbench.mathematics.p_identity import AxisStrategy, PIdentity
from dpbench.mathematics.p_identity_fit import fit_axis
from dpbench.mathematics.p_identity_solver import PIdentityLeastSquares
from dpbench.workloads import AllRange, Prefix, RandomRange, Ranges
from reference import p_identity as reference

WORKLOADS = [
    Prefix(1),
    Prefix(30),
    RandomRange((12, 9), queries=40),
    AllRange((3, 8)),
    RandomRange((3, 4, 6), queries=20),
    Ranges((20, 9), [[0, 0], [3, 2], [3, 4]], [[20, 9], [17, 4], [12, 9]], [1, -2, 0]),
]


def solver_for(workload):
    axes = grouped_axes(workload)
    strategies = tuple(fit_axis(axis.moment, starts=2, iterations=15) for axis in axes)
    return PIdentityLeastSquares(PIdentity(workload.domain, tuple(axis.edges for axis in axes), strategies))


@pytest.mark.parametrize("workload", WORKLOADS, ids=repr)
def test_the_solution_is_least_squares(workload):
    """On arbitrary answers it is that of the pseudo-inverse, which spreads a group evenly over its cells."""
    solver = solver_for(workload)
    answers = np.random.default_rng(1).normal(size=(3, *solver.strategy.shape))
    dense = answers.reshape(3, -1) @ np.linalg.pinv(reference.matrix(solver.strategy)).T
    # 1e-10: the condition number of the strategy is below 10^4
    np.testing.assert_allclose(solver.solve(answers).reshape(3, -1), dense, atol=1e-10)


@pytest.mark.parametrize("workload", WORKLOADS, ids=repr)
def test_the_mean_variance_is_the_dense_one(workload):
    """tr(W (A^T A)^+ W^T) / q, for products and lists."""
    solver = solver_for(workload)
    dense = reference.mean_variance(reference.matrix(solver.strategy), workload.matrix())
    assert solver.mean_variance(workload) == pytest.approx(dense, rel=1e-9)


@pytest.mark.parametrize("workload", [Prefix(300), RandomRange((40, 33))], ids=repr)
def test_answers_without_noise_give_the_counts_back(workload):
    """To 1e-7 of the largest count, on one axis and on two."""
    solver = solver_for(workload)
    x = np.random.default_rng(0).integers(0, 10**6, size=workload.domain.shape)
    estimate = solver.solve(solver.strategy.answer(x)[None])
    np.testing.assert_allclose(estimate[0], x, atol=1e-7 * x.max(), rtol=0)


def test_a_trial_is_solved_alike_in_any_batch():
    """Bit for bit, in a batch of one, of three, or in one that is cut into blocks."""
    solver = solver_for(RandomRange((30, 20)))
    answers = np.random.default_rng(2).laplace(size=(700, *solver.strategy.shape))
    whole = solver.solve(answers)
    np.testing.assert_array_equal(solver.solve(answers[:1]), whole[:1])
    np.testing.assert_array_equal(solver.solve(answers[-3:]), whole[-3:])


def test_equal_axes_share_their_inverse():
    """One strategy for both axes of a square is inverted once."""
    axis = AxisStrategy.cells(5)
    edges = np.arange(6)
    solver = PIdentityLeastSquares(PIdentity(Domain((5, 5)), (edges, edges), (axis, axis)))
    assert solver.axes[0] is solver.axes[1]
