"""Laws of batches, budgets and scales that every algorithm obeys, draw for draw."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench import algorithms
from dpbench.domain import Domain
from dpbench.workloads import Identity, Prefix

NAMES = ["Identity", "Uniform", "Privelet", "H", "Hb", "GreedyH", "HDMM", "HbW"]
SHAPES = [(1,), (2,), (3,), (13,), (230,), (1, 1), (5, 12), (1, 7), (9, 1), (4, 6, 3)]
CASES = [
    pytest.param(algorithms.get(name), shape, id=f"{name}-{Domain(shape)}")
    for name in NAMES
    for shape in SHAPES
    if algorithms.get(name).supports(Domain(shape))
]


def data_on(shape):
    workload = Prefix(shape) if len(shape) == 1 else Identity(shape)
    return np.random.default_rng(0).integers(0, 1000, size=shape), workload


@pytest.mark.parametrize(("algorithm", "shape"), CASES)
def test_a_batch_is_its_trials(algorithm, shape):
    """The first three of five trials are the three of a batch of three, bit for bit, and no two are alike."""
    x, workload = data_on(shape)
    five = algorithm.run(x, workload, 0.5, trials=5, seed=9)
    np.testing.assert_array_equal(algorithm.run(x, workload, 0.5, trials=3, seed=9), five[:3])
    np.testing.assert_array_equal(algorithm.run(x, workload, 0.5, seed=9), five[:1])
    assert len(np.unique(five.reshape(5, -1), axis=0)) == 5
    assert (algorithm.run(x, workload, 0.5, trials=5, seed=10) != five).any()


@pytest.mark.parametrize(("algorithm", "shape"), CASES)
def test_scale_and_epsilon_are_exchangeable(algorithm, shape):
    """Eight times the counts with an eighth of the budget give eight times the estimate, bit for bit."""
    x, workload = data_on(shape)
    scaled = algorithm.run(8 * x, workload, 0.0625, trials=3, seed=4)
    np.testing.assert_array_equal(scaled, 8 * algorithm.run(x, workload, 0.5, trials=3, seed=4))


@pytest.mark.parametrize(("algorithm", "shape"), CASES)
def test_consistent_algorithms_converge_to_the_counts(algorithm, shape):
    """At epsilon = 1e6 and 1e9 the error is that of epsilon = 1 divided by as much; Uniform's stays."""
    x, workload = data_on(shape)
    noise = algorithm.run(np.zeros_like(x), workload, 1, trials=5, seed=2)
    for epsilon in (1e6, 1e9):
        error = algorithm.run(x, workload, epsilon, trials=5, seed=2) - x
        if algorithm.consistent:
            # 1e-10: rounding of counts below 1000 through weights down to 1e-3
            np.testing.assert_allclose(error, noise / epsilon, atol=1e-10)
        elif x.size > 1:
            assert np.abs(error).max() > 1
