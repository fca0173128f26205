from fractions import Fraction

import numpy as np
import pytest

from dpbench.mathematics.kernels.laplace_race import log_passing
from dpbench.privacy import NoisyMax
from privacy.mechanisms.questions import CellCounts
from reference.laplace_race import log_passing as written_out

MECHANISM = NoisyMax(CellCounts(monotone=False))


def log_probabilities(truth, level=1.0):
    return MECHANISM.log_density(np.arange(len(truth)), np.asarray(truth, dtype=float), level)


def test_the_kernel_is_the_integral_written_out():
    """200 races of up to eight variates against term-by-term integration in 60 digits: relative error below 1e-12."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        below = np.sort(rng.choice([1, 3, 10, 100]) * rng.normal(size=rng.integers(0, 9)).round(rng.integers(0, 3)))
        values, times = np.unique(below, return_counts=True)
        above = float(rng.choice([np.inf, 3 * rng.normal(), 50 * rng.normal()]))
        spread = float(rng.choice([0.25, 0.5, 1, 2]))
        scale, centre = float(rng.choice([spread, rng.uniform(0.5, 2)])), 4 * float(rng.normal())
        found = log_passing(centre, spread, values, times.astype(float), above, scale)
        assert found == pytest.approx(written_out(centre, spread, below, above, scale), rel=1e-14, abs=1e-12)


@pytest.mark.parametrize("behind", [0.0, 1e-6, 0.5, 3.0, 40.0, 1e3, 1e8])
def test_two_candidates(behind):
    """The one behind by d wins with probability exp(-d) (1 + d / 2) / 2, however far behind it is."""
    wanted = -behind + np.log1p(behind / 2) - np.log(2)
    assert log_probabilities([0.0, behind])[0] == pytest.approx(wanted, rel=1e-14, abs=1e-12)


@pytest.mark.parametrize("scores", [np.zeros(2000), np.arange(60) / 7, np.r_[1e8, 1e8 - np.arange(8)]])
def test_probabilities_add_up_to_one(scores):
    """Many equal candidates, many close ones, and large scores."""
    assert np.exp(log_probabilities(scores)).sum() == pytest.approx(1, abs=1e-11)


def test_a_forbidden_candidate_never_wins():
    """A score of minus infinity has probability 0, and the others are as without it."""
    logs = log_probabilities([1.0, -np.inf, 0.0])
    assert logs[1] == -np.inf
    assert np.array_equal(logs[[0, 2]], log_probabilities([1.0, 0.0]))


def test_the_largest_loss_is_approached():
    """A candidate far behind loses nearly all of the range that is paid for."""
    one, other, level = np.array([1000.0, 0.0]), np.array([1001.0, -1.0]), MECHANISM.level(Fraction(1))
    lost = MECHANISM.log_ratio(np.array([1]), one, other, level)[0]
    largest = MECHANISM.largest_loss(one, other, level)
    assert 0.99 * largest < lost < largest == pytest.approx(1, rel=1e-12)


def test_log_ratios_of_two_outcomes_differ_by_more_than_the_loss():
    """So an eighth of its square would be too little in zCDP."""
    one, change = np.array([0.157, 0.097, 0.222, 0.267, 0.171]), np.array([-0.05, 0.05, 0.05, -0.05, -0.05])
    ratios = MECHANISM.log_ratio(np.arange(5), one, one + change, 1.0)
    assert np.ptp(ratios) > 1.17 * MECHANISM.largest_loss(one, one + change, 1.0)


def test_trials_may_have_scores_of_their_own():
    """One row of scores per trial gives what each row gives by itself."""
    truth, level = np.array([[0.0, 1.0, 2.0], [5.0, 1.0, 0.0]]), 0.7
    both = MECHANISM.log_density(np.array([2, 1]), truth, level)
    assert both.tolist() == [log_probabilities(truth[0], level)[2], log_probabilities(truth[1], level)[1]]
