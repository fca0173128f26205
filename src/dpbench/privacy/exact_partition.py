"""A partition of the line drawn in whole numbers: the exponential mechanism of :mod:`.mechanisms.partition`, exactly.

A partition B has chance proportional to the product over its intervals of price * exp(-r cost). The sums over all
partitions are irrational, so a draw in whole numbers has to round something. It rounds only weights and sums,
to P bits, and draws exactly from what it has rounded; what that can cost is paid for beforehand.

Numbers are m 2^x with m of P bits. With F(0) = 1, and t(k, e) = F(e - L_k) w(k, e) for the interval [e - L_k, e),
S(e) is the sum of t(k, e) over the lengths that fit, and F(e) is S(e) rounded down to P bits. From the right end, an
interval is drawn with chance t(k, e) / S(e): whole numbers over their exact sum. So the chance of a partition is the
product of its weights times the product of F(e) / S(e) over its inner cuts, over S(n), with no further error.

*What rounding costs.* A weight is price * exp(-r cost) but for a part of 2^-P, and F(e) is S(e) but for a part of
2^(2 - P). A partition has at most n of each, and S(n) is off by no more, so the logarithm of every chance is within
n 2^(5 - P) of that of the mechanism in real numbers, and the log-ratio of two tables within n 2^(6 - P). The rate is
r = (loss / 2 D) (1 - 2^-32), and P is so large that n 2^(6 - P) is at most loss 2^-32: together at most ``loss``.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dpbench.privacy.exact_noise import ExactNoise
from dpbench.privacy.expansion import exp_bounds

Scaled = tuple[int, int]
"""A number m 2^x as (m, x)."""

SLACK = 32
"""The rate is lower by a part of 2^-32, which pays for rounding."""
GUARD = 64
"""Bits more in the factors of a weight: a cost below 2^53 multiplies their error by less than 2^56."""
LARGEST_RATE = Fraction(2**12)
"""Beyond this a record decides everything, and a lower rate costs less than was paid."""
BYTE = 8


class ExactPartition:
    """The law of a partition, made from costs in whole numbers."""

    def __init__(
        self,
        costs: NDArray[np.int64],
        lengths: Sequence[int],
        prices: Sequence[Fraction],
        loss: Fraction,
        claim: Fraction,
    ) -> None:
        """Costs ``(lengths, n + 1)``, entry [k, e] of ``[e - lengths[k], e)``, -1 forbids; prices are public."""
        self._costs, self._lengths = costs.T.tolist(), list(lengths)
        self.cells = costs.shape[1] - 1
        self.bits: int = SLACK + 6 + max(64, int(self.cells / loss).bit_length())
        self._rate = min(loss / (2 * claim) * (1 - Fraction(1, 1 << SLACK)), LARGEST_RATE)
        self._prices = [self._of_fraction(price) for price in prices]
        self._powers: list[Scaled] = []
        self._bytes: dict[tuple[int, int], Scaled] = {}
        self._sums: list[Scaled] = [(1, 0)]
        for end in range(1, self.cells + 1):
            self._sums.append(self._sum(self.terms(end)))

    def terms(self, end: int) -> list[tuple[int, int, int]]:
        """Every interval that ends here: its length, and t(k, e) = m 2^x."""
        found = []
        for place, (length, cost) in enumerate(zip(self._lengths, self._costs[end], strict=True)):
            if length > end:
                break
            price, before = self._prices[place], self._sums[end - length]
            if cost >= 0 and price[0]:
                own = self._factor(cost)
                weight = price[0] * own[0] >> self.bits
                found.append((length, weight * before[0], price[1] + own[1] + self.bits + before[1]))
        return found

    def draw(self, noise: ExactNoise) -> NDArray[np.bool_]:
        """Cuts ``(n + 1,)``, from the right end."""
        cuts = np.zeros(self.cells + 1, dtype=np.bool_)
        end = self.cells
        cuts[end] = True
        while end > 0:
            terms = self.terms(end)
            end -= terms[noise.choose_scaled([(m, x) for _, m, x in terms], self._depth)][0]
            cuts[end] = True
        return cuts

    def chance(self, cuts: NDArray[np.bool_]) -> Fraction:
        """The chance of a partition, exactly; for tests."""
        total = Fraction(1)
        for first, end in pairwise(np.flatnonzero(cuts).tolist()):
            weights = {length: m * Fraction(2) ** x for length, m, x in self.terms(end)}
            total *= weights.get(end - first, Fraction(0)) / sum(weights.values())
        return total

    @property
    def _depth(self) -> int:
        """Bits below the largest term that are added up."""
        return 2 * self.bits + GUARD

    def _sum(self, terms: list[tuple[int, int, int]]) -> Scaled:
        """The sum, rounded down; what is far below the largest term loses its last bits."""
        unit = max(x + m.bit_length() for _, m, x in terms) - self._depth
        return _cut(sum(_shifted(m, x - unit) for _, m, x in terms), unit, self.bits)

    def _of_fraction(self, number: Fraction) -> Scaled:
        up = self.bits + number.denominator.bit_length()
        return _cut((number.numerator << up) // number.denominator, -up, self.bits)

    def _factor(self, cost: int) -> Scaled:
        """exp(-r cost) with GUARD more bits: the product of the factors of its bytes."""
        place, wide = 0, self.bits + GUARD
        product = (1 << wide - 1, 1 - wide)
        while cost:
            value = cost & (1 << BYTE) - 1
            if value:
                m, x = self._byte(value, place)
                product = _cut(product[0] * m, product[1] + x, wide)
            cost, place = cost >> BYTE, place + 1
        return product

    def _byte(self, value: int, place: int) -> Scaled:
        """exp(-r value 256^place), by its binary digits; kept."""
        kept = self._bytes.get((value, place))
        if kept is None:
            wide = self.bits + GUARD
            kept = (1 << wide - 1, 1 - wide)
            for digit in range(BYTE):
                if value >> digit & 1:
                    m, x = self._power(BYTE * place + digit)
                    kept = _cut(kept[0] * m, kept[1] + x, wide)
            self._bytes[value, place] = kept
        return kept

    def _power(self, digit: int) -> Scaled:
        """exp(-r 2^digit), each the square of the one before."""
        wide = self.bits + GUARD
        if not self._powers:
            bits = wide + 16 + int(self._rate * 3 / 2)
            self._powers.append(_cut(exp_bounds(self._rate, bits)[0], -bits, wide))
        while len(self._powers) <= digit:
            m, x = self._powers[-1]
            self._powers.append(_cut(m * m, 2 * x, wide))
        return self._powers[digit]


def _shifted(m: int, by: int) -> int:
    return m << by if by >= 0 else m >> -by


def _cut(m: int, x: int, bits: int) -> Scaled:
    """A number m 2^x with so many bits, rounded down."""
    surplus = m.bit_length() - bits
    return _shifted(m, -surplus), x + surplus
