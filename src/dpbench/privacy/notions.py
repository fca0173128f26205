"""Notions of privacy as values: what a budget is counted in, and what it pays a mechanism."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING

from dpbench.errors import InvalidInput, Unsupported
from dpbench.privacy.budget import exact, read_epsilon, root_below
from dpbench.privacy.conversion import gaussian_sigma, read_delta, read_rho, zcdp_rho
from dpbench.privacy.mechanisms import Gaussian, Laplace, Mechanism

if TYPE_CHECKING:
    from dpbench.privacy.asking import Strategy


@dataclass(frozen=True)
class PureDP:
    """epsilon-differential privacy: log-ratios of all outcomes are at most epsilon, and add up over calls."""

    epsilon: Fraction

    name = "pure"
    unit = "epsilon"
    precision_power = 2
    """The precision of noise, one over its variance, grows with this power of the budget."""

    def __str__(self) -> str:
        return f"epsilon {self.epsilon}"

    @property
    def amount(self) -> Fraction:
        """The budget."""
        return self.epsilon

    def portion(self, amount: Fraction) -> PureDP:
        """A part of the budget."""
        return PureDP(amount)

    def as_epsilon(self, amount: Fraction) -> float:
        """Itself."""
        return float(amount)

    def noise_variance(self, strategy: Strategy) -> float:
        """Variance of the noise on each answer of a strategy that the whole budget is spent on."""
        return 2.0 * Laplace(strategy).level(self.epsilon) ** 2

    def loss(self, mechanism: Mechanism, amount: Fraction) -> Fraction:
        """The pure loss that an amount pays for."""
        if not mechanism.pure:
            raise Unsupported(f"{mechanism.name} noise has no pure loss; give delta or rho")
        return amount


@dataclass(frozen=True)
class ZCDP:
    """rho-zero-concentrated differential privacy: Renyi divergences of every order a are at most a rho."""

    rho: Fraction
    stated: tuple[Fraction, Fraction] | None = None
    """The (epsilon, delta) that rho was derived from."""
    one_measurement: bool = False
    """Whether ``stated`` holds by the exact formula of a single Gaussian measurement, and for nothing else."""

    name = "zCDP"
    unit = "rho"
    precision_power = 1

    def __str__(self) -> str:
        if self.stated is None:
            return f"rho {float(self.rho):.6g} (zCDP)"
        epsilon, delta = map(float, self.stated)
        how = "one Gaussian measurement, exactly" if self.one_measurement else "zCDP"
        return f"epsilon {epsilon:g}, delta {delta:g} ({how}; rho {float(self.rho):.6g})"

    @property
    def amount(self) -> Fraction:
        """The budget."""
        return self.rho

    def portion(self, amount: Fraction) -> ZCDP:
        """A part of the budget; what was stated of the whole goes with the whole alone."""
        return replace(self, rho=amount, stated=self.stated if amount == self.rho else None)

    def as_epsilon(self, amount: Fraction) -> float:
        """Laplace noise of 2 / epsilon^2 has the variance of Gaussian noise, 1 / (2 rho)."""
        return 2.0 * sqrt(amount)

    def noise_variance(self, strategy: Strategy) -> float:
        """Variance of the noise on each answer of a strategy that the whole budget is spent on."""
        return Gaussian(strategy).level(self.rho) ** 2

    def loss(self, mechanism: Mechanism, amount: Fraction) -> Fraction:
        """The pure loss that an amount pays for, rounded down; of what has none, the amount itself."""
        return amount if not mechanism.pure else root_below(amount / mechanism.rho_of_loss)


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
    stated = budget, read_delta(delta)
    if one_measurement:
        return ZCDP(1 / (2 * gaussian_sigma(*stated) ** 2), stated, one_measurement=True)
    return ZCDP(zcdp_rho(*stated), stated)
