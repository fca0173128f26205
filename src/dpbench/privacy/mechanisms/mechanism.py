"""What a mechanism is: everything that anybody needs to know about one kind of private answer, in one value.

The handle draws it, the ledger charges it, replay recomputes its loss, a release draws it exactly: each asks the
mechanism, and nobody switches on its name. To write one, subclass :class:`Mechanism`; nothing is registered.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import AlgorithmFailed, InvalidInput, Unsupported, shown
from dpbench.privacy.budget import exact

if TYPE_CHECKING:
    from dpbench.privacy.exact_noise import ExactNoise
    from dpbench.privacy.noise import NoiseSource
    from dpbench.privacy.protocols import Statistic

Floats = NDArray[np.float64]

WHOLE = 2.0**53
"""Up to here a float holds every whole number."""


class Mechanism:
    """One private question, with all that is known about it before it is asked.

    ``level`` below is the one number that a mechanism derives from what it is paid: a noise scale, a standard
    deviation, nats per unit of score. It is public.
    """

    name: ClassVar[str] = ""
    """Name in a ledger."""
    pure: ClassVar[bool] = True
    """Whether it has a pure loss. One that has none (Gaussian noise) is paid in rho, under zCDP alone."""
    rho_of_loss: ClassVar[Fraction] = Fraction(1, 2)
    """zCDP: a mechanism of pure loss e costs this times e^2; 1/2 holds for any, 1/8 where the loss of two outcomes
    never differs by more than e (selections)."""

    def _lacking(self, method: str) -> str:
        return f"{type(self).__name__} has no {method}; define it, as docs/mechanisms.md says"

    # --- what a mechanism says ----------------------------------------------------------------------

    @property
    def claim(self) -> Fraction:
        """How far one record can move the truth, in the measure that the noise is scaled by."""
        raise NotImplementedError(self._lacking("claim"))

    @property
    def statistic(self) -> Statistic | None:
        """What of the counts it is shown in their place; None: the counts."""
        return None

    @property
    def label(self) -> str:
        """Reason in a ledger where the caller gives none."""
        return self.name

    def public(self) -> tuple[object, ...]:
        """Everything about the question that may not depend on the counts; replay insists that it does not."""
        return (self.claim,)

    def truth(self, counts: Any) -> Any:
        """What it computes from the counts, or from the statistic that it names."""
        raise NotImplementedError(self._lacking("truth"))

    def refusal(self, truth: Any, trials: int) -> str:
        """Why a truth cannot be answered privately, without quoting it; empty where it can."""
        del truth, trials
        return ""

    def level(self, loss: Fraction) -> float:
        """The level at which it costs at most ``loss`` (of rho, where it is not pure); rounded to the private side."""
        raise NotImplementedError(self._lacking("level"))

    def noise_words(self, level: float) -> str:
        """The noise in a ledger's words; empty where there is none to state."""
        del level
        return ""

    # --- what a mechanism does ----------------------------------------------------------------------

    def draw(self, truth: Any, level: float, noise: NoiseSource) -> NDArray[Any]:
        """An outcome for every trial, ``(trials, ...)``."""
        raise NotImplementedError(self._lacking("draw"))

    @property
    def no_exact_draw(self) -> str:
        """Why it cannot be released, known before any counts are; empty where :meth:`draw_exactly` works."""
        return "it has no sampler in exact arithmetic"

    def exact_truth(self, counts: Any) -> Any:
        """The truth that :meth:`draw_exactly` takes: :meth:`truth`, unless there are whole numbers behind that."""
        return self.truth(counts)

    def draw_exactly(self, truth: Any, loss: Fraction, noise: ExactNoise) -> NDArray[Any]:
        """An outcome of one trial, ``(...)``, in exact arithmetic from random bits of the operating system.

        No float decides anything: not the level, which follows exactly from ``loss``, and not the draw.
        """
        del truth, loss, noise
        raise Unsupported(f"{self.name} cannot be released: {self.no_exact_draw}")

    # --- what an outcome gives away -----------------------------------------------------------------

    def log_density(self, outcome: NDArray[Any], truth: Any, level: float) -> Floats:
        """Logarithm of the density (or probability) of each trial's outcome, ``(trials,)``."""
        raise NotImplementedError(self._lacking("log_density"))

    def log_ratio(self, outcome: NDArray[Any], one: Any, other: Any, level: float) -> Floats:
        """Log of the density of each trial's outcome under one truth over that under another, ``(trials,)``."""
        with np.errstate(invalid="ignore"):  # what both truths forbid
            return self.log_density(outcome, one, level) - self.log_density(outcome, other, level)

    def largest_loss(self, one: Any, other: Any, level: float) -> float:
        """The largest log-ratio between two truths over all outcomes, or a bound on it; inf where there is none."""
        raise NotImplementedError(self._lacking("largest_loss"))

    def divergence(self, one: Any, other: Any, level: float) -> float:
        """What telling two truths apart costs in zCDP: the least rho that covers the pair, or a bound on it."""
        return float(self.rho_of_loss) * self.largest_loss(one, other, level) ** 2

    def rounding(self, one: Any, other: Any, level: float, outcome: NDArray[Any] | None = None) -> Floats:
        """How much of a log-ratio (of the largest one, without an outcome) may be rounding."""
        del one, other, level, outcome
        return np.asarray(0.0)


@cache
def fixed_members(kind: type[Mechanism]) -> frozenset[str]:
    """Methods and facts of a class (its draw, what it costs): all but fields and what an instance computes once."""
    members = {name: member for each in reversed(kind.__mro__) for name, member in vars(each).items()}
    per_instance = {name for name, each in members.items() if isinstance(each, cached_property)}
    return frozenset(members.keys() - per_instance - getattr(kind, "__dataclass_fields__", {}).keys())


def is_ours(mechanism: Mechanism) -> bool:
    """Whether a mechanism is one of this package as it stands, and not something that borrows its name."""
    kind = type(mechanism)
    found = getattr(sys.modules.get(kind.__module__), kind.__qualname__, None)
    in_package = kind.__module__.startswith("dpbench.") and found is kind
    fixed = fixed_members(kind)  # type: ignore[arg-type]  # classes can be hashed
    return in_package and not fixed & vars(mechanism).keys()


def claimed(value: object, what: str) -> Fraction:
    """A sensitivity as an exact fraction: a float stands for itself, bit for bit, since it was rounded up."""
    floating = isinstance(value, float) and np.isfinite(value)
    sensitivity = Fraction(*float.as_integer_ratio(value)) if floating else exact(value, what)  # type: ignore[arg-type]
    if sensitivity.numerator <= 0:
        raise InvalidInput(f"{what} is {shown(value)}; it has to be greater than 0")
    return sensitivity


def lattice_of(asker: object) -> Fraction | None:
    """What all answers or scores of somebody are whole multiples of, whatever the counts; None where it is unknown."""
    step = getattr(asker, "lattice", None)
    return None if step is None else claimed(step, f"the lattice of {type(asker).__name__}")


def multiples(truth: Floats, step: Fraction, label: str) -> NDArray[np.int64]:
    """A truth in whole multiples of its lattice; one that is off the lattice has said something untrue of itself."""
    count = truth * float(1 / step)
    if not (np.abs(count) <= WHOLE).all() or (count != np.rint(count)).any():
        raise AlgorithmFailed(
            f"{label} is not made of whole multiples of {step} up to 2^53, which its lattice promises"
        )
    return count.astype(np.int64)


def shape_refusal(truth: Floats, shape: tuple[int, ...], trials: int) -> str:
    """Why a truth of this shape cannot be answered."""
    if truth.shape in (shape, (trials, *shape)):
        return ""
    return f"answered with another shape than {shape} or {(trials, *shape)}; say the shape that answers have"


def by_index(outcome: NDArray[np.int64], truth: Floats, log_probability: Callable[[Floats, int], float]) -> Floats:
    """Log-probability of the index that each trial came to; computed once for all trials that share truth and index."""
    if truth.ndim > 1:
        rows = np.broadcast_to(truth, (len(outcome), truth.shape[-1]))
        return np.array([log_probability(row, index) for row, index in zip(rows, outcome.tolist(), strict=True)])
    indices, place = np.unique(outcome, return_inverse=True)
    return np.array([log_probability(truth, index) for index in indices.tolist()])[place]
