"""Report noisy max with Laplace noise (Dwork, Roth 2014, section 3.3): the argument of the largest noisy score.

Proof. Candidate i wins where its noise exceeds t = max over j of (r s_j + its noise) - r s_i. Keep the others' noise
and go to a neighbour: t moves by no more than the range R, over candidates, of r times the change. A standard Laplace
variate exceeds t + R with a probability of at least exp(-R) times that of exceeding t. So the loss is at most R: r =
e / (2 D), or e / D where scores are monotone. Only the argument comes out; the noisy score beside it would cost
again.

Log-ratios of two outcomes may differ by more than e (by 1.17 e among five candidates of nearly equal score), so zCDP
charges e^2 / 2, not e^2 / 8.

Probabilities. Candidate i wins with probability integral of f(t - r s_i) prod over j != i of F(t - r s_j) dt, which a
kernel computes to a relative 1e-12.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpbench.privacy.mechanisms.exponential import Exponential
from dpbench.privacy.mechanisms.mechanism import by_index

if TYPE_CHECKING:
    from dpbench.privacy.noise import NoiseSource

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NoisyMax(Exponential):
    """One of many candidates: the one with the largest score after Laplace noise."""

    name = "noisy max"
    rho_of_loss = Fraction(1, 2)

    def noise_words(self, level: float) -> str:
        """The scale."""
        return f"Laplace noise of scale {1 / level:g}"

    @property
    def no_exact_draw(self) -> str:
        """On a lattice two noisy scores tie, which continuous noise never does: another law, with another proof."""
        return "its law is that of continuous noise; use permute and flip, which has an exact sampler"

    def draw(self, truth: Floats, level: float, noise: NoiseSource) -> NDArray[np.int64]:
        """The largest noisy score, ``(trials,)``."""
        scores = truth - truth.max(axis=-1, keepdims=True)
        return np.asarray(np.argmax(noise.laplace(scores, 1 / level, truth.shape[-1:]), axis=-1))

    def log_density(self, outcome: NDArray[np.int64], truth: Floats, level: float) -> Floats:
        """Log-probability of the chosen candidate."""
        return by_index(outcome, truth, lambda scores, won: _log_probability(scores, won, 1 / level))

    def rounding(self, one: Floats, other: Floats, level: float, outcome: NDArray[Any] | None = None) -> Floats:
        """Also that of the quadrature."""
        return np.asarray(super().rounding(one, other, level, outcome) + 2e-12)


def _log_probability(scores: Floats, won: int, scale: float) -> float:
    from dpbench.mathematics.kernels.laplace_race import log_passing

    if scores[won] == -np.inf:
        return -np.inf
    others = np.delete(scores, won)
    below, times = np.unique(others[np.isfinite(others)], return_counts=True)
    return float(log_passing(scores[won], scale, below, times.astype(np.float64), np.inf, scale))
