"""Races of Laplace variates, written out: products of sums of exponentials, integrated term by term in 60 digits."""

from decimal import Decimal, localcontext
from itertools import pairwise


def log_passing(centre, spread, below, above, scale):
    """The log of the integral of f(t) prod_j F(t - below_j) (1 - F(t - above)); few factors: terms double with each.

    Numbers are taken as the fractions that the floats are. A term is its rate and a coefficient.
    """
    with localcontext() as context:
        context.prec = 60
        centre, spread, scale = (Decimal(float(each)) for each in (centre, spread, scale))
        below = [Decimal(float(each)) for each in below]
        above = None if above == float("inf") else Decimal(float(above))
        kinks = sorted({centre, *below, *([] if above is None else [above])})
        far = Decimal("Infinity")
        total = Decimal(0)
        for left, right in pairwise([-far, *kinks, far]):
            terms = {(-1 if left >= centre else 1) / spread: Decimal(1) / (2 * spread)}
            terms = {rate: value * (-rate * centre).exp() for rate, value in terms.items()}
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
        return {Decimal(0): Decimal(1), -rate: -(rate * place).exp() / 2}
    return {rate: (-rate * place).exp() / 2}


def product(one, other):
    terms = {}
    for rate, value in one.items():
        for further, factor in other.items():
            terms[rate + further] = terms.get(rate + further, Decimal(0)) + value * factor
    return terms


def integral(rate, value, left, right):
    """Of value exp(rate t)."""
    if rate == 0:
        return value * (right - left)
    ends = [Decimal(0) if end.is_infinite() else (rate * end).exp() for end in (left, right)]
    return value / rate * (ends[1] - ends[0])
