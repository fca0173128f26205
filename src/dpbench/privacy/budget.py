"""Privacy budgets as exact fractions.

With binary floats an honest split of 0.1 over some number of rounds often does not add up to 0.1
again, and a check of equality has to be loosened until it checks nothing. With fractions every split
adds up exactly. A float is read as the decimal number that Python prints for it, which is what its
author wrote: 0.1 is one tenth.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np

from dpbench.errors import LONGEST, InvalidEpsilon, InvalidInput, shown
from dpbench.given import whole

Number = int | float | Fraction | Decimal

LONGEST_DECIMAL = 1000
"""Digits of a Decimal before or after the point; more would be written out one by one."""
LONGEST_WRITTEN = 128
"""Bits above or below the line of a fraction that a message writes out; Python itself refuses to from 4,300 digits."""
DIGITS = 100
SMALLEST, LARGEST = Fraction(1, 10**DIGITS), Fraction(10**DIGITS)
"""Budgets lie between them. Squares of either, times any counts, are within floats."""


def exact(value: object, what: str) -> Fraction:
    """``value`` as the fraction that its decimal form says, or one line of refusal.

    It is made of plain whole numbers, whatever arithmetic the value may have of its own.
    """
    if isinstance(value, Fraction):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return Fraction(int(value))
    if isinstance(value, Decimal) and Decimal.is_finite(value) and abs(Decimal.adjusted(value)) < LONGEST_DECIMAL:
        return Fraction(*Decimal.as_integer_ratio(value))
    if isinstance(value, float | np.floating) and math.isfinite(value):
        return Fraction(repr(float(value)))
    subject = what if isinstance(what, str) and what.isprintable() and len(what) < 3 * LONGEST else shown(what)
    raise InvalidInput(f"{subject} is {shown(value)}; give a finite number")


def read_epsilon(value: object) -> Fraction:
    """A privacy budget: any positive finite number."""
    try:
        epsilon = exact(value, "epsilon")
    except InvalidInput as refusal:
        raise InvalidEpsilon(f"{refusal} greater than 0, for example 0.1") from None
    if epsilon <= 0:
        raise InvalidEpsilon(f"epsilon is {shown(value)}; give a finite number greater than 0, for example 0.1")
    return within_floats(epsilon, "epsilon")


def within_floats(amount: Fraction, what: str) -> Fraction:
    """A budget that floats can be derived from."""
    if not SMALLEST <= amount <= LARGEST:
        raise InvalidEpsilon(
            f"{what} is below 1e-{DIGITS} or above 1e{DIGITS}; give a number between them, for example 0.1"
        )
    return amount


def written(amount: Fraction) -> str:
    """An amount in a message: exact, or six digits of it where it would fill the screen.

    >>> from fractions import Fraction
    >>> written(Fraction(1, 40)), written(Fraction(-(10**5000), 3))
    ('1/40', 'about -3.33333e+4999')
    """
    if max(amount.numerator.bit_length(), amount.denominator.bit_length()) < LONGEST_WRITTEN:
        return str(amount)
    return f"about {Decimal(amount.numerator) / Decimal(amount.denominator):.6g}"


def split(amount: Fraction, share: Number) -> tuple[Fraction, Fraction]:
    """Cut ``amount`` into ``share`` of it and the rest; the two add up to ``amount`` exactly.

    >>> from fractions import Fraction
    >>> from dpbench.privacy import split
    >>> split(Fraction(1, 10), Fraction(1, 4))
    (Fraction(1, 40), Fraction(3, 40))
    """
    whole_amount, portion = exact(amount, "the budget to split"), exact(share, "the share of a budget")
    if not 0 <= portion <= 1:
        raise InvalidInput(f"the share of a budget is {shown(share)}; give a number from 0 to 1")
    return whole_amount * portion, whole_amount * (1 - portion)


def evenly(amount: Fraction, parts: int) -> Fraction:
    """One of ``parts`` equal portions of ``amount``.

    >>> from fractions import Fraction
    >>> from dpbench.privacy import evenly
    >>> evenly(Fraction(1, 10), 4)
    Fraction(1, 40)
    """
    return exact(amount, "the budget to divide") / whole(parts, "the number of parts of a budget")


def noise_scale(sensitivity: Fraction, spend: Fraction) -> float:
    """``sensitivity / spend`` as a float that is never below the exact quotient."""
    # whole numbers all along: quicker than a quotient of fractions, which is reduced first
    above, below = sensitivity.numerator * spend.denominator, sensitivity.denominator * spend.numerator
    try:
        nearest = above / below
    except OverflowError:
        raise InvalidEpsilon(
            f"a budget of {float(spend):g} asks for more noise than a float can hold; give a larger epsilon"
        ) from None
    top, bottom = nearest.as_integer_ratio()
    return math.nextafter(nearest, math.inf) if top * below < above * bottom else nearest


def root_above(square: Fraction) -> float:
    """The square root as a float whose square is never below ``square``."""
    try:
        nearest = math.sqrt(square)
    except OverflowError:
        raise InvalidEpsilon("the budget asks for more noise than a float can hold; give a larger one") from None
    while Fraction(nearest) ** 2 < square:
        nearest = math.nextafter(nearest, math.inf)
    return nearest


def root_below(square: Fraction) -> Fraction:
    """The square root: exact where it is rational, otherwise rounded down, within a relative 2^-60 of it."""
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if top * top == square.numerator and bottom * bottom == square.denominator:
        return Fraction(top, bottom)
    shift = max(0, 64 + (square.denominator.bit_length() - square.numerator.bit_length()) // 2 + 1)
    return Fraction(math.isqrt(square.numerator * 4**shift // square.denominator), 2**shift)
