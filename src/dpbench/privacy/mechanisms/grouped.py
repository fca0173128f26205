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

    def all_groups_have_candidates(self, candidates: int) -> bool:
        """Ascending from 0 to the number of candidates."""
        starts = self._starts
        return bool(starts[0] == 0 and starts[-1] == candidates and (starts[1:] > starts[:-1]).all())

    @property
    def outcome_shape(self) -> tuple[int, ...]:
        """One candidate per group."""
        return (len(self._starts) - 1,)

    def draw(self, truth: Floats, level: float, noise: NoiseSource) -> NDArray[np.int64]:
        """One uniform draw per group, ``(trials, groups)``; see :meth:`Exponential.draw`."""
        from dpbench.mathematics.kernels.grouped_selection import select_of_groups

        uniforms = np.ascontiguousarray(noise.uniform(self.outcome_shape))
        return np.asarray(select_of_groups(_for_kernels(truth), level, uniforms, self._starts))


@dataclass(frozen=True, eq=False)
class GroupedGumbelMax(GroupedExponential):
    """The same law by a Gumbel draw per candidate, for HybridTree: so its results in the study stay."""

    def draw(self, truth: Floats, level: float, noise: NoiseSource) -> NDArray[np.int64]:
        """The largest score of every group after Gumbel noise, ``(trials, groups)``."""
        from dpbench.mathematics.kernels.grouped_selection import largest_of_groups

        draws = np.ascontiguousarray(noise.exponential(truth.shape[-1:]))
        return np.asarray(largest_of_groups(_for_kernels(truth), draws, self._starts, level))


def _for_kernels(truth: Floats) -> Floats:
    """Scores ``(1 or trials, candidates)`` in an array of the kind that kernels take."""
    scores = np.atleast_2d(truth)
    return scores if scores.flags.carray else np.array(scores)
