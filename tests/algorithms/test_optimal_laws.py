"""What holds of every strategy that is fitted to a workload, as for Hb: its error is that of its noise alone.

The specification's T-l, exchangeability and noise invariance, for HDMM and HbW among others.
"""

import numpy as np
import pytest

from dpbench import algorithms
from dpbench.workloads import Prefix, RandomRange

PLACES = {"64": Prefix(64), "37": Prefix(37), "8x8": RandomRange("8x8", queries=50, seed=0)}
FITTED = [
    (name, where, budget)
    for name in ("Hb", "HDMM", "HbW", "SquareRoot", "GaussianOptimal")
    for where in PLACES
    for budget in ("epsilon", "rho")
    if algorithms.get(name).supports(where)
    and ("pure" if budget == "epsilon" else "zCDP") in algorithms.get(name).notions
]
"""Every fitted strategy where it runs, under each notion that it has."""
EPSILON, RHO = 0.4, 0.04


def run(name, where, x, budget, quotient=1):
    """Three trials at a fixed seed, with noise that is so many times as large."""
    given = {"epsilon": EPSILON / quotient} if budget == "epsilon" else {"rho": RHO / quotient**2}
    return algorithms.get(name).run(x, PLACES[where], trials=3, seed=5, **given)


def counts(where):
    return np.random.default_rng(3).integers(0, 1000, PLACES[where].domain.shape)


@pytest.mark.parametrize(("name", "where", "budget"), FITTED)
def test_noise_does_not_depend_on_the_data(name, where, budget):
    """At one seed, what is added to any counts is what is added to none."""
    x = counts(where)
    noise = run(name, where, np.zeros_like(x), budget)
    assert np.abs(noise).max() > 0
    np.testing.assert_allclose(run(name, where, x, budget) - x, noise, atol=1e-7 * x.max())


@pytest.mark.parametrize("times", [3, 4])
@pytest.mark.parametrize(("name", "where", "budget"), FITTED)
def test_scale_and_budget_are_exchangeable(name, where, budget, times):
    """So many times the counts with so many times the noise give as many times the estimate, draw for draw."""
    x = counts(where)
    once, many = run(name, where, x, budget), run(name, where, times * x, budget, times)
    np.testing.assert_allclose(many, times * once, rtol=1e-7, atol=1e-5)
