"""A partition of the line into intervals that cost little in all, sampled exactly.

Proof. The exponential mechanism over all allowed partitions B, with probability proportional to exp(-r (total cost of
B) - penalty |B|) and r = e / (2 D), spends e: the penalty is public, and a record moves the total cost of every
partition by at most D, so it moves each exponent by at most e / 2, and the logarithm of the normalising sum by as
much. The draw is exact: F(e), the sum over all partitions of [0, e), follows by dynamic programming, and going back
from n each interval is drawn from its exact conditional probability. So is every outcome's probability.

A release draws it in whole numbers (:mod:`dpbench.privacy.exact_partition`), where the costs are whole but for what is
public: those that say ``whole`` and ``surcharges``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpbench.privacy.budget import noise_scale
from dpbench.privacy.mechanisms.mechanism import Mechanism, claimed

if TYPE_CHECKING:
    from dpbench.privacy.exact_noise import ExactNoise
    from dpbench.privacy.noise import NoiseSource
    from dpbench.privacy.protocols import PartitionCost, Statistic

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Partition(Mechanism):
    """Cuts of the line, True at each of ``n + 1`` places where one interval ends and the next begins."""

    asker: PartitionCost
    cells: int
    """Length of the line."""

    name = "partition"
    rho_of_loss = Fraction(1, 8)

    @cached_property
    def claim(self) -> Fraction:
        """Largest change of the total cost of any partition."""
        return claimed(self.asker.sensitivity, f"the sensitivity of {self.label}")

    @property
    def statistic(self) -> Statistic | None:
        """What the cost asks to be shown."""
        return getattr(self.asker, "statistic", None)

    @property
    def label(self) -> str:
        """The name of the cost."""
        return type(self.asker).__name__

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """Lengths that an interval may have."""
        return tuple(int(length) for length in self.asker.lengths)

    def public(self) -> tuple[object, ...]:
        """Claim, allowed lengths, penalty and number of cells."""
        return self.claim, self.lengths, float(self.asker.penalty), self.cells

    def truth(self, counts: Any) -> Floats:
        """Costs ``(lengths, n + 1)``."""
        return np.asarray(self.asker.cost(counts), dtype=np.float64)

    def refusal(self, truth: Floats, trials: int) -> str:
        """A wrong shape, or costs that are no numbers."""
        del trials
        wanted = (len(self.lengths), self.cells + 1)
        if truth.shape != wanted or self.lengths[:1] != (1,):
            return f"gave costs of another shape than {wanted}, or does not allow length 1; give costs of that shape"
        lowest = float(truth.min())  # NaN if there is one
        if not lowest > -np.inf and not (truth[self._inside] > -np.inf).all():  # NaN is not above anything
            return "has a cost of NaN or minus infinity; a cost is a number, or infinity where it forbids"
        highest = float(np.max(truth, initial=0.0, where=truth < np.inf))
        if max(highest, -lowest) * 2.0**-52 <= float(self.claim) / 4:  # the usual case
            return ""
        if float(np.abs(truth[self._finite(truth)]).max(initial=0.0)) * 2.0**-52 > float(self.claim) / 4:
            return "has costs so large that rounding may move them by more than a quarter of the claim"
        return ""

    def level(self, loss: Fraction) -> float:
        """Nats per unit of cost, rounded down."""
        return 1.0 / noise_scale(2 * self.claim, loss)

    @property
    def no_exact_draw(self) -> str:
        """Costs that are whole numbers alone: of others the last bit is in doubt."""
        return "" if hasattr(self.asker, "whole") else f"costs of {self.label} are not known to be whole numbers"

    def exact_truth(self, counts: Any) -> NDArray[np.int64]:
        """Costs in whole numbers, without what is public of them; -1 forbids."""
        return np.asarray(self.asker.whole(counts), dtype=np.int64)  # type: ignore[attr-defined]

    def draw_exactly(self, truth: NDArray[np.int64], loss: Fraction, noise: ExactNoise) -> NDArray[np.bool_]:
        """The same law but for a rounding that the loss includes, ``(n + 1,)``."""
        if self.no_exact_draw:
            return super().draw_exactly(truth, loss, noise)
        from dpbench.privacy.exact_partition import ExactPartition

        # any positive number is a public price; that this one is rounded concerns nobody
        nats = [float(self.asker.penalty) + self.level(loss) * extra for extra in self.asker.surcharges]  # type: ignore[attr-defined]
        prices = [Fraction(float(np.exp(-each))) for each in nats]
        return ExactPartition(truth, self.lengths, prices, loss, self.claim).draw(noise)

    def draw(self, truth: Floats, level: float, noise: NoiseSource) -> NDArray[np.bool_]:
        """From the right end, ``(trials, n + 1)``."""
        from dpbench.mathematics.kernels.partition import backward, forward

        logits, allowed = self._logits(truth, level)
        return np.asarray(backward(forward(logits, allowed), logits, allowed, noise.uniform((self.cells,))))

    def log_density(self, outcome: NDArray[np.bool_], truth: Floats, level: float) -> Floats:
        """Log-probability of each partition."""
        from dpbench.mathematics.kernels.partition import forward, log_probability

        logits, allowed = self._logits(truth, level)
        return np.asarray(log_probability(forward(logits, allowed), logits, allowed, outcome))

    def largest_loss(self, one: Floats, other: Floats, level: float) -> float:
        """The range over all partitions of the change of the total cost, by dynamic programming, in nats."""
        change = np.zeros(one.shape)  # forbidden intervals are infinite on both sides
        np.subtract(one, other, out=change, where=self._finite(one))
        most, least = np.full(self.cells + 1, -np.inf), np.full(self.cells + 1, np.inf)
        most[0] = least[0] = 0.0
        for end in range(1, self.cells + 1):
            for place, length in enumerate(self.lengths):
                if length <= end and np.isfinite(one[place, end]):
                    most[end] = max(most[end], most[end - length] + change[place, end])
                    least[end] = min(least[end], least[end - length] + change[place, end])
        return float(most[-1] - least[-1]) * level

    def rounding(self, one: Floats, other: Floats, level: float, outcome: NDArray[Any] | None = None) -> Floats:
        """The largest cost, times the number of intervals that a partition may have, times units in the last place."""
        del other, outcome
        size = float(np.abs(one[self._finite(one)]).max(initial=0.0)) * level + float(self.asker.penalty)
        return np.asarray(size * (self.cells + 1) * 2.0**-48)

    def _logits(self, costs: Floats, level: float) -> tuple[Floats, NDArray[np.int64]]:
        logits = np.multiply(costs, -level, order="C")
        logits -= float(self.asker.penalty)
        return logits, np.array(self.lengths, dtype=np.int64)

    @property
    def _inside(self) -> NDArray[np.bool_]:
        """Which entries belong to an interval of the line."""
        return np.arange(self.cells + 1) >= np.array(self.lengths)[:, np.newaxis]

    def _finite(self, costs: Floats) -> NDArray[np.bool_]:
        return self._inside & np.isfinite(costs)
