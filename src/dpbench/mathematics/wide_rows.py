"""Wide overlapping rows over blocks of a line, joined to the posterior of a tree of blocks and cells.

A row that overlaps blocks is no node of the tree, so the exact posterior has no room for it. But rows over whole blocks
are sums of many counts, for which means and variances are enough: with m and C the posterior mean and covariance of the
blocks' totals given the answers of the tree, T the rows, y their answers and R the variance of the noise,

    x = m + C T' (T C T' + R)^-1 (y - T m).

C follows from the variances V of all dyadic nodes above the blocks: with l, r the halves of v, the regression of l on v
is (V_l - V_r + V_v) / (2 V_v), and what the split adds is V_l less the square of that times V_v. In dense data this is
least squares of all answers; where blocks are known to be empty, their variance is small, and what the rows say goes to
where something is uncertain. Given a block's total nothing outside of it matters under the prior, so the way down
goes on inside blocks as it would without rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import InvalidInput
from dpbench.mathematics.p_identity import AxisStrategy

if TYPE_CHECKING:
    from dpbench.mathematics.cascade import Descent, Squares
    from dpbench.mathematics.settled import Settled

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WideRows:
    """Rows over the blocks of a line, and their noisy answers."""

    level: int
    """The logarithm of the blocks' side."""
    axis: AxisStrategy
    """Whose wide rows they are; the blocks' own answers are in the tree."""
    answers: Floats
    """``(rows,)``."""
    variance: float
    """Of the noise on each."""

    @cached_property
    def dense(self) -> Floats:
        """``(blocks, rows)``."""
        result = np.zeros((self.axis.side, self.axis.count))
        for each in range(self.axis.rows.shape[1]):
            np.add.at(result, (np.arange(self.axis.side), self.axis.rows[:, each]), self.axis.weight[:, each])
        return result

    def of(self, totals: Floats) -> Floats:
        """The rows of columns of blocks' totals ``(blocks, lanes)``: ``(rows, lanes)``."""
        return self.axis.measure(totals)[self.axis.side :]

    def gain(self, mean: Floats, variance: Floats) -> Floats:
        """``(blocks, rows)``: C T' (T C T' + R)^-1, by mean and variance of every node down to the blocks."""
        from dpbench.mathematics.kernels.halved import times_covariance
        from dpbench.mathematics.kernels.matrices import inverse, product

        covariance = times_covariance(mean, variance, self.dense)
        within = self.of(covariance)
        within = (within + within.T) / 2 + self.variance * np.eye(len(within))
        return np.asarray(product(covariance, inverse(within)))


def nodes_of(values: Floats, many: int) -> Floats:
    """``(2 many,)``: values of blocks added up to every node above; node 1 is the root, many a power of two."""
    nodes = np.zeros(2 * many)
    nodes[many : many + len(values)] = values
    while many > 1:
        many //= 2
        nodes[many : 2 * many] = nodes[2 * many : 4 * many].reshape(-1, 2).sum(axis=1)
    return nodes


class Upper:
    """The part of a tree from its blocks upwards, where wide rows have a say."""

    def __init__(self, squares: Squares, wide: WideRows, settled: Settled) -> None:
        self.wide = wide
        self._squares, self._settled = squares, settled
        size = squares.logs[:, 0]
        self._above = size > wide.level
        self._blocks = np.flatnonzero((size == wide.level) & (squares.cells > 0))
        self._totals = np.zeros(0)
        self._gain = np.zeros((0, 0))

    @property
    def between(self) -> tuple[int, Callable[[Descent, Floats], None]]:
        """Stop before the blocks, and correct their totals there."""
        return int((self._above & ~self._settled.inside).sum()), self._correct

    def share_out(self, totals: Floats) -> Floats:
        """Totals ``(squares,)`` of the squares without squares inside, from those of the rest and corrected blocks."""
        settled, squares = self._settled, self._squares
        every = np.zeros(squares.count)
        every[~settled.inside] = totals
        every[self._above] = 0.0
        blocks = self._blocks
        done = settled.inside[blocks] | settled.ends[blocks]
        every[blocks[done]] = self._totals[done]
        # what was cut off at the end of a grid
        cells = squares.first_child[blocks[~done]][:, None] + np.arange(1 << self.wide.level)
        have = every[cells].sum(axis=1)
        every[cells] *= (self._totals[~done] / np.where(have > 0.0, have, 1.0))[:, None]
        return settled.share_out_within(every, ~self._above)

    def correct_draws(self, counts: Ints, normal: Floats) -> None:
        """Change the blocks of draws ``(many, squares)`` from the tree into draws given the rows too; in place.

        Each draw is corrected as the mean is, by answers with fresh noise, for which standard normal numbers come in:
        that leaves the covariance that the rows leave. Counts stay whole and non-negative.
        """
        answers = self.wide.answers + np.sqrt(self.wide.variance) * normal
        totals = self._corrected(counts[:, self._blocks].astype(np.float64), answers)
        counts[:, self._blocks] = np.rint(totals).astype(np.int64)

    def _correct(self, descent: Descent, totals: Floats) -> None:
        mean, variance = self._moments(descent, totals)
        many = len(mean) // 2
        before = mean[many : many + len(self._blocks)]
        self._gain = self.wide.gain(mean, variance)
        self._totals = self._corrected(before[None], self.wide.answers[None])[0]
        open_ = ~(self._settled.inside | self._settled.ends)[self._blocks]
        number = (np.cumsum(~self._settled.inside) - 1)[self._blocks[open_]]
        descent.shift(number, (self._totals - before)[open_])

    def _corrected(self, totals: Floats, answers: Floats) -> Floats:
        """Totals ``(many, blocks)`` in the light of answers ``(many, rows)``; not below 0."""
        from dpbench.mathematics.kernels.matrices import product

        surprise = answers.T - self.wide.of(np.ascontiguousarray(totals.T))
        return np.asarray(np.maximum(totals + product(self._gain, np.ascontiguousarray(surprise)).T, 0.0))

    def _moments(self, descent: Descent, totals: Floats) -> tuple[Floats, Floats]:
        """Of every node down to the blocks: the posterior's, and least squares' where settled."""
        from dpbench.mathematics.kernels.halved import node_moments

        squares, rest = self._squares, self._settled.rest
        height = squares.height
        many = 1 << (height - self.wide.level)
        below_mean = nodes_of(self._settled.moments[0][self._blocks], many)
        factor = 1.0 if squares.gaussian else 2.0
        below_variance = nodes_of(factor * self._settled.moments[1][self._blocks], many)
        mean, variance = np.zeros((2, 2 * many))
        variance[1] = factor * self._settled.moments[3][0]
        until = self.between[0]
        node_moments(
            rest.tree,
            rest.corner,
            descent.places,
            descent.noted,
            totals,
            until,
            height,
            below_mean,
            below_variance,
            mean,
            variance,
        )
        return mean, variance


class RowsLeastSquares:
    """Least squares of cells, blocks and wide rows, all divided by the scale of their noise; the total is not used.

    With s the cells of a block, what cells say of the shape inside it stays, and its total t solves H t = R w / s for
    H = r^2 / s + D^2 + T' T: r, D and T what a cell, a block and a row are multiplied by, R adding up blocks.
    """

    def __init__(self, squares: Squares) -> None:
        from dpbench.mathematics.kernels.matrices import inverse

        wide = squares.wide
        if wide is None:
            raise InvalidInput("there are no wide rows; least squares on the tree is in least_squares.py")
        size = squares.logs[:, 0]
        cells, blocks = (np.flatnonzero((size == log) & (squares.cells > 0)) for log in (0, wide.level))
        self._label = np.arange(squares.domain.size) >> wide.level
        self._many = squares.cells[blocks].astype(np.float64)
        self._cell, self._block = float(squares.rate[cells[0], 0]), squares.rate[blocks, 0]
        scale = np.sqrt(wide.variance / (1.0 if squares.gaussian else 2.0))
        self._rows = wide.dense / scale
        normal = self._rows @ self._rows.T + np.diag(self._cell**2 / self._many + self._block**2)
        self._inverse = inverse(normal)
        answers = squares.answer[cells, 0] * self._cell, squares.answer[blocks, 0] * self._block, wide.answers / scale
        self.estimate = self._solve(self._transposed(*answers)[None])[0][0]
        """``(cells,)``."""

    def influence(self, queries: Floats) -> Floats:
        """What each query ``(many, cells)`` takes of every cell, block and row."""
        found, totals = self._solve(queries)
        return np.concatenate([self._cell * found, self._block * totals, totals @ self._rows], axis=1)

    def _transposed(self, cells: Floats, blocks: Floats, rows: Floats) -> Floats:
        return np.asarray(self._cell * cells + (self._block * blocks + self._rows @ rows)[self._label])

    def _solve(self, right: Floats) -> tuple[Floats, Floats]:
        """The normal equations for right sides ``(many, cells)``: cells, and the totals of blocks."""
        starts = np.flatnonzero(np.diff(self._label, prepend=-1))
        mean = np.add.reduceat(right, starts, axis=1) / self._many
        totals = mean @ self._inverse
        inside = (right - mean[:, self._label]) / self._cell**2
        return inside + (totals / self._many)[:, self._label], totals
