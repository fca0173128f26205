"""Above-threshold: the first of many queries whose noisy answer is above a noisy threshold, for one price.

The variant is Algorithm 1 of Lyu, Su, Li (PVLDB 2017) for one positive answer: Dwork and Roth's AboveThreshold with
the loss divided between threshold and answers so that the comparison is least noisy. Every query has noise of its
own, the threshold is drawn once, the sequence ends at the first answer above it, and nothing but its index comes out.

Proof. The threshold T has Laplace noise z of scale b, an answer q_i noise of scale c; D bounds the change of any
answer. The first k answers are below T + z and the next is not: P(k) = integral over z of f(z) prod over i < k of
P(q_i + noise < T + z), times P(q_k + noise >= T + z). Put z + D in place of z for the neighbour. Each of the first k
factors only grows, since no q_i' is above q_i + D; f falls by at most exp(D / b); the last factor falls by at most
exp(2 D / c), since its bar rises by D and q_k may fall by D. So the loss is at most D / b + 2 D / c, and D / b where
no query is above. Where answers are monotone, either none falls (the last bar rises by D at most: D / b + D / c) or
none rises (z stays as it is: D / c). How many queries there are never enters. With a share w of the loss e for the
threshold, b = D / (w e) and c = 2 D / ((1 - w) e), or D / ((1 - w) e) for monotone answers. The noise of a comparison
is least at w = 1 / (1 + 2^(2/3)), or 1/2.

An outcome may lose e where another gains, so log-ratios of two outcomes differ by more than e: zCDP charges e^2 / 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpbench.privacy.budget import noise_scale
from dpbench.privacy.mechanisms.laplace import inexact
from dpbench.privacy.mechanisms.mechanism import Mechanism, by_index, claimed, shape_refusal

if TYPE_CHECKING:
    from dpbench.privacy.noise import NoiseSource
    from dpbench.privacy.protocols import Queries, Statistic

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AboveThreshold(Mechanism):
    """Index of the first query above the threshold, or the number of queries where none is."""

    queries: Queries

    name = "above threshold"

    @cached_property
    def claim(self) -> Fraction:
        """Largest change of any answer."""
        return claimed(self.queries.sensitivity, f"the sensitivity of {self.label}")

    @property
    def statistic(self) -> Statistic | None:
        """What the queries ask to be shown."""
        return getattr(self.queries, "statistic", None)

    @property
    def label(self) -> str:
        """The name of the queries."""
        return type(self.queries).__name__

    @cached_property
    def monotone(self) -> bool:
        """Whether answers are monotone, as the queries say it first."""
        return bool(self.queries.monotone)

    @property
    def share(self) -> float:
        """Share of the loss that pays for the threshold."""
        return 0.5 if self.monotone else 1 / (1 + 2 ** (2 / 3))

    def scales(self, level: float) -> tuple[float, float]:
        """Noise scales of the threshold and of the answers."""
        return 1 / (self.share * level), (1 if self.monotone else 2) / ((1 - self.share) * level)

    def public(self) -> tuple[object, ...]:
        """Claim, kind and threshold; how many queries there are shows in the truth."""
        threshold = np.asarray(self.queries.threshold, dtype=np.float64)
        return self.claim, self.monotone, tuple(threshold.reshape(-1).tolist())

    def truth(self, counts: Any) -> Floats:
        """How far each answer is above its threshold, ``(queries,)`` or ``(trials, queries)``."""
        return np.asarray(np.asarray(self.queries.answers(counts), dtype=np.float64) - self.queries.threshold)

    def refusal(self, truth: Floats, trials: int) -> str:
        """No query, a wrong shape, answers that are not finite, or so large that their rounding matters."""
        if truth.ndim == 0 or not truth.shape[-1]:
            return "asks no query; ask at least one"
        return shape_refusal(truth, truth.shape[-1:], trials) or inexact(truth, 0, self.claim)

    def level(self, loss: Fraction) -> float:
        """Loss per unit of change, rounded down so far that neither scale is rounded below what is paid for."""
        return (1 - 2.0**-50) / noise_scale(self.claim, loss)

    def noise_words(self, level: float) -> str:
        """Both scales."""
        threshold, answer = self.scales(level)
        return f"Laplace noise of scale {threshold:g} on the threshold and {answer:g} on answers"

    @property
    def no_exact_draw(self) -> str:
        """On a lattice answers tie with the threshold, and its best share of the loss is irrational."""
        return "its law is that of continuous noise, and its shares of the loss are no fractions"

    def draw(self, truth: Floats, level: float, noise: NoiseSource) -> NDArray[np.int64]:
        """``(trials,)``; all noise is drawn, so that the length of a sequence is not in the stream."""
        threshold, answer = self.scales(level)
        bar = noise.laplace(np.zeros(()), threshold, ())
        above = noise.laplace(truth, answer, truth.shape[-1:]) >= bar[:, None]
        return np.asarray(np.where(above.any(axis=1), above.argmax(axis=1), truth.shape[-1]))

    def log_density(self, outcome: NDArray[np.int64], truth: Floats, level: float) -> Floats:
        """Log-probability of each index, to a relative 1e-12."""
        scales = self.scales(level)
        return by_index(outcome, truth, lambda answers, first: _log_probability(answers, first, *scales))

    def largest_loss(self, one: Floats, other: Floats, level: float) -> float:
        """The proof's bound with the changes at hand, over outcomes and both directions; approached, not attained.

        Let the first k answers rise by at most d >= 0. Index k loses at most d / b + max(0, d + the fall of q_k) / c,
        and no index at all d / b with the d of all answers.
        """
        threshold, answer = self.scales(level)
        losses = []
        for change in (other - one, one - other):
            highest = np.maximum.accumulate(np.maximum(change, 0.0), axis=-1)
            before = np.concatenate([np.zeros((*change.shape[:-1], 1)), highest], axis=-1)
            found = before[..., :-1] / threshold + np.maximum(before[..., :-1] - change, 0.0) / answer
            losses += [found.max(), before[..., -1].max() / threshold]
        return float(max(losses))

    def rounding(self, one: Floats, other: Floats, level: float, outcome: NDArray[Any] | None = None) -> Floats:
        """The largest answer, times a few units in the last place, and the quadrature."""
        del other, outcome
        return np.asarray(np.abs(one).max(axis=-1) * level * 2.0**-48 + 2e-12)


def _log_probability(answers: Floats, first: int, threshold: float, answer: float) -> float:
    from dpbench.mathematics.kernels.laplace_race import log_passing

    if not 0 <= first <= len(answers):
        return -np.inf
    below, times = np.unique(answers[:first], return_counts=True)
    above = answers[first] if first < len(answers) else np.inf
    return float(log_passing(0.0, threshold, below, times.astype(np.float64), above, answer))
