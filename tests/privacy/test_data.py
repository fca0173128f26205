from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from dpbench.errors import (
    AlgorithmFailed,
    BudgetExceeded,
    InvalidCounts,
    InvalidInput,
    NotPrivate,
    UndeclaredSideInformation,
)
from dpbench.mathematics.cells import Cells
from dpbench.privacy import NoNoise, PrivateData, RandomNoise, Total

SECRET = np.array([4711, 0, 12345, 3])


def opened(counts=SECRET, epsilon=1, trials=3, noise=None, **more):
    return PrivateData.open(counts, epsilon, noise or RandomNoise.seeded(0, trials), **more)


@dataclass(frozen=True)
class Preference:
    """Scores that are the counts themselves."""

    sensitivity: float = 1
    monotone: bool = True

    def score(self, counts):
        return counts.astype(float)


def test_noise_follows_from_sensitivity_and_spend():
    """The caller says what it spends; the ledger shows the noise that the handle derived."""
    data = opened(epsilon=0.5)
    assert data.laplace(Cells(data.domain), Fraction(1, 10), "cells").shape == (3, 4)
    charge = data.ledger.charges[0]
    assert (charge.noise, charge.sensitivity, charge.amount) == ("Laplace noise of scale 10", 1, Fraction(1, 10))
    assert data.epsilon == Fraction(4, 10)


def test_laplace_without_noise_is_the_truth():
    """With the noise switched off the answers are exact."""
    data = opened(noise=NoNoise(2))
    assert np.array_equal(data.laplace(Total(), data.epsilon), [SECRET.sum()] * 2)


def test_a_refused_charge_draws_nothing():
    """After a refusal the stream is where it was."""
    data, twin = opened(), opened()
    with pytest.raises(BudgetExceeded):
        data.laplace(Cells(data.domain), 2)
    assert np.array_equal(data.laplace(Cells(data.domain), 1), twin.laplace(Cells(data.domain), 1))


def test_choose_prefers_high_scores():
    """With the noise switched off the best candidate wins, whether its score is monotone or not."""
    data = opened(noise=NoNoise(2))
    assert data.choose(Preference(), Fraction(1, 2)).tolist() == [2, 2]
    assert data.choose(Preference(monotone=False), Fraction(1, 2)).tolist() == [2, 2]


def test_choose_samples_the_softmax():
    """20,000 selections match exp(spend * score / 2) by chi-square, false alarm 1e-4 (3 degrees: 21.1)."""
    data = opened(np.array([0, 1, 2, 3]), trials=20_000)
    chosen = data.choose(Preference(monotone=False), 1)
    weights = np.exp(np.arange(4) / 2)
    expected = 20_000 * weights / weights.sum()
    assert ((np.bincount(chosen, minlength=4) - expected) ** 2 / expected).sum() < 21.1


@pytest.mark.parametrize("sensitivity", [0, -1, float("nan"), float("inf"), "1"])
def test_a_claimed_sensitivity_is_positive_and_finite(sensitivity):
    """A strategy or score that claims anything else is refused."""
    with pytest.raises((InvalidInput, OverflowError, ValueError)):
        opened().choose(Preference(sensitivity=sensitivity), 1)


def test_the_scale_is_refused_unless_declared():
    """Asking for the scale without declaring it is an error that says how to declare it."""
    data = opened()
    data.publish_scale()
    with pytest.raises(UndeclaredSideInformation, match="side_information"):
        _ = data.scale


def test_an_estimated_scale_costs_budget_and_is_never_below_one_over_epsilon():
    """The purchase is in the ledger; a tiny epsilon cannot make the scale negative."""
    data = opened(np.zeros(4), epsilon=Fraction(1, 1000), trials=200, declared=("scale",))
    data.estimate_scale(data.epsilon / 20)
    assert data.ledger.spent == Fraction(1, 20_000)
    assert (data.scale >= 1000.0).all()
    assert len(set(data.scale)) > 1


def test_a_public_scale_is_the_true_one():
    """Public side information is exact and free."""
    data = opened(declared=("scale",))
    data.publish_scale()
    assert (data.scale == SECRET.sum()).all()
    assert data.ledger.spent == 0


def test_regions_share_a_budget():
    """Disjoint regions cost what one costs; each sees only its own counts."""
    data = opened(np.arange(6), noise=NoNoise(1))
    left, right = data.parts([slice(0, 2), slice(2, 6)], data.epsilon)
    assert left.laplace(Total(), 1).tolist() == [1.0]
    assert right.laplace(Cells(right.domain), 1).tolist() == [[2.0, 3.0, 4.0, 5.0]]
    assert data.ledger.spent == 1
    data.ledger.close()


def test_regions_may_be_boxes_or_cell_numbers():
    """A box of a 2-D domain keeps its shape; cell numbers make a line."""
    data = opened(np.arange(6).reshape(2, 3), noise=NoNoise(1))
    box, cells = data.parts([(slice(0, 1), slice(0, 2)), np.array([2, 5])], data.epsilon)
    assert box.domain.shape == (1, 2)
    assert cells.laplace(Cells(cells.domain), 1).tolist() == [[2.0, 5.0]]


@pytest.mark.parametrize(
    "regions", [[slice(0, 2), slice(1, 3)], [np.array([0, 0])], [slice(0, 4), np.array([3])], [slice(2, 2)]]
)
def test_overlapping_or_empty_regions_are_refused(regions):
    """One record may lie in one region only."""
    with pytest.raises(InvalidInput, match="overlap|empty"):
        opened().parts(regions, 1)


def test_each_trial_by_itself_equals_the_batch():
    """Running trials one by one gives the same draws as running them at once, without the trial axis."""
    batch = opened().laplace(Cells(opened().domain), 1)
    singles = [one.laplace(Cells(one.domain), one.epsilon) for one in opened().each_trial()]
    assert np.array_equal(batch, np.stack(singles))


def test_raw_counts_are_for_published_forms():
    """reveal is refused to anything that claims privacy; elsewhere it marks the ledger."""
    with pytest.raises(NotPrivate, match="phases"):
        opened().reveal("phases")
    data = opened(published=True)
    assert np.array_equal(data.reveal("phases"), SECRET)
    assert not data.ledger.private


def test_nothing_printed_shows_a_count():
    """Neither the handle's repr nor a refusal contains a count."""
    data = opened()
    texts = [repr(data), str(data.ledger)]
    for bad in (lambda: data.laplace(Cells(data.domain), 2), lambda: data.reveal("x"), lambda: data.scale):
        with pytest.raises(Exception) as caught:  # noqa: PT011  (each refusal is checked elsewhere)
            bad()
        texts.append(str(caught.value))
    assert not any(str(count) in text for text in texts for count in (4711, 12345))


@pytest.mark.parametrize(
    ("counts", "cause"),
    [
        ([-98765, 1], "negative"),
        ([1.5, 98765], "fractions"),
        ([np.nan, 1], "NaN"),
        ([np.inf, 1], "NaN"),
        ([2**53, 98765], "2\\^53"),
        ([1e308, 1e308], "2\\^53"),
        (np.array([2**64 - 1], dtype=np.uint64), "2\\^62"),
        (["98765"], "dtype"),
        ([True, False], "dtype"),
        ([], "at least one cell"),
        (98765, "at least one cell"),
    ],
)
def test_bad_counts_are_refused_without_quoting_them(counts, cause):
    """Negative, fractional, NaN, overflowing, textual, empty: one line, no count in it."""
    with pytest.raises(InvalidCounts, match=cause) as caught:
        opened(counts)
    assert "98765" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_integral_floats_are_counts():
    """Counts stored as floats are welcome where they are whole."""
    data = opened(np.array([1.0, 2.0]), noise=NoNoise(1))
    assert data.laplace(Cells(data.domain), 1).tolist() == [[1.0, 2.0]]


def test_a_strategy_cannot_write_to_the_counts():
    """What a strategy is shown is read-only."""

    class Vandal(Total):
        def answer(self, counts):
            counts[0] = 0
            return counts.sum()

    with pytest.raises(AlgorithmFailed, match="ValueError"):
        opened().laplace(Vandal(), 1)


def test_the_counts_cannot_be_made_writeable():
    """Neither a strategy nor a published form that was shown the counts can switch writing on, at the base neither."""

    class Locksmith(Total):
        def answer(self, counts):
            counts.setflags(write=True)
            return counts.sum()

    with pytest.raises(AlgorithmFailed, match="ValueError"):
        opened().laplace(Locksmith(), 1)
    counts = opened(published=True).reveal("for the test")
    while isinstance(counts, np.ndarray):
        with pytest.raises(ValueError, match="WRITEABLE"):
            counts.setflags(write=True)
        counts = counts.base
