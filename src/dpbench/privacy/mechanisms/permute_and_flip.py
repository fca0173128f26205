"""Permute-and-flip (McKenna, Sheldon: NeurIPS 2020), drawn as the largest of scores with exponential noise.

Proof. Candidate i wins where its noise exceeds t = max over j of (r s_j + its noise) - r s_i. Keep the others' noise
and go to a neighbour: t moves by no more than the range R, over candidates, of r times the change. An exponential
variate exceeds t + R with a probability of at least exp(-R) times that of exceeding t. So the loss is at most R: as
for the exponential mechanism, r = e / (2 D), or e / D where scores are monotone. By their theorem its expected regret
is never larger, and may be half of it.

Where a record moves two equal candidates apart by R, the loss is R for one and -log(2 - exp(-R)) for the other:
log-ratios of two outcomes differ by more than e, so zCDP charges e^2 / 2, not e^2 / 8.

Probabilities. Given that the winner's noise reaches the level v = exp(-t) in (0, 1), every other candidate stays
below with probability 1 - p_j v, where p_j = exp(-r (best score - s_j)): candidate i wins with probability p_i times
the integral over v of prod over j != i of (1 - p_j v).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpbench.privacy.mechanisms.exponential import Exponential

if TYPE_CHECKING:
    from dpbench.privacy.exact_noise import ExactNoise, Scores
    from dpbench.privacy.noise import NoiseSource

Floats = NDArray[np.float64]

STEP = 8.0
"""Nats that the product falls by within a panel of the quadrature."""
PANELS = 8
"""As many of these, and one more for what is left."""


@dataclass(frozen=True, eq=False)
class PermuteAndFlip(Exponential):
    """One of many candidates, a high score preferred; never worse than the exponential mechanism."""

    name = "permute and flip"
    rho_of_loss = Fraction(1, 2)

    def draw(self, truth: Floats, level: float, noise: NoiseSource) -> NDArray[np.int64]:
        """The largest score after exponential noise, ``(trials,)``."""
        scores = truth - truth.max(axis=-1, keepdims=True)
        return np.asarray(np.argmax(scores * level + noise.exponential(truth.shape[-1:]), axis=-1))

    def select_exactly(
        self, noise: ExactNoise, scores: Scores, starts: NDArray[np.int64], rate: Fraction
    ) -> NDArray[np.int64]:
        """By coins in random order, as published; it has the law of the largest score after exponential noise."""
        return noise.permute_and_flip_each(scores, starts, rate)

    def log_density(self, outcome: NDArray[np.int64], truth: Floats, level: float) -> Floats:
        """Log-probability of the chosen candidate."""
        logits = (truth - truth.max(axis=-1, keepdims=True)) * level
        if truth.ndim == 1:
            return np.asarray(log_probabilities(logits)[outcome], dtype=np.float64)
        rows = np.broadcast_to(logits, (len(outcome), logits.shape[-1]))
        return np.array([log_probabilities(row)[won] for row, won in zip(rows, outcome, strict=True)])

    def rounding(self, one: Floats, other: Floats, level: float, outcome: NDArray[Any] | None = None) -> Floats:
        """Also that of a sum of as many logarithms as there are candidates."""
        return np.asarray(super().rounding(one, other, level, outcome) + (64 + one.shape[-1]) * 2.0**-50)


def log_probabilities(logits: Floats) -> Floats:
    """Log-probability of each candidate, ``(candidates,)``; logits are at most 0, and one of them is 0.

    In w = 1 - v all factors 1 - p_j v = (1 - p_j) + p_j w are sums of positive numbers, so nothing cancels. Their
    product is a polynomial whose roots are 0 or negative; it is integrated panel by panel, each as wide as the product
    falls by ``STEP`` nats. On a panel's Bernstein ellipse of 10 it grows by at most exp(17) over the panel's largest
    value, so that 16 nodes leave a relative error below 1e-20; what is seen is rounding, below 1e-15 per candidate.
    """
    values, place, times = np.unique(logits, return_inverse=True, return_counts=True)
    share, rest = np.exp(values), -np.expm1(values)
    nodes, weights = np.polynomial.legendre.leggauss(16)
    edges = np.exp(-np.concatenate([[0.0], _falls(share, rest, times), [np.inf]]))
    half = np.asarray((edges[:-1] - edges[1:]) / 2)
    at = (edges[1:, None] + half[:, None] * (1 + nodes)).reshape(-1)
    factors = np.log(rest + share * at[:, None])
    logs = (factors @ times)[:, None] - factors + np.log((half[:, None] * weights).reshape(-1))[:, None]
    top = logs.max(axis=0)
    return np.asarray((values + top + np.log(np.exp(logs - top).sum(axis=0)))[place])


def _falls(share: Floats, rest: Floats, times: NDArray[np.int64]) -> Floats:
    """Where the product has fallen by ``STEP``, twice that, ... nats, as -log w; by bisection, roughly."""
    wanted = -STEP * np.arange(1, PANELS + 1)
    low, high = np.zeros(PANELS), STEP * np.arange(1, PANELS + 1)  # the best candidate alone falls so fast
    for _ in range(24):
        middle = (low + high) / 2
        above = np.log(rest + share * np.exp(-middle)[:, None]) @ times > wanted
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.asarray(high, dtype=np.float64)
