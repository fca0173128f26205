"""The digits of chances, against decimal arithmetic of 400 digits, which is another implementation altogether."""

from __future__ import annotations

import random
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import pytest

from dpbench.privacy.expansion import WIDTH, exp_bounds, exponential, logistic, ratio

PRECISE = Context(prec=400)


def arguments(count, seed):
    """Fractions of all sizes, from 1e-15 to 1e5."""
    rng = random.Random(seed)
    for _ in range(count):
        size = 10.0 ** rng.uniform(-15, 5)
        denominator = rng.randrange(1, 10 ** rng.randrange(1, 18))
        yield Fraction(max(1, round(size * denominator)), denominator)


def exp_of_minus(x):
    return (-Decimal(x.numerator) / Decimal(x.denominator)).exp()


def digits_of(number, places):
    """The first digits in base 2^16 of a decimal number in [0, 1)."""
    result = []
    for _ in range(places):
        number *= 2**WIDTH
        result.append(int(number))
        number -= int(number)
    return result


@pytest.mark.parametrize("bits", [1, 16, 64, 300])
def test_bounds_hold_and_are_close(bits):
    """2^bits exp(-x) lies between two whole numbers that are at most 2 apart."""
    with localcontext(PRECISE):
        for x in arguments(300, seed=bits):
            low, high = exp_bounds(x, bits)
            assert low <= exp_of_minus(x) * 2**bits <= high
            assert high - low <= 2


@pytest.mark.parametrize("bits", [1, 4, 9, 16])
def test_bounds_of_the_logistic_function_hold(bits):
    """2^bits / (1 + exp(x)) lies between them, also where few bits leave no slack."""
    with localcontext(PRECISE):
        for x in arguments(300, seed=bits):
            low, high = logistic(x)._bounds(bits)
            e = exp_of_minus(x)
            assert low <= e / (1 + e) * 2**bits <= high
            assert high - low <= 3


def test_exp_of_nothing_is_one():
    """The bounds of exp(0) hold 1."""
    low, high = exp_bounds(Fraction(0), 40)
    assert low <= 2**40 <= high


def test_digits_are_the_true_ones():
    """Of exp(-x) and 1 / (1 + exp(x)), the first twelve digits of 16 bits."""
    with localcontext(PRECISE):
        for x in arguments(300, seed=7):
            e = exp_of_minus(x)
            expected = digits_of(e, 12), digits_of(e / (1 + e), 12)
            assert (
                tuple([chance(x).digit(place) for place in range(12)] for chance in (exponential, logistic)) == expected
            )


def test_digits_of_a_fraction():
    """1/3 repeats 0x5555, 1/2 ends, and a fraction within 2^-40 of 1 begins with ones."""
    assert [ratio(Fraction(1, 3)).digit(place) for place in range(5)] == [0x5555] * 5
    assert [ratio(Fraction(1, 2)).digit(place) for place in range(4)] == [0x8000, 0, 0, 0]
    assert [ratio(1 - Fraction(1, 2**40)).digit(place) for place in range(4)] == [0xFFFF, 0xFFFF, 0xFF00, 0]


def test_digits_do_not_depend_on_the_order_of_asking():
    """Asking for a late place first gives the same digits as going from left to right."""
    x = Fraction(355, 1130)
    late = exponential.__wrapped__(x)
    assert late.digit(30) == [exponential.__wrapped__(x).digit(place) for place in range(31)][30]
    assert [late.digit(place) for place in range(31)] == [exponential(x).digit(place) for place in range(31)]


def test_a_number_beside_the_border_of_a_digit_is_decided():
    """exp(-x) just below and just above 1/2, by 1e-60: the first digits differ, and no rounding decides."""
    with localcontext(PRECISE):
        ln2 = Decimal(2).ln()
        below, above = (Fraction(ln2 + sign * Decimal("1e-60")) for sign in (1, -1))
    assert exponential(below).digit(0) == 0x7FFF
    assert exponential(above).digit(0) == 0x8000
