"""A line whose cells nearly all stand out: whether it is one, and least squares of HDMM's strategy for all prefixes.

Where every count is far above its noise nothing can be learned about shapes, and all that matters is what is measured:
there HDMM's rows over cells err less than any nested blocks. How full cells are is one number, the *fullness*: of each
cell as many records as it takes to stand out are counted, no more, over as many in all cells. One record moves that
count by at most 1, so next to nothing of a budget tells it well. The *evenness* is the fullness over that of a line
whose cells all have the mean count.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from dpbench import fitted
from dpbench.mathematics.level_shares import UNIT
from dpbench.mathematics.moments import grouped_axes
from dpbench.mathematics.noise_bars import half_widths
from dpbench.mathematics.p_identity import PIdentity
from dpbench.mathematics.p_identity_known import ITERATIONS, STARTS, axis_strategy
from dpbench.mathematics.p_identity_solver import PIdentityLeastSquares
from dpbench.mathematics.top_down import integral, top_down
from dpbench.workloads import Prefix, Ranges, Workload

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

FEWEST, QUICK = 128, 512
"""Cells of a line: with fewer, fullness costs too much; up to so many a strategy is found in a second."""
STANDS_OUT = 40.0
"""Records times epsilon from which on a cell is full."""
DENSE_LINE = 0.5
"""Fullness from which on a line is dense."""
NOISE = 0.047
"""Standard deviation of the noise on the fullness, or less where that takes less than ``LEAST`` of the budget."""
LEAST = Fraction(1, 1000)
KNOWN = 0.15
"""Noise on the evenness above which it is not used."""
PURPOSE = 0x64656E73
"""Part of every seed of draws."""


@dataclass(frozen=True, eq=False)
class CappedTotal:
    """Ask for the number of records, of which each cell adds so many at most.

    One record more moves the count of one cell by 1, and so what is counted of it by 0 or 1.
    """

    most: int
    sensitivity = 1
    lattice = 1
    shape = (1,)

    def answer(self, counts: Ints) -> Floats:
        """The capped total; exact, as all counts together are."""
        return np.array([np.minimum(counts, self.most).sum()], dtype=np.float64)


def records_of_full_cell(per_record: float) -> int:
    """How many records a cell has that stands out, where the whole budget is so many epsilon."""
    return ceil(STANDS_OUT / per_record)


def share_of_fullness(cells: int) -> Fraction:
    """Of the budget: with Laplace noise of scale 1 / (share epsilon), over 40 / epsilon records of each cell."""
    return max(Fraction(round(UNIT * sqrt(2.0) / (NOISE * STANDS_OUT * cells)), UNIT), LEAST)


def evenness(fullness: float, cells: int, signal: float) -> float:
    """By the number of records times epsilon; 1 where noise hides it."""
    even = min(signal / (STANDS_OUT * cells), 1.0)
    noise = sqrt(2.0) / (float(share_of_fullness(cells)) * STANDS_OUT * cells)
    return fullness / even if noise < KNOWN * even else 1.0


@lru_cache(maxsize=16)
def strategy_for_dense(workload: Workload) -> PIdentityLeastSquares | None:
    """HDMM's strategy for all prefixes of a line, where it comes with the package or is found at once."""
    side = workload.domain.size
    if not isinstance(workload, Prefix) or side < FEWEST:
        return None
    axis = grouped_axes(workload)[0]
    if side > QUICK and fitted.shipped(axis.moment.key) is None:
        return None
    found = axis_strategy(axis.moment, STARTS, ITERATIONS)
    return PIdentityLeastSquares(PIdentity(workload.domain, (axis.edges,), (found,)))


@dataclass(frozen=True, eq=False)
class DenseLine:
    """Noisy answers about a line that is dense; each has Laplace noise of the same scale."""

    solver: PIdentityLeastSquares
    answers: Floats
    """``(cells + rows,)``."""
    scale: float

    @cached_property
    def unbiased(self) -> Floats:
        """``(1, cells)``: least squares."""
        return self.solver.solve(self.answers[None])

    @property
    def estimate(self) -> Floats:
        """``(cells,)``: not below 0."""
        return np.asarray(top_down(self.unbiased)[0])

    def intervals(self, ranges: Ranges, level: float) -> Floats:
        """``(q, 2)``, from the noise alone; for ranges of weight 1."""
        middle = ranges.answer(self.unbiased[0])
        half = half_widths(ranges, self.solver.influence, self.scale, False, level)
        return np.stack([middle - half, middle + half], axis=-1)

    def draws(self, many: int, seed: tuple[int, ...]) -> Ints:
        """``(many, cells)``: least squares less noise drawn anew, as whole numbers that are not below 0."""
        rng = np.random.default_rng(np.random.SeedSequence((PURPOSE, *seed)))
        noise = rng.laplace(scale=self.scale, size=(many, len(self.answers)))
        return integral(top_down(self.unbiased - self.solver.solve(noise))).astype(np.int64)
