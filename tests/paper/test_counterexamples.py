"""The counterexamples and lemmas of the paper's appendix, run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from dpbench import algorithms
from dpbench.loss import scaled_error
from dpbench.privacy import PrivateData, RandomNoise
from dpbench.workloads import Identity, Prefix

HUGE = (10**7, 10**9)
"""Budgets at which noise is nothing: an error that stays is bias."""


def errors_at_huge_budgets(algorithm, x, workload):
    """Mean scaled error at both budgets."""
    return [
        scaled_error(workload, x, algorithm.run(x, workload, epsilon, trials=10, seed=0)).mean() for epsilon in HUGE
    ]


def test_php_keeps_an_error_on_powers_of_two():
    """After log2 n cuts of x_i = 2^(n-i) a part with different counts is left, whatever epsilon is."""
    x = 2 ** np.arange(15, -1, -1)
    first, second = errors_at_huge_budgets(algorithms.get("PHP"), x, Prefix(16))
    assert second > 1e-5
    assert second == pytest.approx(first, rel=0.2)


def test_sf_with_bin_means_keeps_an_error_on_a_ramp():
    """With n / 10 bins on x_i = i, some bin holds different counts: its mean is wrong for ever."""
    x = np.arange(1, 41)
    first, second = errors_at_huge_budgets(algorithms.get("SF", hierarchy=False), x, Prefix(40))
    assert second > 1e-4
    assert second == pytest.approx(first, rel=0.5)


def test_sf_with_trees_in_its_bins_is_consistent_on_a_ramp():
    """The hierarchy in each bin takes the error away, a hundred times for a budget a hundred times larger."""
    x = np.arange(1, 41)
    first, second = errors_at_huge_budgets(algorithms.get("SF"), x, Prefix(40))
    assert second < 1e-9
    assert first / second == pytest.approx(HUGE[1] / HUGE[0], rel=0.5)


@pytest.mark.parametrize("variant", ["private", "published"])
def test_mwem_corrects_ten_cells_of_a_ramp_and_no_more(variant):
    """On single counts of x_i = i, ten rounds measure ten cells; the others stay wrong whatever epsilon is.

    The 54 cells that are not measured share one level, so the error is at least that of 54 cells in a row about their
    mean.
    """
    x, workload = np.arange(1, 65), Identity(64)
    mwem = algorithms.get("MWEM", variant=variant)
    first, second = errors_at_huge_budgets(mwem, x, workload)
    unmeasured = np.arange(54)
    least = np.linalg.norm(unmeasured - unmeasured.mean()) / (x.sum() * 64)
    assert least * (1 - 1e-3) < second < 1.5 * least
    assert second == pytest.approx(first, rel=0.2)
    right = np.abs(mwem.run(x, workload, HUGE[1], trials=3, seed=0) - x) < 0.05
    assert (right.sum(axis=1) <= 12).all()  # ten measured, and one or two that the starting level happens to meet


@dataclass(frozen=True)
class OneOrTwoBins:
    """The paper's two clusterings of two cells: (x1, x2) together, and apart, scored by a square of the counts."""

    sensitivity: ClassVar = 0.5  # with the factor 2 of the mechanism this is e^(epsilon score), as the paper writes it
    monotone: ClassVar = False

    def score(self, counts):
        return np.array([1.5, 2.0]) * counts[0] ** 2


def share_of_one_bin(x, epsilon, trials=40_000):
    """How often both cells are put together."""
    data = PrivateData.open(np.array(x), epsilon, RandomNoise.seeded(np.random.SeedSequence(3), trials))
    return (data.choose(OneOrTwoBins(), data.epsilon) == 0).mean()


def test_squared_scores_are_not_exchangeable():
    """{1, 2} at epsilon 1 and {2, 4} at 1/2 have one product of scale and epsilon, and other probabilities.

    e^1.5 / (e^1.5 + e^2) = 0.378 and e^3 / (e^3 + e^4) = 0.269; 0.01 is 4 standard errors of 40,000 draws.
    """
    assert share_of_one_bin([1, 2], 1) == pytest.approx(1 / (1 + np.exp(0.5)), abs=0.01)
    assert share_of_one_bin([2, 4], 0.5) == pytest.approx(1 / (1 + np.exp(1.0)), abs=0.01)


def test_private_sf_divides_its_squares_by_the_scale_and_is_exchangeable():
    """Squared error over twice the scale grows as the counts do, so that the private form scales draw for draw."""
    sf = algorithms.get("SF", cells_per_bin=2)
    x = np.array([1, 2, 4, 7, 7, 9])
    one = sf.run(x, Prefix(6), 1, trials=50, side_information="public", seed=0)
    other = sf.run(2 * x, Prefix(6), 0.5, trials=50, side_information="public", seed=0)
    np.testing.assert_allclose(other, 2 * one, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["Identity", "Privelet", "H", "Hb", "GreedyH"])
def test_lemma_1_holds_for_each_strategy(name):
    """A matrix mechanism's error is alpha / (epsilon scale): consistent, and exchangeable draw for draw."""
    x, workload, algorithm = np.arange(64) % 7, Prefix(64), algorithms.get(name)

    def error(factor, epsilon):
        return scaled_error(workload, factor * x, algorithm.run(factor * x, workload, epsilon, trials=5, seed=1))

    plain = error(1, 0.5)
    np.testing.assert_allclose(error(4, 0.125), plain, rtol=1e-9)
    np.testing.assert_allclose(error(1, 4.0), plain / 8, rtol=1e-9)
