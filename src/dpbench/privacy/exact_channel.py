"""The channel of a release: every question is drawn exactly, from the operating system's randomness.

An algorithm runs unchanged. Where the laboratory's channel adds noise in double precision to answers in double
precision, this one asks the mechanism for the whole numbers behind its answers and draws on those. A mechanism that has
no exact sampler is refused; a release finds that out on an empty table, before it reads anybody's.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import AlgorithmFailed, Unsupported
from dpbench.privacy.exact_noise import ExactNoise
from dpbench.privacy.mechanisms import Laplace
from dpbench.privacy.transcript import Direct

if TYPE_CHECKING:
    from dpbench.privacy.mechanisms import Mechanism


class Exact(Direct):
    """Draw exactly, remember nothing."""

    def __init__(self, noise: ExactNoise | None = None) -> None:
        self._noise = ExactNoise() if noise is None else noise

    def insist(self, mechanism: Mechanism) -> None:
        """Refuse a mechanism without an exact sampler, in words that it knows before any counts are."""
        if mechanism.no_exact_draw:
            raise Unsupported(f"{mechanism.name} cannot be released: {mechanism.no_exact_draw}")

    def drawn(self, mechanism: Mechanism, material: Any, loss: Fraction) -> NDArray[Any]:
        """The outcome of a mechanism shown counts, or the statistic that it names, ``(1, ...)``."""
        outcome = np.asarray(mechanism.draw_exactly(mechanism.exact_truth(material), loss, self._noise))
        return (outcome.astype(np.float64) if isinstance(mechanism, Laplace) else outcome)[np.newaxis]


class NoDraws:
    """The source of noise of one release: whatever asks it for noise goes past the exact channel, and fails."""

    trials = 1

    def laplace(self, *asked: object) -> NoReturn:
        """Refuse."""
        del asked
        raise AlgorithmFailed("noise was asked for outside the exact channel; a release draws no other")

    gaussian = gumbel = exponential = uniform = laplace

    def only(self, trial: int) -> NoDraws:
        """Itself: there is one trial."""
        del trial
        return self

    def coins(self) -> tuple[np.random.SeedSequence, ...]:
        """Fresh public randomness."""
        return (np.random.SeedSequence(),)
