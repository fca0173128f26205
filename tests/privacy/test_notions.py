"""Pure DP and zCDP as values."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import exp, log, log1p

import numpy as np
import pytest
from scipy.special import logsumexp

from dpbench.errors import DPBenchError, InvalidEpsilon, Unsupported
from dpbench.privacy.budget import evenly, split
from dpbench.privacy.mechanisms import Exponential, Gaussian, Laplace
from dpbench.privacy.notions import ZCDP, PureDP


@pytest.mark.parametrize(("notion", "field"), [(PureDP, "epsilon"), (ZCDP, "rho")])
def test_an_amount_is_read_as_the_decimal_that_was_written(notion, field):
    """0.1 is one tenth, whatever kind of number says so; values are equal when their amounts are."""
    for given in (0.1, Fraction(1, 10), Decimal("0.1"), np.float64(0.1)):
        assert notion(given).amount == getattr(notion(given), field) == Fraction(1, 10)
    assert notion(0.1) == notion(Fraction(1, 10))
    assert len({notion(0.1), notion(Fraction(1, 10))}) == 1
    assert PureDP(0.1) != ZCDP(0.1)


@pytest.mark.parametrize("notion", [PureDP, ZCDP])
@pytest.mark.parametrize("bad", [0, -0.1, float("nan"), float("inf"), "0.1", None, True, [0.1], 1j])
def test_a_bad_amount_is_refused_in_one_line(notion, bad):
    """Any wrong kind of number is an error of ours that quotes it."""
    with pytest.raises(InvalidEpsilon) as caught:
        notion(bad)
    assert isinstance(caught.value, DPBenchError)
    assert repr(bad) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_notions_are_named_in_words():
    """As a ledger writes them: short fractions as fractions, long ones as decimals where that is exact."""
    assert str(PureDP(0.1)) == "epsilon 1/10"
    assert str(PureDP(2)) == "epsilon 2"
    assert str(ZCDP(0.005)) == "rho 1/200 (zCDP)"
    assert str(ZCDP.within(1, 1e-9)) == "epsilon 1, delta 1e-09 (zCDP; rho 0.0149731)"
    exactly = ZCDP.of_one_measurement(1, 1e-9)
    assert str(exactly) == "epsilon 1, delta 1e-09 (one Gaussian measurement, exactly; rho 0.0165574)"


def test_budgets_are_split_over_the_amount():
    """The one exact number is split as before, and its parts add up to it."""
    for notion in (PureDP(0.1), ZCDP(0.1)):
        first, rest = split(notion.amount, 0.3)
        assert notion._portion(first).amount + notion._portion(rest).amount == notion.amount
        assert type(notion._portion(first)) is type(notion)
        assert sum([evenly(notion.amount, 7)] * 7) == notion.amount


def test_what_calls_cost():
    """Pure DP: the loss. zCDP: loss^2 / 2, selections loss^2 / 8, Gaussian noise sensitivity^2 / (2 variance)."""
    loss = Fraction(1, 10)
    assert PureDP(1)._cost(Laplace, loss) == PureDP(1)._cost(Exponential, loss) == loss
    assert ZCDP(1)._cost(Laplace, loss) == Fraction(1, 200)
    assert ZCDP(1)._cost(Exponential, loss) == Fraction(1, 800)
    assert ZCDP(1)._cost(Gaussian, loss) == loss
    with pytest.raises(Unsupported, match="gaussian noise"):
        PureDP(1)._cost(Gaussian, loss)


@pytest.mark.parametrize("spend", [Fraction(1, 200), Fraction(1, 3), 1e-12, 0.0243557, 7])
def test_what_a_spend_pays_for(spend):
    """What it pays for costs no more than it, and the next larger part of 1e-11 does."""
    spend = Fraction(repr(spend)) if isinstance(spend, float) else Fraction(spend)
    zcdp = ZCDP(1)
    for kind in (Laplace, Exponential):
        loss = zcdp._loss(kind, spend)
        assert zcdp._cost(kind, loss) <= spend < zcdp._cost(kind, loss * (1 + Fraction(1, 10**11)))
    assert zcdp._loss(Gaussian, spend) == spend
    assert PureDP(1)._loss(Laplace, spend) == PureDP(1)._loss(Exponential, spend) == spend


def test_a_root_that_is_rational_is_exact():
    """rho = 1/200 pays for a pure loss of exactly 1/10, and for a selection of 1/5."""
    assert ZCDP(1)._loss(Laplace, Fraction(1, 200)) == Fraction(1, 10)
    assert ZCDP(1)._loss(Exponential, Fraction(1, 200)) == Fraction(1, 5)


def renyi(p, q, order):
    """The Renyi divergence of two distributions over few outcomes."""
    return logsumexp(order * np.log(p) + (1 - order) * np.log(q)) / (order - 1)


ORDERS = [1 + 1e-4, 1.1, 2, 5, 50]


@pytest.mark.parametrize("loss", [0.01, 0.5, 1.0, 3.0])
def test_no_two_outcomes_cost_more_than_a_pure_loss_is_charged(loss):
    """Randomised response is the worst mechanism of its pure loss; its divergences stay below order * loss^2 / 2."""
    p = np.array([exp(loss), 1]) / (1 + exp(loss))
    ratios = [renyi(p, p[::-1], order) / order for order in ORDERS]
    rho = float(ZCDP(1)._cost(Laplace, loss))
    assert max(ratios) <= rho
    if loss <= 0.01:
        assert max(ratios) > 0.999 * rho


@pytest.mark.parametrize("loss", [0.01, 0.5, 1.0, 3.0])
def test_no_selection_costs_more_than_it_is_charged(loss):
    """Exponential mechanisms over random scores that move by at most 1; the worst is near order * loss^2 / 8."""
    rng = np.random.default_rng(0)
    worst = 0.0
    for trial in range(300):
        size = int(rng.integers(2, 6))
        scores = rng.normal(size=size) * rng.choice([0, 1, 5])
        change = rng.choice([-1.0, 1.0], size=size) if trial else np.array([-1.0, 1.0] + [1.0] * (size - 2))
        p, q = (np.exp(loss / 2 * values) for values in (scores, scores + change))
        worst = max(worst, *(renyi(p / p.sum(), q / q.sum(), order) / order for order in ORDERS))
    rho = float(ZCDP(1)._cost(Exponential, loss))
    assert worst <= rho * (1 + 1e-9)
    if loss <= 1:
        assert worst > 0.9 * rho


def test_permute_and_flip_is_charged_as_any_pure_mechanism():
    """Two equal scores that move apart: its divergence exceeds what a selection is charged, so that would be wrong."""
    loss = 0.1
    p, q = [0.5, 0.5], [1 - 0.5 * exp(-loss), 0.5 * exp(-loss)]
    worst = max(renyi(a, b, order) / order for order in ORDERS for a, b in ((p, q), (q, p)))
    assert float(ZCDP(1)._cost(Exponential, loss)) < worst <= float(ZCDP(1)._cost(Laplace, loss))
    assert log(q[0] / p[0]) == pytest.approx(log1p(1 - exp(-loss)))


def test_conversions_are_those_of_the_table():
    """The largest rho within (1, 1e-6), and back: rounding goes to the weaker promise."""
    notion = ZCDP.within(1, 1e-6)
    assert notion.rho == Fraction("0.0243559703595")
    assert notion.epsilon_at(1e-6) <= 1
    assert notion.delta_at(1) <= 1e-6
    assert ZCDP(0.005).epsilon_at(1e-9) == Fraction("0.564893284303")
