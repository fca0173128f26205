"""The search for a better place to cut, galloping."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench.mathematics.kernels.clustering import better_apart, galloped_apart


def kinds(rng, n):
    """Values of many kinds: spread out, alike, in runs, large and close to each other."""
    size = 10 ** rng.uniform(0, 8)
    return [
        rng.exponential(size, n),
        rng.choice(rng.exponential(5, size=4), n),
        np.abs(size + rng.normal(0, 3, n)),
        rng.pareto(1, n) * 50,
        rng.integers(1, 50, n).astype(float),
    ]


@pytest.mark.parametrize("seed", range(40))
def test_a_gallop_decides_as_one_step_after_the_other(seed):
    """Also where both sides agree up to rounding: there it takes the steps."""
    rng = np.random.default_rng(seed)
    n = int(10 ** rng.uniform(0, 3))
    for values in map(np.sort, kinds(rng, n)):
        sums = np.concatenate([[0.0], np.cumsum(values)])
        for _ in range(50):
            j = int(rng.integers(n))
            end = int(np.searchsorted(values, values[j], side="right")) - 1
            price, last = 10 ** rng.uniform(-6, 6, 2)
            size = np.arange(1, n - j + 1)
            options = (np.cumsum(values[j:] - values[j]) / size) ** 2 + price / size**2
            for now in (last * 10 ** rng.uniform(0, 2), last + options.min(), last + options.min() * (1 - 2**-40)):
                question = (j, end, float(price), float(last), float(now))
                assert galloped_apart(values, sums, *question) == better_apart(values, *question)


def test_both_answers_are_given():
    """Apart where that is cheaper, and not where it is not."""
    values = np.array([1.0, 1.0, 1.0, 9.0])
    sums = np.concatenate([[0.0], np.cumsum(values)])
    assert galloped_apart(values, sums, 0, 2, 9.0, 5.0, 6.5)
    assert not galloped_apart(values, sums, 0, 2, 9.0, 5.0, 5.5)
