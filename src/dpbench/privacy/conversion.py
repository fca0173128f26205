"""From zCDP to (epsilon, delta) and back, and the exact (epsilon, delta) of Gaussian noise.

All is computed with sixty decimal digits, so a result is off by far less than the twelve digits that are kept; the
last digit is rounded towards the weaker promise (a larger epsilon, delta or sigma, a smaller rho).

*zCDP* (Canonne, Kamath, Steinke: The discrete Gaussian for differential privacy, NeurIPS 2020, proposition 7). Where
every Renyi divergence of order 1 + t is at most (1 + t) rho, for each t > 0

    ln delta(t) = t ((1 + t) rho - epsilon) - t ln(1 + 1/t) - ln(1 + t)

is a valid delta for epsilon, and so is the least over t. The formula is linear in rho and in epsilon, so it gives a
valid rho or epsilon for each t as well, whichever of the three is wanted; the best t is a matter of tightness alone.

*One Gaussian measurement* with noise of standard deviation sigma at L2 sensitivity 1 (Balle, Wang, ICML 2018):

    delta = Phi(1 / (2 sigma) - epsilon sigma) - exp(epsilon) Phi(-1 / (2 sigma) - epsilon sigma),

and no smaller delta is true. That is for noise from the real line. Discrete Gaussian noise keeps the same rho, but not
this delta: what is released on a lattice is accounted for by rho.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, getcontext, localcontext
from fractions import Fraction
from functools import lru_cache

from dpbench.errors import InvalidEpsilon, InvalidInput, shown
from dpbench.privacy.budget import exact, read_epsilon, within_floats

SMALLEST_EPSILON, LARGEST_EPSILON = Fraction(1, 10**9), Fraction(1000)
"""The range of an epsilon that comes with a delta."""
SMALLEST_DELTA, LARGEST_DELTA = Fraction(1, 10**300), Fraction(1, 2)
"""The range of a delta."""
DIGITS = 12
"""Significant digits that are kept of a result."""
PRECISION = Context(prec=60)
"""Digits of the arithmetic."""
SLACK = Decimal("1e-40")
"""What is given away, relative to the largest term, to cover all rounding of the arithmetic."""


def zcdp_delta(rho: object, epsilon: object) -> float:
    """The least delta for which rho-zCDP is known to imply (epsilon, delta), rounded up; at least 1e-300."""
    exact_rho, exact_epsilon = read_rho(rho), _read_epsilon(epsilon)
    with localcontext(PRECISION):
        r, e = _decimal(exact_rho), _decimal(exact_epsilon)
        t = _stationary(lambda t: _slope(t, r, e))
        log_delta = t * ((1 + t) * r - e) - t * (1 + 1 / t).ln() - (1 + t).ln()
        log_delta += SLACK * (1 + t * (1 + t) * r + t * e)
        return _float_up(min(max(log_delta.exp(), _decimal(SMALLEST_DELTA)), Decimal(1)))


def zcdp_epsilon(rho: object, delta: object) -> Fraction:
    """The least epsilon for which rho-zCDP is known to imply (epsilon, delta), rounded up; 0 for a large delta."""
    exact_rho, exact_delta = read_rho(rho), read_delta(delta)
    with localcontext(PRECISION):
        r, log_delta = _decimal(exact_rho), _decimal(exact_delta).ln()

        def epsilon(t: Decimal) -> Decimal:
            return (1 + t) * r - (1 + 1 / t).ln() - (log_delta + (1 + t).ln()) / t

        t = _stationary(lambda t: _slope(t, r, epsilon(t)))
        largest = (1 + t) * r + (1 - log_delta) / t + 1
        return max(_rounded(epsilon(t) + SLACK * largest, ROUND_CEILING), Fraction(0))


@lru_cache(maxsize=1024)
def _rho(e: Fraction, d: Fraction) -> Fraction:
    with localcontext(PRECISION):
        epsilon, log_delta = _decimal(e), _decimal(d).ln()

        def rho(t: Decimal) -> Decimal:
            return (epsilon + (1 + 1 / t).ln() + (log_delta + (1 + t).ln()) / t) / (1 + t)

        t = _stationary(lambda t: _slope(t, rho(t), epsilon))
        largest = (epsilon + 1 + (1 - log_delta) / t) / (1 + t)
        return _rounded(rho(t) - SLACK * largest, ROUND_FLOOR)


def zcdp_rho(epsilon: object, delta: object) -> Fraction:
    """The largest rho for which rho-zCDP is known to imply (epsilon, delta), rounded down."""
    return _rho(_read_epsilon(epsilon), read_delta(delta))


def gaussian_delta(sigma: object, epsilon: object) -> float:
    """The delta of one Gaussian measurement with sigma at L2 sensitivity 1, rounded up; at least 1e-300."""
    exact_sigma, exact_epsilon = read_positive(sigma, "sigma"), _read_epsilon(epsilon)
    with localcontext(PRECISION):
        return _float_up(_gaussian(_decimal(exact_sigma), _decimal(exact_epsilon)))


@lru_cache(maxsize=1024)
def _sigma(e: Fraction, d: Fraction) -> Fraction:
    with localcontext(PRECISION):
        epsilon, delta = _decimal(e), _decimal(d)
        low = high = Decimal(1)
        while _gaussian(high, epsilon) > delta:
            low, high = high, 2 * high
        while _gaussian(low, epsilon) <= delta:
            low, high = low / 2, low
        while high - low > high.scaleb(-DIGITS - 2):
            middle = (low + high) / 2
            low, high = (low, middle) if _gaussian(middle, epsilon) <= delta else (middle, high)
        return _rounded(high, ROUND_CEILING)


def gaussian_sigma(epsilon: object, delta: object) -> Fraction:
    """The least sigma, rounded up, at which one Gaussian measurement of L2 sensitivity 1 is (epsilon, delta)-DP.

    delta falls with sigma, so the bisection ends at a sigma that was found good, and a larger one is good too.
    """
    return _sigma(_read_epsilon(epsilon), read_delta(delta))


def read_rho(value: object) -> Fraction:
    """A budget of zCDP: any positive finite number."""
    try:
        rho = read_positive(value, "rho")
    except InvalidInput as refusal:
        raise InvalidEpsilon(f"{refusal}, for example 0.01") from None
    return within_floats(rho, "rho")


def read_delta(value: object) -> Fraction:
    """A delta: a number from 1e-300 to 0.5."""
    delta = exact(value, "delta")
    if not SMALLEST_DELTA <= delta <= LARGEST_DELTA:
        raise InvalidInput(f"delta is {shown(value)}; give a number from 1e-300 to 0.5, for example 1e-9")
    return delta


def _read_epsilon(value: object) -> Fraction:
    epsilon = read_epsilon(value)
    if not SMALLEST_EPSILON <= epsilon <= LARGEST_EPSILON:
        raise InvalidEpsilon(f"epsilon is {shown(value)}; with a delta, give a number from 1e-9 to 1000")
    return epsilon


def read_positive(value: object, what: str) -> Fraction:
    """Any positive finite number, or one line of refusal."""
    amount = exact(value, what)
    if amount <= 0:
        raise InvalidInput(f"{what} is {shown(value)}; give a finite number greater than 0")
    return amount


def _slope(t: Decimal, rho: Decimal, epsilon: Decimal) -> Decimal:
    """The derivative of ln delta(t) by t; it grows with t, from minus infinity on."""
    return (1 + 2 * t) * rho - epsilon - (1 + 1 / t).ln()


def _stationary(slope: Callable[[Decimal], Decimal]) -> Decimal:
    """Where a slope turns from negative to positive: the best order, by bisection of its logarithm.

    Where rho or epsilon is a function of t, its derivative is the slope times a number of one sign; at every zero the
    slope rises, so there is one zero. A t that is off by h costs h^2, and no promise.
    """
    low, high = Decimal(-700), Decimal(700)
    while high - low > Decimal("1e-12"):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle.exp()) < 0 else (low, middle)
    return ((low + high) / 2).exp()


def _gaussian(sigma: Decimal, epsilon: Decimal) -> Decimal:
    """The delta of Gaussian noise, rounded up by 1 part in 10^20, and at least 1e-300.

    Its two terms agree in at most twenty digits within the ranges above, which leaves forty.
    """
    near = epsilon * sigma - 1 / (2 * sigma)
    far = epsilon * sigma + 1 / (2 * sigma)
    delta = _tail(near) - epsilon.exp() * _tail(far)
    return min(max(delta * (1 + Decimal("1e-20")), _decimal(SMALLEST_DELTA)), Decimal(1))


def _tail(x: Decimal) -> Decimal:
    """The chance that a normal number exceeds x, to nearly all digits of the precision in force.

    Up to 5 in absolute value, 1/2 - phi(x) (x + x^3/3 + x^5/(3 5) + ...); beyond, phi(x) / (x + 1/(x + 2/(x + 3/...))),
    whose convergents lie on either side in turn; after 400 of them they agree to 100 digits.
    """
    if x < -5:
        return 1 - _tail(-x)
    density = (-x * x / 2).exp() / (2 * _pi(getcontext().prec)).sqrt()
    if x > 5:
        fraction = x
        for order in range(400, 0, -1):
            fraction = x + order / fraction
        return density / fraction
    term, total, order = x, x, 1
    while abs(term) > abs(total).scaleb(-getcontext().prec):
        order += 2
        term *= x * x / order
        total += term
    return Decimal(1) / 2 - density * total


@lru_cache(maxsize=64)
def _pi(digits: int) -> Decimal:
    """Pi by Machin's formula, 16 arctan(1/5) - 4 arctan(1/239), in whole numbers with ten digits to spare."""
    one = 10 ** (digits + 10)

    def arctan_of_inverse(n: int) -> int:
        power, total, order = one // n, 0, 1
        while power:
            total += power // order if order % 4 == 1 else -(power // order)
            power //= n * n
            order += 2
        return total

    return Decimal(16 * arctan_of_inverse(5) - 4 * arctan_of_inverse(239)).scaleb(-digits - 10)


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _rounded(value: Decimal, direction: str) -> Fraction:
    """Twelve significant digits, as a fraction."""
    return Fraction(Context(prec=DIGITS, rounding=direction).create_decimal(value))


def _float_up(value: Decimal) -> float:
    """The least float that is not below."""
    nearest = float(value)
    return nearest if Decimal(nearest) >= value else math.nextafter(nearest, math.inf)
