"""Many selections for the price of one: a candidate of every group, each group about a region of its own.

Proof. The scores of a group depend on the counts of its region alone, and regions are disjoint. One record is in one
region, so it moves the scores of one group; the selections of all others have the same probabilities on both sides, and
the loss of the whole is that of one exponential mechanism.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpbench.privacy.mechanisms.exponential import Exponential

if TYPE_CHECKING:
    from dpbench.privacy.noise import NoiseSource
    from dpbench.privacy.protocols import GroupedScore

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GroupedExponential(Exponential):
    """A candidate of every group, counted from its group's first."""

    asker: GroupedScore

    name = "choose each"

    def public(self) -> tuple[object, ...]:
        """Also where groups begin."""
        return *super().public(), tuple(self._starts.tolist())

    def starts(self, truth: Floats) -> NDArray[np.int64]:
        """As the score says."""
        del truth
        return self._starts

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        """Read once, so that what is drawn has the groups that were checked."""
        return np.array(self.asker.starts, dtype=np.int64)

    @property
    def outcome_shape(self) -> tuple[int, ...]:
        """One candidate per group."""
        return (len(self._starts) - 1,)

    def draw(self, truth: Floats, level: float, noise: NoiseSource) -> NDArray[np.int64]:
        """Gumbel-max within every group, ``(trials, groups)``."""
        from dpbench.mathematics.kernels.grouped_selection import largest_of_groups

        scores = np.require(np.atleast_2d(truth), requirements=("C", "W"))  # as kernels want arrays
        draws = np.ascontiguousarray(noise.exponential(truth.shape[-1:]))
        return np.asarray(largest_of_groups(scores, draws, self.starts(truth), level))
