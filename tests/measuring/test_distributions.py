"""Distribution functions, against scipy's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import bdtr, betainc, stdtr

from dpbench.measuring.distributions import CENTRE, both_tails, incomplete_beta


@given(
    st.lists(st.tuples(st.floats(0.5, 1e6), st.floats(-200, 200)), min_size=1, max_size=20),
)
@settings(max_examples=200, deadline=None)
def test_both_tails_of_students_t_are_scipys(pairs):
    """To 10 digits, however small."""
    freedom, t = np.array(pairs).T
    expected = 2 * stdtr(freedom, -np.abs(t))
    assert both_tails(freedom, t) == pytest.approx(expected, rel=1e-10, abs=1e-280)


def test_both_tails_where_the_two_formulas_meet():
    """Nothing jumps at the border of centre and tail, at one degree of freedom or at very many."""
    freedom = np.array([0.5, 1.0, 2.0, 4.0, 30.0, 1e3, 1e6, 1e9])
    for t in (np.nextafter(CENTRE, 0), CENTRE, np.nextafter(CENTRE, 3)):
        assert both_tails(freedom, t) == pytest.approx(2 * stdtr(freedom, -t), rel=1e-12)


@pytest.mark.filterwarnings("error")
def test_tails_at_the_ends():
    """Nothing lies beyond infinity, everything around 0, and what is not known stays so."""
    freedom = [1.0, 3.0, 5.0, np.inf, np.nan, 5.0]
    t = [np.inf, 1e200, 0.0, 1.959963984540054, 1.0, np.nan]
    assert both_tails(freedom, t) == pytest.approx([0.0, 0.0, 1.0, 0.05, np.nan, np.nan], rel=1e-9, nan_ok=True)
    assert both_tails(np.zeros((0, 3)), np.zeros((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 50, 999, 10_000])
@pytest.mark.parametrize("level", [0.001, 0.05, 0.5, 0.9, 0.95, 0.99])
def test_the_incomplete_beta_function_is_scipys(n, level):
    """Weights of order statistics and binomial probabilities, from one trial to ten thousand."""
    a, b, x = (n + 1) * level, (n + 1) * (1 - level), np.arange(n + 1) / n
    assert incomplete_beta(a, b, x) == pytest.approx(betainc(a, b, x), abs=1e-10)
    below = np.arange(n)
    assert incomplete_beta(n - below, below + 1, 1 - level) == pytest.approx(bdtr(below, n, level), abs=1e-10)
