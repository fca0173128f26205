from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from dpbench.privacy import Exponential, PermuteAndFlip
from dpbench.privacy.mechanisms.permute_and_flip import log_probabilities
from privacy.mechanisms.questions import CellCounts

MECHANISM = PermuteAndFlip(CellCounts(monotone=False))


def by_definition(logits):
    """Go through every order of the candidates and flip a coin for each."""
    chance = np.exp(logits)
    total = np.zeros(len(chance))
    orders = list(permutations(range(len(chance))))
    for order in orders:
        left = 1.0
        for candidate in order:
            total[candidate] += left * chance[candidate]
            left *= 1 - chance[candidate]
    return total / len(orders)


@pytest.mark.parametrize("candidates", [1, 2, 3, 6])
def test_probabilities_are_those_of_the_definition(candidates):
    """All orders, all coins, to 1e-13."""
    rng = np.random.default_rng(candidates)
    for spread in (0.01, 1, 30):
        logits = -spread * rng.random(candidates)
        logits -= logits.max()
        assert np.exp(log_probabilities(logits)) == pytest.approx(by_definition(logits), rel=1e-13, abs=0)


@pytest.mark.parametrize("spread", [0.0, 1e-3, 1.0, 1e3, 1e6])
def test_thousands_of_candidates_add_up_to_one(spread):
    """4,000 candidates, however their scores lie, to 1e-12."""
    logits = -spread * np.random.default_rng(0).random(4000)
    logits -= logits.max()
    assert np.exp(log_probabilities(logits)).sum() == pytest.approx(1, abs=1e-12)


def test_equal_candidates_are_equally_likely():
    """One in as many as there are."""
    assert np.exp(log_probabilities(np.zeros(3000))) * 3000 == pytest.approx(1, abs=1e-11)


def test_a_hopeless_candidate_keeps_a_relative_accuracy():
    """Of two candidates the one behind by d wins with probability exp(-d) / 2, also where that is 10^-400."""
    for behind in (1.0, 50.0, 921.0):
        assert log_probabilities(np.array([0.0, -behind]))[1] == pytest.approx(-behind - np.log(2), rel=1e-14)


def test_a_forbidden_candidate_never_wins():
    """A score of minus infinity has probability 0, in every draw and in the density."""
    truth = np.array([1.0, -np.inf, 0.0])
    assert MECHANISM.refusal(truth, 1) == ""
    assert MECHANISM.log_density(np.array([1]), truth, 0.5)[0] == -np.inf


def test_it_is_never_worse_than_the_exponential_mechanism():
    """The expected score at the same price, over random scores; it is what it is for."""
    exponential, rng = Exponential(MECHANISM.asker), np.random.default_rng(1)
    level, better = MECHANISM.level(Fraction(1)), 0
    for _ in range(200):
        truth = rng.integers(0, 30, 8).astype(float)
        flipped, chosen = (
            float(np.exp(each.log_density(np.arange(8), truth, level)) @ truth) for each in (MECHANISM, exponential)
        )
        assert flipped >= chosen - 1e-12
        better += flipped > chosen + 0.1
    assert better > 150


def test_the_largest_loss_is_attained():
    """Two candidates move apart by the range that is paid for: the one behind loses all of it."""
    one, other, level = np.array([5.0, 0.0]), np.array([6.0, -1.0]), MECHANISM.level(Fraction(1))
    lost = MECHANISM.log_ratio(np.array([1]), one, other, level)[0]
    assert lost == pytest.approx(MECHANISM.largest_loss(one, other, level), rel=1e-13)
    assert lost == pytest.approx(1, rel=1e-13)


def test_log_ratios_of_two_outcomes_differ_by_more_than_the_loss():
    """So an eighth of its square would be too little in zCDP: here they differ by e + log(2 - exp(-e))."""
    one, other, level = np.zeros(2), np.array([1.0, -1.0]), MECHANISM.level(Fraction(1))
    ratios = MECHANISM.log_ratio(np.arange(2), one, other, level)
    assert np.ptp(ratios) == pytest.approx(1 + np.log(2 - np.exp(-1)), rel=1e-12)
