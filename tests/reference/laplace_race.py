"""Races of Laplace variates, written out: products of sums of exponentials, integrated term by term in 60 digits."""

from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

FAR = Fraction(10**9)
"""In place of infinity: what lies beyond is nothing."""


def log_passing(centre, spread, below, above, scale):
    """The log of the integral of f(t) prod_j F(t - below_j) (1 - F(t - above)); few factors: terms double with each.

    Numbers are the fractions that the floats are, and so are the rates of the exponentials: rates that cancel do so
    exactly. A product is a sum of terms, coefficient times exp(rate t), kept by rate.
    """
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = 60, MAX_EMAX, MIN_EMIN
        centre, spread, scale = (Fraction(float(each)) for each in (centre, spread, scale))
        below = [Fraction(float(each)) for each in below]
        above = None if above == float("inf") else Fraction(float(above))
        kinks = sorted({centre, *below, *([] if above is None else [above])})
        total = Decimal(0)
        for left, right in pairwise([-FAR, *kinks, FAR]):
            rate = (-1 if left >= centre else 1) / spread
            terms = {rate: exponential(-rate * centre) / decimal(2 * spread)}
            for each in below:
                terms = product(terms, below_terms(each, scale, left >= each, 1))
            if above is not None:
                terms = product(terms, below_terms(above, scale, left < above, -1))
            total += sum(integral(rate, value, left, right) for rate, value in terms.items())
        return float(total.ln())


def below_terms(place, scale, is_high, sign):
    """F(sign (t - place) / scale) as terms: 1 - exp(-y) / 2 where y is above 0, exp(y) / 2 where it is not."""
    rate = sign / scale
    if is_high:
        return {Fraction(0): Decimal(1), -rate: -exponential(rate * place) / 2}
    return {rate: exponential(-rate * place) / 2}


def product(one, other):
    terms = {}
    for rate, value in one.items():
        for further, factor in other.items():
            terms[rate + further] = terms.get(rate + further, Decimal(0)) + value * factor
    return terms


def integral(rate, value, left, right):
    """Of value exp(rate t)."""
    if rate == 0:
        return value * decimal(right - left)
    return value / decimal(rate) * (exponential(rate * right) - exponential(rate * left))


def decimal(fraction):
    return Decimal(fraction.numerator) / Decimal(fraction.denominator)


def exponential(fraction):
    return decimal(fraction).exp()
