"""The Laplace mechanism (Dwork, McSherry, Nissim, Smith: TCC 2006).

Proof. With noise of scale b = D / e on every answer, the density of an outcome o is proportional to
exp(-||o - f(x)||_1 / b). By the triangle inequality two truths at an L1 distance of at most D have densities within a
factor exp(D / b) = exp(e) of each other, whatever the outcome.

On whole numbers the same proof holds with the chance of a whole number in place of a density: :meth:`draw_exactly`
adds discrete Laplace noise of the exact scale D / e to whole answers. Weighted answers are units u_i times whole
numbers k_i(x), with the sum of u_i |k_i(x) - k_i(x')| at most D. Noise of the exact scale D / (u_i e) on each k_i
costs at most that sum times e / D, hence e; the units are public, and multiplying by them is post-processing.
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
    from dpbench.privacy.exact_noise import ExactNoise
    from dpbench.privacy.noise import NoiseSource
    from dpbench.privacy.protocols import Statistic, Strategy

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Laplace(Mechanism):
    """The answers of a strategy with Laplace noise in proportion to its L1 sensitivity."""

    strategy: Strategy

    name = "laplace"

    @cached_property
    def claim(self) -> Fraction:
        """Largest L1 change of the answers."""
        return claimed(self.strategy.sensitivity, f"the sensitivity of {self.label}")

    @property
    def statistic(self) -> Statistic | None:
        """What the strategy asks to be shown."""
        return getattr(self.strategy, "statistic", None)

    @property
    def label(self) -> str:
        """The name of the strategy."""
        return type(self.strategy).__name__

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Shape of one trial's answers; read once, so that what is drawn has the shape that was checked."""
        return tuple(self.strategy.shape)

    def public(self) -> tuple[object, ...]:
        """Claim and shape."""
        return self.claim, self.shape

    def truth(self, counts: Any) -> Floats:
        """True answers, ``(*shape)`` or ``(trials, *shape)``."""
        return np.asarray(self.strategy.answer(counts), dtype=np.float64)

    def refusal(self, truth: Floats, trials: int) -> str:
        """A wrong shape, answers that are not finite, or so large that their rounding matters."""
        return shape_refusal(truth, self.shape, trials) or inexact(truth, len(self.shape), self.claim)

    def level(self, loss: Fraction) -> float:
        """The noise scale, rounded up."""
        return noise_scale(self.claim, loss)

    def noise_words(self, level: float) -> str:
        """The scale."""
        return f"Laplace noise of scale {level:g}"

    def draw(self, truth: Floats, level: float, noise: NoiseSource) -> Floats:
        """The truth plus noise, ``(trials, *shape)``."""
        return noise.laplace(truth, level, self.shape)

    @property
    def no_exact_draw(self) -> str:
        """Whole answers, or units times whole numbers: of others the last bit is in doubt, and so is the noise."""
        if lattice_of(self.strategy) == 1 or hasattr(self.strategy, "whole"):
            return ""
        return f"answers of {self.label} are not known to be whole numbers"

    def exact_truth(self, counts: Any) -> NDArray[Any]:
        """Whole answers; or, of weighted ones, the whole numbers that the strategy's units are multiplied by."""
        weighted = lattice_of(self.strategy) != 1 and hasattr(self.strategy, "whole")
        return np.asarray(self.strategy.whole(counts)) if weighted else self.truth(counts)  # type: ignore[attr-defined]

    def draw_exactly(self, truth: NDArray[Any], loss: Fraction, noise: ExactNoise) -> NDArray[Any]:
        """Whole answers plus discrete noise of the exact scale, ``(*shape)``; weighted ones times their units."""
        if self.no_exact_draw:
            return super().draw_exactly(truth, loss, noise)
        if lattice_of(self.strategy) == 1:
            whole = multiples(truth, Fraction(1), self.label).reshape(self.shape)
            return whole + self._discrete(loss, Fraction(1), whole.size, noise).reshape(self.shape)
        units = np.broadcast_to(np.asarray(self.strategy.units, dtype=np.float64), self.shape)  # type: ignore[attr-defined]
        kinds, which = np.unique(units.reshape(-1), return_inverse=True)
        order = np.argsort(which, kind="stable")
        draws = [
            self._discrete(loss, Fraction(unit), many, noise)
            for unit, many in zip(kinds.tolist(), np.bincount(which).tolist(), strict=True)
        ]
        added = np.empty(len(order), dtype=np.int64)
        added[order] = np.concatenate(draws)
        # multiplied as floats: whatever rounding does here, it does to numbers that are private already
        return np.asarray((truth.reshape(self.shape) + added.reshape(self.shape)).astype(np.float64) * units)

    def _discrete(self, loss: Fraction, unit: Fraction, many: int, noise: ExactNoise) -> NDArray[np.int64]:
        """Noise on whole numbers of which each is worth a unit."""
        return noise.discrete_laplace(self.claim / (loss * unit), many)

    def log_density(self, outcome: Floats, truth: Floats, level: float) -> Floats:
        """Sum over answers of -|o - f(x)| / b - log(2 b)."""
        axes = tuple(range(1, outcome.ndim))
        constant = np.log(2 * level) * outcome[0].size
        return np.asarray(-np.abs(outcome - truth).sum(axis=axes) / level - constant)

    def log_ratio(self, outcome: Floats, one: Floats, other: Floats, level: float) -> Floats:
        """Sum over answers of (|o - f(x')| - |o - f(x)|) / b; the differences are small, so they are added first."""
        axes = tuple(range(1, outcome.ndim))
        return np.asarray((np.abs(outcome - other) - np.abs(outcome - one)).sum(axis=axes) / level)

    def largest_loss(self, one: Floats, other: Floats, level: float) -> float:
        """The L1 distance over the scale, which an outcome beyond both truths attains."""
        return float(distances(one, other, len(self.shape)).max()) / level

    def rounding(self, one: Floats, other: Floats, level: float, outcome: Floats | None = None) -> Floats:
        """The size of everything that is subtracted, times a few units in the last place."""
        size = np.abs(one) + np.abs(other) + (0.0 if outcome is None else np.abs(outcome))
        return per_trial(size, len(self.shape)) / level * 2.0**-50


def inexact(truth: Floats, axes: int, claim: Fraction) -> str:
    """Why true answers cannot be trusted to move by their claim alone; empty where rounding is below a quarter of it.

    Whole numbers up to 2^53 are exact. Of anything else the last bit is in doubt, and two neighbours may differ by it
    in every answer. What is lost when noise is added is lost after the noise, and does no harm.
    """
    largest = float(np.maximum(truth.max(initial=0.0), -truth.min(initial=0.0)))  # NaN if there is one
    if largest * truth.size * 2.0**-52 <= float(claim) / 4:  # the usual case, in one pass
        return ""
    if not np.isfinite(largest):
        return "answered with NaN or infinity; answers have to be finite"
    lost = float(per_trial(np.abs(truth), axes).max()) * 2.0**-52
    if lost <= float(claim) / 4 or (largest <= WHOLE and (truth == np.rint(truth)).all()):
        return ""
    return (
        f"has answers so large that rounding may move them by more than a quarter of the claim {float(claim):g}; "
        f"ask of fewer records, or with whole numbers"
    )


def distances(one: Floats, other: Floats, axes: int) -> Floats:
    """L1 distances of true answers, one for all trials or one per trial."""
    return per_trial(np.abs(one - other), axes)


def per_trial(values: Floats, axes: int) -> Floats:
    """The sum over one trial's answers, whose axes are the last ones."""
    return np.asarray(values.reshape(*values.shape[: values.ndim - axes], -1).sum(axis=-1))
