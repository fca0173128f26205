"""Binary digits of exp(-x) and 1 / (1 + exp(x)) for rational x, each known for certain.

An event of chance p is the event U < p for a uniform number U of infinitely many random bits. Comparing U with p
digit by digit decides it without rounding, provided that every digit of p is the true one. A digit is computed from
whole numbers below and above p; while these two disagree on it, they are brought closer together. They agree in the
end, because exp(x) is irrational for every rational x but 0, so p never sits on the border between two digits.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

WIDTH = 16
"""Bits per digit."""

Bounds = Callable[[int], tuple[int, int]]
"""From a number of bits b to whole numbers at or below and at or above 2^b p."""


class Expansion:
    """The digits, in base 2^16, of a number from 0 up to but not including 1."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._digits: list[int] = []

    def digit(self, place: int) -> int:
        """The digit at a place, 0 the most significant; digits are computed when first asked for, and kept."""
        if place >= len(self._digits):
            self._digits = self._first(2 * place + 2)
        return self._digits[place]

    def _first(self, places: int) -> list[int]:
        bits, guard = WIDTH * places, 2 * WIDTH
        while True:
            low, high = (bound >> guard for bound in self._bounds(bits + guard))
            if low == high:
                return [low >> shift & (1 << WIDTH) - 1 for shift in range(bits - WIDTH, -1, -WIDTH)]
            guard *= 2


def ratio(chance: Fraction) -> Expansion:
    """The digits of a fraction below 1."""

    def bounds(bits: int) -> tuple[int, int]:
        below = (chance.numerator << bits) // chance.denominator
        return below, below  # 2^bits p may lie above, but by less than 1: every digit is that of the floor

    return Expansion(bounds)


@lru_cache(maxsize=4096)
def exponential(x: Fraction) -> Expansion:
    """The digits of exp(-x), x > 0."""
    return Expansion(lambda bits: exp_bounds(x, bits))


@lru_cache(maxsize=4096)
def logistic(x: Fraction) -> Expansion:
    """The digits of 1 / (1 + exp(x)) = e / (1 + e) with e = exp(-x), which grows with e; x > 0."""

    def bounds(bits: int) -> tuple[int, int]:
        low, high = exp_bounds(x, bits)
        one = 1 << bits
        return (low << bits) // (one + low), -(-(high << bits) // (one + high))

    return Expansion(bounds)


def exp_bounds(x: Fraction, bits: int) -> tuple[int, int]:
    """Whole numbers at or below and at or above 2^bits exp(-x), x >= 0, a few units apart.

    With y = x / 2^s below 1/256, exp(-y) = 1 - y + y^2/2 - ... has terms that alternate and fall, so what is left out
    is at most the first term left out. Terms are kept as a floor and a ceiling of their 2^w-fold; the sum is squared
    s times, the lower bound rounded down and the upper one up. A squaring doubles the relative distance: w has s more
    bits.
    """
    if x >= bits:
        return 0, 1  # exp(-x) < 2^-x
    halvings = int(x).bit_length() + 8
    work = bits + halvings + 16
    small = x / (1 << halvings)
    y_low = (small.numerator << work) // small.denominator
    y_high = y_low + 1
    low = high = term_low = term_high = 1 << work
    order = 0
    while term_high > 1:
        order += 1
        term_low = term_low * y_low // (order << work)
        term_high = -(-term_high * y_high // (order << work))
        low, high = (low - term_high, high - term_low) if order % 2 else (low + term_low, high + term_high)
    low, high = low - term_high, high + term_high
    for _ in range(halvings):
        low, high = low * low >> work, -(-high * high >> work)
    return max(low, 0) >> work - bits, -(-high >> work - bits)
