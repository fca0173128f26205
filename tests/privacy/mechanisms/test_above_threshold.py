from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from dpbench.errors import DPBenchError
from dpbench.privacy import AboveThreshold, PrivateData, RandomNoise
from privacy.mechanisms.questions import Sums
from reference.laplace_race import log_passing as written_out

EITHER_WAY, MONOTONE = AboveThreshold(Sums(monotone=False)), AboveThreshold(Sums())


@dataclass(frozen=True)
class Cells:
    """Cells one by one, against thresholds of their own."""

    threshold: object = 0.0
    monotone: bool = True
    sensitivity: int = 1

    def answers(self, counts):
        return counts.astype(float)


@pytest.mark.parametrize("mechanism", [EITHER_WAY, MONOTONE], ids=["either way", "monotone"])
def test_probabilities_are_the_integral_written_out(mechanism):
    """Random sequences of up to eight answers: every index, and none, to 1e-12."""
    rng = np.random.default_rng(1)
    for _ in range(8):
        truth = (rng.normal(size=rng.integers(1, 9)) * rng.choice([1, 10])).round(1)
        level = mechanism.level(Fraction(str(rng.choice([0.1, 1, 3]))))
        threshold, answer = mechanism.scales(level)
        above = [*truth, np.inf]
        wanted = [written_out(0.0, threshold, truth[:k], above[k], answer) for k in range(len(above))]
        logs = mechanism.log_density(np.arange(len(above)), truth, level)
        assert logs == pytest.approx(wanted, rel=1e-14, abs=1e-12)
        assert np.exp(logs).sum() == pytest.approx(1, abs=1e-12)


def test_scales_spend_the_loss():
    """D / b + 2 D / c is the loss where answers move either way, D / b + D / c where they are monotone."""
    for mechanism, times in ((EITHER_WAY, 2), (MONOTONE, 1)):
        threshold, answer = mechanism.scales(mechanism.level(Fraction(7, 10)))
        assert 1 / threshold + times / answer == pytest.approx(0.7, rel=1e-12)
        assert 1 / threshold + times / answer <= 0.7


def test_no_other_division_of_the_loss_makes_a_comparison_less_noisy():
    """The variance of answer less threshold is least at the shares that are used (Lyu, Su, Li)."""
    for mechanism, times in ((EITHER_WAY, 2), (MONOTONE, 1)):
        shares = np.linspace(0.01, 0.99, 99)
        variance = 1 / shares**2 + (times / (1 - shares)) ** 2
        assert abs(shares[variance.argmin()] - mechanism.share) < 0.006


@pytest.mark.parametrize("mechanism", [EITHER_WAY, MONOTONE], ids=["either way", "monotone"])
def test_the_largest_loss_is_approached(mechanism):
    """Fifty answers rise by 1, far above the threshold; the next, far below them, falls (or stays, if monotone)."""
    one = np.r_[np.full(50, 80.0), 0.0]
    other = one + np.r_[np.ones(50), -1.0 if mechanism is EITHER_WAY else 0.0]
    level = mechanism.level(Fraction(1))
    lost = float(mechanism.log_ratio(np.array([50]), one, other, level)[0])
    largest = mechanism.largest_loss(one, other, level)
    assert largest == pytest.approx(1, rel=1e-9)
    assert 0.999 * largest < lost < largest + 1e-11


def test_a_longer_sequence_costs_no_more():
    """A thousand queries, a record that moves all of them: the price is that of one positive answer."""
    rng = np.random.default_rng(2)
    one = rng.normal(size=1000) * 2 - 8
    for mechanism, change in ((EITHER_WAY, rng.choice([-1.0, 1.0], 1000)), (MONOTONE, np.ones(1000))):
        level = mechanism.level(Fraction(1, 2))
        outcomes = np.array([0, 1, 5, 50, 400, 999, 1000])
        lost = np.abs(mechanism.log_ratio(outcomes, one, one + change, level))
        largest = mechanism.largest_loss(one, one + change, level)
        assert lost.max() <= largest + 1e-11
        assert largest <= 0.5 * (1 + 1e-12)


def test_an_answer_that_is_not_monotone_is_found_out():
    """Answers that claim to be monotone and move apart cost more than is paid."""
    one, level = np.array([2.0, 2.0]), MONOTONE.level(Fraction(1))
    assert MONOTONE.largest_loss(one, one + np.array([1, -1]), level) == pytest.approx(1.5, rel=1e-9)


def test_the_first_above_comes_out_or_the_number_of_queries():
    """With a large budget the noise is nothing; one charge pays for the whole sequence."""
    for threshold, wanted in ((2, 1), (6.5, 3), (9, 4)):
        data = PrivateData.open([1, 3, 2, 7], 10**9, RandomNoise.seeded(0, 3))
        assert data.ask(AboveThreshold(Cells(threshold)), 10**9).tolist() == [wanted] * 3
        assert len(data.ledger.charges) == 1


def test_every_query_may_have_a_threshold_of_its_own():
    """Thresholds are public: they are part of what replay compares."""
    mechanism = AboveThreshold(Cells(np.array([5.0, 5.0, 1.0])))
    assert mechanism.truth(np.array([1, 2, 3])).tolist() == [-4.0, -3.0, 2.0]
    assert mechanism.public() != AboveThreshold(Cells(np.array([5.0, 5.0, 2.0]))).public()


@pytest.mark.parametrize("threshold", [np.nan, np.inf, [1.0, 2.0, 3.0]])
def test_what_cannot_be_compared_is_refused(threshold):
    """A threshold that is no number, or thresholds for other queries than there are."""
    data = PrivateData.open([1, 2], 1, RandomNoise.seeded(0, 1))
    with pytest.raises(DPBenchError, match="NaN|failed with"):
        data.ask(AboveThreshold(Cells(threshold)), 1)


def test_the_ledger_states_both_scales():
    """A reader can recompute what was paid."""
    data = PrivateData.open([1, 2], 1, RandomNoise.seeded(0, 1))
    data.ask(AboveThreshold(Cells(1.5)), 1, "first cell above")
    assert "Laplace noise of scale 2 on the threshold and 2 on answers" in str(data.ledger)
