"""Descent by L-BFGS."""

from __future__ import annotations

import numpy as np

from dpbench.mathematics.descent import descend


def valley(x):
    """Rosenbrock's: least, 0, at (1, 1), at the end of a bent valley."""
    value = 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2
    return value, np.array([-400 * x[0] * (x[1] - x[0] ** 2) - 2 * (1 - x[0]), 200 * (x[1] - x[0] ** 2)])


def test_it_finds_the_end_of_a_bent_valley():
    """From the usual start, within 60 steps."""
    value, x = descend(valley, np.array([-1.2, 1.0]), 60)
    np.testing.assert_allclose(x, 1, atol=1e-5)
    assert value < 1e-10


def test_a_quadratic_of_few_curvatures_takes_few_steps():
    """Curvatures from 1 to 10^4 in 50 dimensions; an array of any shape."""
    curvature = np.repeat([1.0, 30.0, 1e3, 1e4], [20, 10, 10, 10]).reshape(5, 10)
    value, x = descend(lambda x: (float((curvature * x * x).sum()), 2 * curvature * x), np.ones((5, 10)), 60)
    assert value < 1e-10
    assert x.shape == (5, 10)


def test_values_never_rise_and_iterations_are_counted():
    """Each iteration ends at least as low as it began, and none is made where none is allowed."""
    values = [descend(valley, np.array([-1.2, 1.0]), steps)[0] for steps in range(15)]
    assert values[0] == valley(np.array([-1.2, 1.0]))[0]
    assert values == sorted(values, reverse=True)


def test_at_a_minimum_nothing_moves():
    """Where the slope is 0 there is no direction to go."""
    value, x = descend(valley, np.ones(2), 10)
    assert value == 0
    assert x.tolist() == [1, 1]
