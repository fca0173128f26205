from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbench.errors import DPBenchError, InvalidEpsilon, InvalidInput
from dpbench.privacy.budget import evenly, exact, noise_scale, read_epsilon, split


@pytest.mark.parametrize(
    ("given_value", "wanted"),
    [(0.1, Fraction(1, 10)), (1, Fraction(1)), (Fraction(1, 3), Fraction(1, 3)), (Decimal("0.25"), Fraction(1, 4))],
)
def test_epsilon_is_read_as_the_decimal_that_was_written(given_value, wanted):
    """0.1 is one tenth, not the binary number next to it."""
    assert read_epsilon(given_value) == wanted


def test_numpy_numbers_are_numbers():
    """A numpy float or int is read like Python's."""
    assert read_epsilon(np.float64(0.1)) == Fraction(1, 10)
    assert read_epsilon(np.int64(2)) == 2


@pytest.mark.parametrize("bad", [0, -0.1, float("nan"), float("inf"), "0.1", None, True, [0.1], 1j])
def test_bad_epsilon_is_refused_in_one_line(bad):
    """Zero, negative, NaN, infinite, text: one line that quotes what was given."""
    with pytest.raises(InvalidEpsilon) as caught:
        read_epsilon(bad)
    message = str(caught.value)
    assert repr(bad) in message
    assert "\n" not in message
    assert "greater than 0" in message
    assert isinstance(caught.value, DPBenchError)


@given(st.integers(1, 200))
def test_every_even_split_adds_up_exactly(rounds):
    """Any number of rounds of one tenth makes one tenth again."""
    assert sum([evenly(Fraction(1, 10), rounds)] * rounds) == Fraction(1, 10)


@given(st.fractions(min_value="1/1000", max_value=10), st.floats(0, 1))
def test_split_adds_up_exactly(amount, share):
    """The two parts of a split are the whole, whatever the share."""
    first, rest = split(amount, share)
    assert first + rest == amount
    assert first >= 0
    assert rest >= 0


@pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan")])
def test_a_share_is_between_zero_and_one(bad):
    """A share outside 0 ... 1 is refused."""
    with pytest.raises(InvalidInput):
        split(Fraction(1), bad)


@given(st.fractions(min_value="1/1000000", max_value=1000), st.fractions(min_value="1/1000000", max_value=1000))
def test_noise_is_never_rounded_down(sensitivity, spend):
    """The float noise scale is at least the exact quotient, and the next smaller float is not above it."""
    scale = noise_scale(sensitivity, spend)
    assert Fraction(scale) >= sensitivity / spend
    assert Fraction(np.nextafter(scale, 0)) < sensitivity / spend


def test_noise_beyond_floats_is_refused():
    """A budget so small that the noise overflows is reported in one line."""
    with pytest.raises(InvalidEpsilon, match="more noise than a float can hold"):
        noise_scale(Fraction(10**200), Fraction(1, 10**200))


def test_exact_names_what_is_wrong():
    """The refusal says which quantity it is about."""
    with pytest.raises(InvalidInput, match="the weight is 'x'"):
        exact("x", "the weight")


@pytest.mark.parametrize("what", ["x" * 5000, "a\nshare", object()], ids=["long", "two lines", "no text"])
def test_a_refusal_is_one_short_line_whatever_a_number_is_called(what):
    """Also where the caller names it oddly."""
    with pytest.raises(InvalidInput) as refused:
        exact((), what)
    assert len(str(refused.value)) < 300
    assert len(str(refused.value).splitlines()) == 1
