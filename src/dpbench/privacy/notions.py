"""Two notions of privacy as values, each with one exact number that is split, spent and added up.

*Pure DP*: one record changes the chance of any outcome by a factor of at most exp(epsilon). *zCDP* (Bun, Steinke, TCC
2016): for every order a > 1 one record makes a Renyi divergence of at most a rho. Both amounts add up over calls.

What a call costs of rho follows from one lemma. Let L be the logarithm of the ratio of an outcome's chances with and
without a record, and let L lie in an interval of length w. Then the call costs **rho = w^2 / 8**.

Proof. K(a) = ln E exp(a L), the mean taken without the record, has K(0) = K(1) = 0, and K''(a) is the variance of L
under a reweighted law: a number in an interval of length w has a variance of at most w^2 / 4. So the function
K(a) - a (a - 1) w^2 / 8 is concave and vanishes at 0 and at 1; beyond 1 it is at most 0. The divergence of order a is
K(a) / (a - 1), hence at most a w^2 / 8.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from math import isqrt

from dpbench.errors import Unsupported
from dpbench.privacy.budget import Number, read_epsilon
from dpbench.privacy.conversion import read_positive, read_rho, zcdp_delta, zcdp_epsilon, zcdp_rho


@dataclass(frozen=True)
class PureDP:
    """Pure differential privacy: the logarithm of the ratio of chances is at most epsilon, either way."""

    epsilon: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", read_epsilon(self.epsilon))

    @property
    def amount(self) -> Fraction:
        """The number that is split and spent."""
        return self.epsilon

    def with_amount(self, amount: Fraction) -> PureDP:
        """The same notion with another budget."""
        return PureDP(amount)

    def cost_of_loss(self, loss: Number) -> Fraction:
        """What a mechanism of pure loss ``loss`` costs: a Laplace measurement, permute-and-flip, or any other."""
        return _loss(loss)

    def cost_of_selection(self, loss: Number) -> Fraction:
        """What the exponential mechanism at a pure loss of ``loss`` costs."""
        return _loss(loss)

    def cost_of_gaussian(self, squared_sensitivity: Number, variance: Number) -> Fraction:
        """Refused: Gaussian noise gives no pure differential privacy."""
        del squared_sensitivity, variance
        raise Unsupported("Gaussian noise has no cost in epsilon alone; account for it in rho, or give a delta")

    def loss(self, spend: Number) -> Fraction:
        """The largest pure loss that ``spend`` pays for."""
        return _loss(spend)

    def selection_loss(self, spend: Number) -> Fraction:
        """The largest pure loss of an exponential mechanism that ``spend`` pays for."""
        return _loss(spend)

    def gaussian_variance(self, squared_sensitivity: Number, spend: Number) -> Fraction:
        """Refused: no variance is large enough."""
        return self.cost_of_gaussian(squared_sensitivity, spend)

    def __str__(self) -> str:
        return f"epsilon = {_in_words(self.epsilon)}"


@dataclass(frozen=True)
class ZCDP:
    """Zero-concentrated differential privacy: every Renyi divergence of order a is at most a rho."""

    rho: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", read_rho(self.rho))

    @classmethod
    def within(cls, epsilon: Number, delta: Number) -> ZCDP:
        """The largest rho that is known to imply (epsilon, delta), rounded down to twelve digits."""
        return cls(zcdp_rho(epsilon, delta))

    @property
    def amount(self) -> Fraction:
        """The number that is split and spent."""
        return self.rho

    def with_amount(self, amount: Fraction) -> ZCDP:
        """The same notion with another budget."""
        return ZCDP(amount)

    def epsilon_at(self, delta: Number) -> Fraction:
        """The least epsilon that this rho is known to imply at a delta, rounded up to twelve digits."""
        return zcdp_epsilon(self.rho, delta)

    def delta_at(self, epsilon: Number) -> float:
        """The least delta that this rho is known to imply at an epsilon, rounded up."""
        return zcdp_delta(self.rho, epsilon)

    def cost_of_loss(self, loss: Number) -> Fraction:
        """loss^2 / 2: the log-ratio lies in [-loss, loss], of length w = 2 loss.

        That is for Laplace measurements and whatever else is pure. Permute-and-flip pays it too: its
        log-ratios nearly fill that interval (two equal scores that move apart give loss and -ln(2 - exp(-loss))).
        """
        return _loss(loss) ** 2 / 2

    def cost_of_selection(self, loss: Number) -> Fraction:
        """loss^2 / 8: the log-ratios of the exponential mechanism lie in an interval of length w = loss.

        The log-ratio of a candidate is the rate times the change of its score, minus a number that is the same for
        all. At a rate of loss / (2 sensitivity) the first part lies in [-loss/2, loss/2]; where scores all move the
        same way, at loss / sensitivity, in [0, loss] or in [-loss, 0]. (Dong, Durfee, Rogers, ICML 2020; Cesar,
        Rogers, ALT 2021.)
        """
        return _loss(loss) ** 2 / 8

    def cost_of_gaussian(self, squared_sensitivity: Number, variance: Number) -> Fraction:
        """sensitivity^2 / (2 variance): the divergence of order a of two Gaussians is a times that.

        The same holds for the discrete Gaussian on whole answers (Canonne, Kamath, Steinke, NeurIPS 2020).
        """
        return read_positive(squared_sensitivity, "a squared sensitivity") / (2 * read_positive(variance, "a variance"))

    def loss(self, spend: Number) -> Fraction:
        """The largest pure loss that ``spend`` pays for, sqrt(2 spend), rounded down."""
        return _root(2 * _loss(spend))

    def selection_loss(self, spend: Number) -> Fraction:
        """The largest pure loss of an exponential mechanism that ``spend`` pays for, sqrt(8 spend), rounded down."""
        return _root(8 * _loss(spend))

    def gaussian_variance(self, squared_sensitivity: Number, spend: Number) -> Fraction:
        """The least variance that ``spend`` pays for, sensitivity^2 / (2 spend), exact."""
        return read_positive(squared_sensitivity, "a squared sensitivity") / (2 * _loss(spend))

    def __str__(self) -> str:
        return f"rho = {_in_words(self.rho)} (zCDP)"


Notion = PureDP | ZCDP


def _loss(value: Number) -> Fraction:
    return read_positive(value, "a privacy loss")


def _root(square: Fraction) -> Fraction:
    """The square root: exact where it is rational, otherwise rounded down to at least twelve digits."""
    top, bottom = isqrt(square.numerator), isqrt(square.denominator)
    if top * top == square.numerator and bottom * bottom == square.denominator:
        return Fraction(top, bottom)
    scale = 10**12
    while square * scale * scale < 10**24:
        scale *= 10
    return Fraction(isqrt(int(square * scale * scale)), scale)


def _in_words(amount: Fraction) -> str:
    """A fraction as people write it: 1/200; as a decimal number where that is exact and the fraction is long."""
    if amount.denominator < 10**6:
        return str(amount)
    decimal = Context(prec=28).divide(Decimal(amount.numerator), Decimal(amount.denominator))
    return f"{decimal.normalize():f}" if Fraction(decimal) == amount else str(amount)
