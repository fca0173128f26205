"""What holds for every algorithm whose error does not depend on the data, on any domain."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench import algorithms
from dpbench.domain import Domain
from dpbench.workloads import AllRange, Identity, Prefix, RandomRange
from reference.sampling import standard_errors

NAMES = ["Identity", "Privelet", "H", "Hb", "GreedyH", "HDMM", "HbW"]
SHAPES = [(1,), (2,), (3,), (13,), (64,), (230,), (1, 1), (5, 12), (1, 7), (9, 1), (4, 6, 3), (1, 5, 2)]


def workload_on(shape):
    """A workload that tells every cell apart, so that no algorithm has a reason to be biased."""
    return Prefix(shape) if len(shape) == 1 else Identity(shape)


def cases(shapes=SHAPES):
    return [
        pytest.param(algorithms.get(name), shape, id=f"{name}-{Domain(shape)}")
        for name in NAMES
        for shape in shapes
        if algorithms.get(name).supports(Domain(shape))
    ]


def counts_on(shape):
    return np.random.default_rng(len(shape)).integers(0, 1000, size=shape)


@pytest.mark.parametrize(("algorithm", "shape"), cases())
def test_the_noise_does_not_depend_on_the_data(algorithm, shape):
    """With one seed, estimates on x and on nothing differ by x."""
    x, workload = counts_on(shape), workload_on(shape)
    difference = algorithm.run(x, workload, 0.5, 3, 1) - algorithm.run(np.zeros_like(x), workload, 0.5, 3, 1)
    # 1e-9: rounding of counts below 1000 with noise below 1000 through weights down to 1e-3
    np.testing.assert_allclose(difference, np.broadcast_to(x, difference.shape), atol=1e-9)


@pytest.mark.parametrize(("algorithm", "shape"), cases())
def test_estimates_are_unbiased(algorithm, shape):
    """The mean error of the total and of two random contrasts is within 4 standard errors of 0 after 1000 trials.

    False alarms: 3 comparisons for each of 76 cases at 6.3e-5 each, so one choice of seeds in 70.
    """
    x, workload = counts_on(shape), workload_on(shape)
    error = (algorithm.run(x, workload, 0.1, trials=1000, seed=11) - x).reshape(1000, -1)
    contrasts = np.random.default_rng(5).choice([-1.0, 1.0], size=(x.size, 3))
    contrasts[:, 0] = 1
    assert (np.abs(standard_errors(error @ contrasts, 0)) < 4).all()


@pytest.mark.parametrize(("algorithm", "shape"), cases([(13,), (64,), (5, 12), (1, 7), (4, 6, 3)]))
def test_every_cell_has_the_variance_that_the_identity_workload_says(algorithm, shape):
    """The mean squared error of cells is the expected error on the workload of cells, within 4 standard errors.

    False alarms: 31 comparisons at 6.3e-5 each, so one choice of seeds in 510.
    """
    workload = Identity(shape)
    noise = algorithm.run(np.zeros(shape, dtype=int), workload, 1, trials=1000, seed=3)
    assert abs(standard_errors(workload.mean_squared(noise), algorithm.expected_error(workload, 1))) < 4


@pytest.mark.parametrize(("algorithm", "shape"), cases([(13,), (100,), (5, 12), (12, 5), (1, 7), (4, 6, 3)]))
def test_the_expected_error_is_the_sampled_one(algorithm, shape):
    """On listed random ranges over unequal axes the mean of 1000 runs is within 4 standard errors.

    False alarms: 37 comparisons at 6.3e-5 each, so one choice of seeds in 430.
    """
    workload = RandomRange(shape, queries=50, seed=1)
    noise = algorithm.run(np.zeros(shape, dtype=int), workload, 1, trials=1000, seed=8)
    assert abs(standard_errors(workload.mean_squared(noise), algorithm.expected_error(workload, 1))) < 4


@pytest.mark.parametrize(("algorithm", "shape"), cases([(13,), (5, 12), (4, 6, 3)]))
def test_the_error_falls_with_the_square_of_epsilon(algorithm, shape):
    """Ten times the budget, a hundredth of the error."""
    workload = RandomRange(shape, queries=20)
    expected = algorithm.expected_error(workload, 1)
    for epsilon in (1e-3, 0.1, 7, 1e6):
        assert algorithm.expected_error(workload, epsilon) == pytest.approx(expected / epsilon**2, rel=1e-12)


@pytest.mark.parametrize(("algorithm", "shape"), cases([(1,), (7,), (2, 3), (1, 4)]))
def test_a_listed_workload_has_the_error_of_its_product(algorithm, shape):
    """All ranges have one expected error, as a product of axes and as a list."""
    product = algorithm.expected_error(AllRange(shape), 1)
    assert algorithm.expected_error(AllRange(shape).ranges(), 1) == pytest.approx(product, rel=1e-11)
