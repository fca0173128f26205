"""Two notions of privacy as values, each with one exact number that is split, spent and added up.

*Pure DP*: one record changes the chance of any outcome by a factor of at most exp(epsilon). *zCDP* (Bun, Steinke, TCC
2016): for every order a > 1 one record makes a Renyi divergence of at most a rho. Both amounts add up over calls.

What a call costs of rho follows from one lemma. Let L be the logarithm of the ratio of an outcome's chances with and
without a record, and let L lie in an interval of length w. Then the call costs **rho = w^2 / 8**.

Proof. K(a) = ln E exp(a L), the mean taken without the record, has K(0) = K(1) = 0, and K''(a) is the variance of L
under a reweighted law: a number in an interval of length w has a variance of at most w^2 / 4. So the function
K(a) - a (a - 1) w^2 / 8 is concave and vanishes at 0 and at 1; beyond 1 it is at most 0. The divergence of order a is
K(a) / (a - 1), hence at most a w^2 / 8.

A mechanism of pure loss e has log-ratios in [-e, e], so it costs e^2 / 2; a selection by the exponential mechanism has
them in an interval of length e, and costs e^2 / 8. Which of the two a mechanism is it says itself (``rho_of_loss``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING

from dpbench.errors import InvalidInput, Unsupported
from dpbench.given import of_kind
from dpbench.privacy.budget import Number, exact, read_epsilon, root_below
from dpbench.privacy.conversion import gaussian_sigma, read_delta, read_rho, zcdp_delta, zcdp_epsilon, zcdp_rho
from dpbench.privacy.mechanisms import Gaussian, Laplace, Mechanism

if TYPE_CHECKING:
    from dpbench.privacy.protocols import Strategy


@dataclass(frozen=True, slots=True)
class PureDP:
    """Pure differential privacy: the logarithm of the ratio of chances is at most epsilon, either way."""

    epsilon: Fraction

    name = "pure"
    unit = "epsilon"
    precision_power = 2
    """The precision of noise, one over its variance, grows with this power of the budget."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", read_epsilon(self.epsilon))

    def __str__(self) -> str:
        return f"epsilon {short(self.epsilon)}"

    @property
    def amount(self) -> Fraction:
        """The number that is split and spent."""
        return self.epsilon

    def _portion(self, amount: Fraction) -> PureDP:
        """A part of the budget."""
        return PureDP(amount)

    def _loss(self, mechanism: Mechanism | type[Mechanism], amount: Fraction) -> Fraction:
        """The pure loss that an amount pays for."""
        if not mechanism.pure:
            raise Unsupported(f"{mechanism.name} noise has no pure loss; give a delta, or rho")
        return amount

    def _cost(self, mechanism: Mechanism | type[Mechanism], loss: Fraction) -> Fraction:
        """What a mechanism of that loss costs."""
        return self._loss(mechanism, loss)

    def _as_epsilon(self, amount: Fraction, parts: int = 1) -> float:
        """Itself, into however many parts it is divided."""
        del parts
        return float(amount)

    def _noise_variance(self, strategy: Strategy) -> float:
        """Variance of the noise on each answer of a strategy that the whole budget is spent on."""
        return 2.0 * Laplace(strategy).level(self.epsilon) ** 2


@dataclass(frozen=True, slots=True)
class ZCDP:
    """Zero-concentrated differential privacy: every Renyi divergence of order a is at most a rho."""

    rho: Fraction
    stated: tuple[Fraction, Fraction] | None = None
    """The (epsilon, delta) that rho was derived from."""
    one_measurement: bool = False
    """Whether ``stated`` holds by the exact formula of a single Gaussian measurement, and for nothing else."""

    name = "zCDP"
    unit = "rho"
    precision_power = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", read_rho(self.rho))

    @classmethod
    def within(cls, epsilon: Number, delta: Number) -> ZCDP:
        """The largest rho that is known to imply (epsilon, delta), rounded down to twelve digits."""
        return cls(zcdp_rho(epsilon, delta), (read_epsilon(epsilon), read_delta(delta)))

    @classmethod
    def of_one_measurement(cls, epsilon: Number, delta: Number) -> ZCDP:
        """What one Gaussian measurement may spend that is (epsilon, delta)-private by the exact formula.

        The formula is for noise from the real line; a release on whole numbers has to use :meth:`within`.
        """
        rho = 1 / (2 * gaussian_sigma(epsilon, delta) ** 2)
        return cls(rho, (read_epsilon(epsilon), read_delta(delta)), one_measurement=True)

    def __str__(self) -> str:
        if self.stated is None:
            return f"rho {short(self.rho)} (zCDP)"
        epsilon, delta = map(float, self.stated)
        how = "one Gaussian measurement, exactly" if self.one_measurement else "zCDP"
        return f"epsilon {epsilon:g}, delta {delta:g} ({how}; rho {short(self.rho)})"

    @property
    def amount(self) -> Fraction:
        """The number that is split and spent."""
        return self.rho

    def _portion(self, amount: Fraction) -> ZCDP:
        """A part of the budget; what was stated of the whole goes with the whole alone."""
        return replace(self, rho=amount, stated=self.stated if amount == self.rho else None)

    def epsilon_at(self, delta: Number) -> Fraction:
        """The least epsilon that this rho is known to imply at a delta, rounded up to twelve digits."""
        return zcdp_epsilon(self.rho, delta)

    def delta_at(self, epsilon: Number) -> float:
        """The least delta that this rho is known to imply at an epsilon, rounded up."""
        return zcdp_delta(self.rho, epsilon)

    def _loss(self, mechanism: Mechanism | type[Mechanism], amount: Fraction) -> Fraction:
        """The pure loss that an amount pays for, rounded down; of what has none, the amount itself."""
        return amount if not mechanism.pure else root_below(amount / mechanism.rho_of_loss)

    def _cost(self, mechanism: Mechanism | type[Mechanism], loss: Fraction) -> Fraction:
        """What a mechanism of that loss costs; of what has no pure loss, its rho."""
        return loss if not mechanism.pure else mechanism.rho_of_loss * loss**2

    def _as_epsilon(self, amount: Fraction, parts: int = 1) -> float:
        """Laplace noise of 2 (parts / epsilon)^2 has the variance of Gaussian noise, parts / (2 rho)."""
        return 2.0 * sqrt(amount * parts)

    def _noise_variance(self, strategy: Strategy) -> float:
        """Variance of the noise on each answer of a strategy that the whole budget is spent on."""
        return Gaussian(strategy).level(self.rho) ** 2


Notion = PureDP | ZCDP


def read_budget(epsilon: object, delta: object, rho: object, *, one_measurement: bool) -> Notion:
    """The budget that a user names: epsilon; epsilon and delta; or rho.

    For an algorithm of one Gaussian measurement (epsilon, delta) means the exact formula, and rho is what its noise
    implies. For any other it is the largest rho whose conversion is within (epsilon, delta).
    """
    if rho is not None:
        if epsilon is not None or delta is not None:
            raise InvalidInput("rho was given together with epsilon or delta; give rho alone, or epsilon and delta")
        return ZCDP(read_rho(rho))
    budget = read_epsilon(epsilon)
    if delta is None or exact(delta, "delta") == 0:
        return PureDP(budget)
    exactly = of_kind(one_measurement, bool, "one_measurement", "True")
    return (ZCDP.of_one_measurement if exactly else ZCDP.within)(budget, read_delta(delta))


def short(amount: Fraction) -> str:
    """A fraction as it is where a reader can take it in, else six digits of it."""
    return str(amount) if amount.denominator < 10**6 else f"{float(amount):.6g}"
