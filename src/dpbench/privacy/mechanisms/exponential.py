"""The exponential mechanism (McSherry, Talwar: FOCS 2007), drawn by the inverse of its distribution.

Proof. Candidate i is chosen with probability proportional to exp(r s_i(x)). Between neighbours the exponent of every
candidate moves by r times its score's change; the logarithm of the normalising sum moves by no less than the least
and no more than the largest of these. So log-ratios lie within an interval as long as the range, over candidates, of
r times the change, which also bounds each. Scores that move by at most D have a range of at most 2 D, and of at most
D where a record never moves two scores in opposite directions (monotone): r = e / (2 D) or e / D spends e. Since log-
ratios of two outcomes never differ by more than e, zCDP charges e^2 / 8 (Cesar, Rogers: ALT 2021).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpbench.privacy.budget import noise_scale
from dpbench.privacy.mechanisms.mechanism import WHOLE, Mechanism, claimed, lattice_of, multiples, shape_refusal

if TYPE_CHECKING:
    from dpbench.privacy.exact_noise import ExactNoise, Scores
    from dpbench.privacy.noise import NoiseSource
    from dpbench.privacy.protocols import Score, Statistic

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Exponential(Mechanism):
    """One of many candidates, a high score preferred."""

    asker: Score

    name = "choose"
    rho_of_loss = Fraction(1, 8)

    @cached_property
    def claim(self) -> Fraction:
        """Largest change of any candidate's score."""
        return claimed(self.asker.sensitivity, f"the sensitivity of {self.label}")

    @cached_property
    def monotone(self) -> bool:
        """Whether scores are monotone, as the score says it first."""
        return bool(self.asker.monotone)

    @property
    def reach(self) -> Fraction:
        """What is paid for: the largest range, over candidates, of the change of their scores."""
        return self.claim if self.monotone else 2 * self.claim

    @property
    def statistic(self) -> Statistic | None:
        """What the score asks to be shown."""
        return getattr(self.asker, "statistic", None)

    @property
    def label(self) -> str:
        """The name of the score."""
        return type(self.asker).__name__

    def public(self) -> tuple[object, ...]:
        """Claim and kind of score; how many candidates there are shows in the truth, see :meth:`differs`."""
        return self.claim, self.monotone

    def truth(self, counts: Any) -> Floats:
        """Scores, ``(candidates,)`` or ``(trials, candidates)``."""
        return np.asarray(self.asker.score(counts), dtype=np.float64)

    def starts(self, truth: Floats) -> NDArray[np.int64]:
        """Where each group of candidates begins, and where the last one ends; here all are one group."""
        return np.array([0, truth.shape[-1]], dtype=np.int64)

    def refusal(self, truth: Floats, trials: int) -> str:
        """A wrong shape, a group without candidates, or scores that are no numbers."""
        if truth.ndim == 0:
            return "scores no candidate; score at least one"
        if not self.all_groups_have_candidates(truth.shape[-1]):
            return "has a group without candidates; each needs at least one"
        return shape_refusal(truth, truth.shape[-1:], trials) or self._not_numbers(truth)

    def all_groups_have_candidates(self, candidates: int) -> bool:
        """Whether every group has one, of so many in all."""
        return candidates > 0

    def _not_numbers(self, truth: Floats) -> str:
        """Why scores cannot be trusted to move by their claim alone; -inf forbids a candidate, never all of a group."""
        from dpbench.mathematics.kernels.selection import any_nan, extremes

        flat = np.ascontiguousarray(truth).reshape(-1)
        lowest, highest, forbidden = (np.nan,) * 3 if any_nan(flat) else extremes(flat)
        quarter = float(self.claim) / 4
        exact = max(abs(highest), abs(lowest)) * 2.0**-52 <= quarter  # NaN is never at most anything
        if exact and not forbidden:
            return ""
        best = np.maximum.reduceat(truth, self.starts(truth)[:-1], axis=-1)
        if not np.isfinite(highest) or not np.isfinite(best).all():
            return "allows no candidate, or scores one as NaN or infinity; score at least one above -inf"
        if exact:
            return ""
        finite = np.abs(truth[np.isfinite(truth)])
        halves = 2 * finite  # whole numbers and medians of them are exact up to here
        if halves.max() <= WHOLE and (halves == np.rint(halves)).all():
            return ""
        return "has scores so large that rounding may move them by more than a quarter of the claim"

    def level(self, loss: Fraction) -> float:
        """Nats per unit of score, rounded down."""
        return 1.0 / noise_scale(self.reach, loss)

    def draw(self, truth: Floats, level: float, noise: NoiseSource) -> NDArray[np.int64]:
        """The first candidate whose running sum of weights exceeds a uniform share of the whole, ``(trials,)``.

        The best score is subtracted before scaling: nothing overflows, and the whole is at least 1. A uniform draw is
        below 1, so its share is below the whole, rounded too; a candidate of weight 0 adds nothing and is never found.
        Rounding moves the probability of any set of candidates by less than their number times 2^-49.
        """
        from dpbench.mathematics.kernels.selection import select

        uniform = noise.uniform(())
        chosen = np.empty(len(uniform), dtype=np.int64)
        select(np.ascontiguousarray(np.atleast_2d(truth)), level, uniform, chosen)
        return chosen

    @property
    def no_exact_draw(self) -> str:
        """Scores on a lattice alone: rounding moves others by more than their claim."""
        return "" if lattice_of(self.asker) else f"scores of {self.label} are not known to lie on a lattice"

    def draw_exactly(self, truth: Floats, loss: Fraction, noise: ExactNoise) -> NDArray[np.int64]:
        """The same law by accepted candidates; the rate per unit of score is exact. ``()``, or ``(groups,)``."""
        step = lattice_of(self.asker)
        if self.no_exact_draw or step is None:
            return super().draw_exactly(truth, loss, noise)
        scores = truth.reshape(-1)
        allowed = np.flatnonzero(scores > -np.inf)
        starts = self.starts(scores)
        among = np.searchsorted(allowed, starts)  # where each group begins among the candidates that are allowed
        won = self.select_exactly(noise, multiples(scores[allowed], step, self.label), among, loss * step / self.reach)
        return np.asarray(allowed[among[:-1] + won] - starts[:-1]).reshape(self.outcome_shape)

    def select_exactly(
        self, noise: ExactNoise, scores: Scores, starts: NDArray[np.int64], rate: Fraction
    ) -> NDArray[np.int64]:
        """A candidate of every group from exact scores."""
        return noise.choose_each(scores, starts, rate)

    @property
    def outcome_shape(self) -> tuple[int, ...]:
        """Shape of one trial's outcome."""
        return ()

    def log_density(self, outcome: NDArray[np.int64], truth: Floats, level: float) -> Floats:
        """Sum over groups of the log-probability of the chosen candidate."""
        trials, starts = len(outcome), self.starts(truth)
        scores = np.broadcast_to(truth, (trials, truth.shape[-1]))
        sizes = np.diff(starts)
        best = np.maximum.reduceat(scores, starts[:-1], axis=1)
        logits = (scores - np.repeat(best, sizes, axis=1)) * level
        total = np.log(np.add.reduceat(np.exp(logits), starts[:-1], axis=1))
        chosen = starts[:-1] + outcome.reshape(trials, -1)
        return np.asarray((logits[np.arange(trials)[:, None], chosen] - total).sum(axis=1))

    def largest_loss(self, one: Floats, other: Floats, level: float) -> float:
        """The range over candidates of the change of the exponent; of groups, the sum of their ranges."""
        with np.errstate(invalid="ignore"):  # candidates that both forbid
            change = np.where(one == other, 0.0, one - other)
        starts = self.starts(one)[:-1]
        ranges = np.maximum.reduceat(change, starts, axis=-1) - np.minimum.reduceat(change, starts, axis=-1)
        return float(ranges.sum(axis=-1).max()) * level

    def rounding(self, one: Floats, other: Floats, level: float, outcome: NDArray[Any] | None = None) -> Floats:
        """The largest score, times a few units in the last place."""
        del other, outcome
        size = np.where(np.isfinite(one), np.abs(one), 0.0).max(axis=-1)
        return np.asarray(size * level * 2.0**-48 * (len(self.starts(one)) - 1))


@dataclass(frozen=True, eq=False)
class GumbelMax(Exponential):
    """The same law by a Gumbel draw per candidate, for published forms: so their results in the study stay."""

    def draw(self, truth: Floats, level: float, noise: NoiseSource) -> NDArray[np.int64]:
        """The largest score after Gumbel noise, ``(trials,)``; the best is subtracted, so nothing overflows."""
        scores = truth - truth.max(axis=-1, keepdims=True)
        return np.asarray(np.argmax(scores * level + noise.gumbel(truth.shape[-1:]), axis=-1))
