"""Gaussian noise by L2 sensitivity, accounted in zCDP (Bun, Steinke: TCC 2016).

Proof. Two normal distributions of standard deviation s whose means are d apart have a Renyi divergence of order a of
a d^2 / (2 s^2): d^2 / (2 s^2) of rho. With s^2 = D^2 / (2 rho) no two neighbours cost more than rho. There is no pure
loss: far out in the tail the log-ratio grows without bound.

Discrete Gaussian noise on whole answers, of the same variance as a parameter, costs the same rho (Canonne, Kamath,
Steinke: NeurIPS 2020, theorem 14), and what ``draw_exactly`` draws is paid for by rho. Weighted answers are units u_i
times whole numbers k_i: noise of variance D^2 / (2 rho u_i^2) on each costs the sum of u_i^2 |k_i(x) - k_i(x')|^2
times rho / D^2, hence rho. The exact formula for
(epsilon, delta) is for noise from the real line: what is drawn exactly may not state it, and takes the rho of
``ZCDP.within``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpbench.privacy.budget import root_above
from dpbench.privacy.mechanisms.laplace import Laplace, per_trial
from dpbench.privacy.mechanisms.mechanism import claimed

if TYPE_CHECKING:
    from dpbench.privacy.exact_noise import ExactNoise
    from dpbench.privacy.noise import NoiseSource

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Gaussian(Laplace):
    """The answers of a strategy with Gaussian noise in proportion to its L2 sensitivity."""

    name = "gaussian"
    pure = False
    rho_of_loss = Fraction(0)

    @cached_property
    def squared_claim(self) -> Fraction:
        """Largest squared L2 change of the answers; the squared L1 change where the strategy knows no better."""
        squared = getattr(self.strategy, "squared_l2_sensitivity", None)
        if squared is None:
            return claimed(self.strategy.sensitivity, f"the sensitivity of {self.label}") ** 2
        return claimed(squared, f"the squared L2 sensitivity of {self.label}")

    @cached_property
    def claim(self) -> Fraction:
        """Largest L2 change of the answers, rounded up."""
        return Fraction(root_above(self.squared_claim))

    def public(self) -> tuple[object, ...]:
        """Squared claim and shape."""
        return self.squared_claim, self.shape

    def level(self, loss: Fraction) -> float:
        """The standard deviation, rounded up; ``loss`` is rho."""
        return root_above(self.squared_claim / (2 * loss))

    def noise_words(self, level: float) -> str:
        """The standard deviation."""
        return f"Gaussian noise of standard deviation {level:g}"

    def draw(self, truth: Floats, level: float, noise: NoiseSource) -> Floats:
        """The truth plus noise, ``(trials, *shape)``."""
        return noise.gaussian(truth, level, self.shape)

    def _discrete(self, loss: Fraction, unit: Fraction, many: int, noise: ExactNoise) -> NDArray[np.int64]:
        """Discrete Gaussian noise of the exact variance; ``loss`` is rho."""
        return noise.discrete_gaussian(self.squared_claim / (2 * loss * unit**2), many)

    def log_density(self, outcome: Floats, truth: Floats, level: float) -> Floats:
        """Sum over answers of -(o - f(x))^2 / (2 s^2) - log(s sqrt(2 pi))."""
        constant = np.log(level * np.sqrt(2 * np.pi)) * outcome[0].size
        return np.asarray(-per_trial((outcome - truth) ** 2, len(self.shape)) / (2 * level**2) - constant)

    def log_ratio(self, outcome: Floats, one: Floats, other: Floats, level: float) -> Floats:
        """Sum over answers of (f(x) - f(x')) (o - (f(x) + f(x')) / 2) / s^2."""
        return per_trial((one - other) * (outcome - (one + other) / 2), len(self.shape)) / level**2

    def largest_loss(self, one: Floats, other: Floats, level: float) -> float:
        """Without bound, unless the truths are the same."""
        del level
        return 0.0 if np.array_equal(one, other) else float("inf")

    def divergence(self, one: Floats, other: Floats, level: float) -> float:
        """The squared L2 distance over twice the variance."""
        return float(per_trial((one - other) ** 2, len(self.shape)).max()) / (2 * level**2)

    def rounding(self, one: Floats, other: Floats, level: float, outcome: Floats | None = None) -> Floats:
        """The squared size of everything that is subtracted, times a few units in the last place."""
        size = np.abs(one) + np.abs(other) + (0.0 if outcome is None else np.abs(outcome))
        moved = np.abs(one - other) + size * 2.0**-52
        return per_trial(size * moved, len(self.shape)) / level**2 * 2.0**-50
