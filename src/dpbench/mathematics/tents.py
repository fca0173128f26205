"""Tents along an axis: the rows that a searched p-Identity strategy looks like, and the start of the search.

A tent is a linear spline that is 1 at its knot and falls to 0 at the next knots on both sides. The tents of evenly
spaced knots add up to 1 in every cell, so a ladder of levels with different spacings is weighted like a tree:
one weight per level and one for the cells. Tents overlap where blocks break off, and that is the gain over trees.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.mathematics.descent import descend
from dpbench.mathematics.moments import Moment

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

NEAR = 4
"""Tents per level that a cell may enter: the two above it, and one beyond on each side."""
FINEST = (16, 20, 10, 13, 28)
"""Cells between the knots of the finest level, where there are several; the first two on long axes."""
COARSEST = (1, 2, 3, 4)
"""Intervals between the knots of the coarsest; the first two on long axes."""
STEPS = (8.0, 32.0)
"""By what factors the spacing may grow from level to level."""
SHORT, LONGEST_CHOICE = 1024, 8192
"""Cells up to which an axis gets all ladders, and up to which it gets a choice."""
LEAST = 1e-4
"""A level's ratio is more than this."""
WEIGHINGS = 40
"""Steps towards the best ratios."""
HOPELESS = 1.5
"""Times the least error so far, beyond which single levels that get worse as they get finer are not tried further."""
COLUMNS = 64
"""Rows whose products with K are made at a time."""


@dataclass(frozen=True, eq=False)
class Ladder:
    """Levels of tents with their weights."""

    side: int
    per_level: tuple[int, ...]
    """Intervals between the knots of each level, the finest first."""
    ratio: Floats
    """``(levels,)``: each level's weight over that of the cells."""
    error: float = np.nan
    """tr(K X^-1) for the moment that the weights were fitted to."""

    @property
    def count(self) -> int:
        """Tents in all."""
        return sum(self.per_level) + len(self.per_level)

    def theta(self, *, beyond: float = 0.0) -> tuple[Ints, Floats]:
        """Per cell, the rows near it and their weights over its own, both ``(side, width)``.

        ``beyond`` is the height to which a tent's feet are raised.
        """
        place = np.arange(self.side) + 0.5
        rows, values, first = [], [], 0
        for intervals, ratio in zip(self.per_level, self.ratio, strict=True):
            spacing, near = self.side / intervals, min(NEAR, intervals + 1)
            nearest = np.floor(place / spacing).astype(np.int64) - (near // 2 - 1)
            knots = np.clip(nearest, 0, intervals + 1 - near)[:, None] + np.arange(near)
            height = np.maximum(beyond, 1.0 - np.abs(place[:, None] / spacing - knots))
            rows.append(first + knots)
            values.append(ratio * height)
            first += intervals + 1
        return np.concatenate(rows, axis=1), np.concatenate(values, axis=1)


def ladders(side: int) -> list[tuple[int, ...]]:
    """Intervals of the ladders worth trying on an axis: single levels of all spacings, and steps down to fine ones.

    Fewer are tried on long axes: what fine and coarse levels gain as tents, they lose again to the search.
    """
    if side > LONGEST_CHOICE:
        return [_steps(round(side / FINEST[0]), 2, 4)]
    some = None if side <= SHORT else 2
    spacings = 6 * 2.0 ** (np.arange(2 * np.log2(max(side, 6) / 6) + 1) / 2)
    found: set[tuple[int, ...]] = {(max(round(side / spacing), 1),) for spacing in spacings}
    for finest in (round(side / cells) for cells in FINEST[:some]):
        for coarsest in COARSEST[:some]:
            for levels in (2, 3, 4):
                step = (finest / coarsest) ** (1 / (levels - 1))
                if STEPS[0] <= step <= STEPS[1]:
                    found.add(_steps(finest, coarsest, levels))
    return sorted(found)


def _steps(finest: int, coarsest: int, levels: int) -> tuple[int, ...]:
    """From so many intervals down to so few by equal factors."""
    return tuple(round(finest * (coarsest / finest) ** (level / (levels - 1))) for level in range(levels))


def fit_ladders(moment: Moment) -> list[Ladder]:
    """The ladders of an axis with their best weights, the best first.

    The error of single levels falls as they get finer, and then rises. The finest have the most rows, whose inverse is
    what costs, so on the rise it ends where no finer level can be of use.
    """
    tried = ladders(moment.side)
    found = [fit_ladder(moment, intervals) for intervals in tried if len(intervals) > 1]
    before = np.inf
    for intervals in (each for each in tried if len(each) == 1):
        ladder = fit_ladder(moment, intervals)
        found.append(ladder)
        if before < ladder.error > HOPELESS * min(each.error for each in found):
            break
        before = ladder.error
    return sorted(found, key=lambda each: (each.error, each.per_level))


def fit_ladder(moment: Moment, intervals: tuple[int, ...]) -> Ladder:
    """The ladder with the best weights for a moment.

    With ratios r_l every cell has s = 1 + sum r, so with T the tents, C = T T^T and N = T K T^T, both made once,

        f(r) = s^2 (tr K - <G^-1, R N R>),   G = I + R C R,   R = diag(r).
    """
    from dpbench.mathematics.kernels.matrices import inverse as inverted
    from dpbench.mathematics.kernels.matrices import product

    levels = len(intervals)
    level = np.repeat(np.arange(levels), np.asarray(intervals) + 1)
    tents = _matrix(Ladder(moment.side, intervals, np.ones(levels)), moment.diagonal > 0)
    cross = np.ascontiguousarray((tents.T @ tents).toarray())
    inner = np.empty_like(cross)
    for start in range(0, len(level), COLUMNS):
        some = slice(start, start + COLUMNS)
        inner[:, some] = tents.T @ moment.times(tents[:, some].toarray())
    total = moment.diagonal.sum()

    def error(log_ratio: Floats) -> tuple[float, Floats]:
        grown = np.exp(log_ratio)
        ratio = LEAST + grown
        r, s = ratio[level], 1.0 + ratio.sum()
        inverse = inverted(np.eye(len(r)) + r[:, None] * cross * r)
        middle = product(inverse, r[:, None] * inner * r)
        rest = total - np.trace(middle)
        # d rest / dr_k = 2 (G^-1 R N R G^-1 R C - G^-1 R N)_kk
        slope = 2 * (product(middle, inverse) * (r[:, None] * cross).T).sum(axis=1) - 2 * np.diag(middle) / r
        return float(s * s * rest), (s * s * np.bincount(level, slope) + 2 * s * rest) * grown

    least, found = descend(error, np.full(levels, -0.5), WEIGHINGS, enough=1e-9)
    return Ladder(moment.side, intervals, LEAST + np.exp(found), least)


def _matrix(ladder: Ladder, covered: NDArray[np.bool_]) -> Any:
    """The tents over the cells that ranges cover, as a sparse matrix ``(cells, tents)``."""
    from scipy.sparse import coo_array

    rows, theta = ladder.theta()
    theta *= covered[:, None]
    cells = np.repeat(np.arange(ladder.side), rows.shape[1])
    return coo_array((theta.ravel(), (cells, rows.ravel())), shape=(ladder.side, ladder.count)).tocsc()
