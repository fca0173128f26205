"""Uniform: the number of records and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench import algorithms
from dpbench.errors import Unsupported
from dpbench.privacy import NoNoise, Recording
from dpbench.workloads import AllRange, Prefix, RandomRange
from reference.sampling import standard_errors

UNIFORM = algorithms.get("Uniform")


@pytest.mark.parametrize("shape", [(1,), (7,), (3, 4), (2, 1, 3)])
def test_the_noisy_total_is_spread_evenly(shape):
    """One call for the total, and every cell gets the same part of it, negative totals kept."""
    recording = Recording()
    x = np.arange(np.prod(shape)).reshape(shape)
    release = UNIFORM._outcome(x, AllRange(shape), 0.001, trials=20, seed=1, channel=recording)
    ((question, totals),) = recording.exchanges
    assert (question.shape, question.sensitivity, float(question.truth)) == ((), 1, x.sum())
    assert (totals < 0).any()
    expected = totals.reshape(-1, *[1] * x.ndim) / x.size * np.ones(shape)
    np.testing.assert_allclose(release.estimate, expected, rtol=1e-15)


@pytest.mark.parametrize("workload", [Prefix(20), RandomRange((4, 5), queries=30), AllRange((2, 3, 4))], ids=repr)
def test_without_noise_the_error_is_the_bias(workload):
    """Squared bias of a query: (w . (N / n - x))^2, which no epsilon removes."""
    x = np.random.default_rng(0).integers(0, 30, size=workload.domain.shape)
    bias = workload.matrix() @ (x.mean() - x.reshape(-1))
    estimate = UNIFORM._outcome(x, workload, 1, noise=NoNoise(1)).estimate
    assert workload.mean_squared(estimate - x)[0] == pytest.approx((bias**2).mean(), rel=1e-12)
    large = UNIFORM.run(x, workload, 1e9, seed=0)
    # noise of 1e-9 on a bias of order 10 moves the square by 1e-8 of it
    assert workload.mean_squared(large - x)[0] == pytest.approx((bias**2).mean(), rel=1e-7)


@pytest.mark.parametrize("workload", [Prefix(20), RandomRange((4, 5), queries=30)], ids=repr)
def test_the_error_is_bias_and_the_variance_of_the_total(workload):
    """(w . (N / n - x))^2 + 2 (|w| / n)^2 / epsilon^2, within 4 standard errors of 4000 trials (false alarm 6e-5)."""
    epsilon = 0.02
    x = np.random.default_rng(0).integers(0, 30, size=workload.domain.shape)
    W = workload.matrix()
    bias = W @ (x.mean() - x.reshape(-1))
    variance = 2 * (W.sum(axis=1) / x.size) ** 2 / epsilon**2
    errors = workload.mean_squared(UNIFORM.run(x, workload, epsilon, trials=4000, seed=3) - x)
    assert 0.1 < (bias**2).mean() / variance.mean() < 10
    assert abs(standard_errors(errors, (bias**2 + variance).mean())) < 4


def test_uniform_data_have_no_bias():
    """The estimate of constant counts differs from them by an even share of the total's noise."""
    x = np.full((3, 4), 7)
    estimate = UNIFORM.run(x, AllRange((3, 4)), 0.5, trials=3, seed=0)
    zero = UNIFORM.run(np.zeros_like(x), AllRange((3, 4)), 0.5, trials=3, seed=0)
    np.testing.assert_allclose(estimate - zero, np.full((3, 3, 4), 7), rtol=1e-12)


def test_one_cell_is_identity():
    """With a single cell the total is the cell."""
    x = np.array([5])
    identity = algorithms.get("Identity")
    np.testing.assert_array_equal(UNIFORM.run(x, Prefix(1), 1, 5, seed=0), identity.run(x, Prefix(1), 1, 5, seed=0))


def test_its_expected_error_needs_the_data():
    """So it is refused without them."""
    with pytest.raises(Unsupported, match="Uniform"):
        UNIFORM.expected_error(Prefix(4), 1)
