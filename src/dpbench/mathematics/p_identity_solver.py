"""Least squares for p-Identity strategies: one small system per axis (Woodbury), and the error of every range.

Along an axis, with Theta = B / c, S = diag(1 / c) and G = I + Theta Theta^T,

    X^-1 = S (I - Theta^T G^-1 Theta) S,   x^ = S (y_cells + Theta^T G^-1 (y_rows - Theta y_cells)):

what the rows say beyond the cells corrects the cells. In that form nothing large cancels where a cell has next to no
weight of its own. The solution of a Kronecker product is that of each axis in turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpbench.mathematics.moments import Lengths
from dpbench.mathematics.noise_bars import insist_on_whole
from dpbench.mathematics.p_identity import AxisStrategy, PIdentity, along
from dpbench.mathematics.p_identity_fit import trace
from dpbench.workloads import Ranges, Workload

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

BLOCK = 2**18
"""About how many answers are solved for at a time: few enough for a cache."""
RANGES = 2**12
"""Ranges whose variances are computed at a time."""


@dataclass(frozen=True, eq=False)
class AxisLeastSquares:
    """The solution operator of one axis."""

    strategy: AxisStrategy

    @cached_property
    def theta(self) -> Floats:
        """B / c at the stored entries."""
        return np.asarray(self.strategy.weight / self.strategy.cell[:, None])

    @cached_property
    def inverse(self) -> Floats:
        """G^-1."""
        from dpbench.mathematics.kernels.matrices import inverse
        from dpbench.mathematics.kernels.p_identity import gram

        return np.asarray(inverse(gram(self.strategy.rows, self.theta, self.strategy.count)))

    def solve(self, answers: Floats) -> Floats:
        """Columns ``(side, lanes)`` from answers ``(side + count, lanes)``."""
        from dpbench.mathematics.kernels.p_identity import solve

        return np.asarray(solve(self.strategy.rows, self.theta, 1.0 / self.strategy.cell, self.inverse, answers))

    def influence(self, queries: Floats) -> Floats:
        """What each query ``(side, lanes)`` takes of every answer, ``(side + count, lanes)``."""
        answers = np.zeros((self.strategy.side + self.strategy.count, queries.shape[1]))
        answers[: self.strategy.side] = queries / self.strategy.cell[:, None]
        return self.strategy.measure(self.solve(answers))

    def variance(self, lower: Ints, upper: Ints) -> Floats:
        """w^T X^-1 w for ranges: the cells' own variances, less what the wide rows know."""
        result = self._own[upper] - self._own[lower]
        for start in range(0, len(lower), RANGES):
            some = slice(start, start + RANGES)
            known = self._known[upper[some]] - self._known[lower[some]]
            result[some] -= (known * known).sum(axis=1)
        return result

    @cached_property
    def _own(self) -> Floats:
        """``(side + 1,)``: running sums of s^2."""
        return np.concatenate([[0.0], np.cumsum(self.strategy.cell**-2.0)])

    @cached_property
    def _known(self) -> Floats:
        """``(side + 1, count)``: running sums of S Theta^T L^-T, where L L^T = G."""
        from dpbench.mathematics.kernels.p_identity import gram, spread

        rows, count = self.strategy.rows, self.strategy.count
        root = np.linalg.cholesky(gram(rows, self.theta, count))
        sums = np.zeros((self.strategy.side + 1, count))
        np.cumsum(spread(rows, self.theta, 1.0 / self.strategy.cell, count), axis=0, out=sums[1:])
        return np.asarray(np.linalg.solve(root, sums.T).T)


@dataclass(frozen=True, eq=False)
class PIdentityLeastSquares:
    """The solution operator of a strategy; its inverses are computed once and serve every trial."""

    strategy: PIdentity

    @cached_property
    def axes(self) -> tuple[AxisLeastSquares, ...]:
        """One operator per axis; equal strategies share theirs."""
        shared: dict[int, AxisLeastSquares] = {}
        return tuple(shared.setdefault(id(axis), AxisLeastSquares(axis)) for axis in self.strategy.axes)

    def solve(self, answers: Floats) -> Floats:
        """Estimated cells ``(trials, *domain)`` from answers ``(trials, *shape)``; a group is spread over its cells."""
        result = np.empty((len(answers), *self.strategy.domain.shape))
        step = max(1, BLOCK // max(1, answers[:1].size))
        for start in range(0, len(answers), step):
            values = answers[start : start + step]
            for number, axis in enumerate(self.axes, start=1):
                values = along(number, axis.solve, values)
            for number, edges in enumerate(self.strategy.edges, start=1):
                cells = np.diff(edges)
                if (cells > 1).any():
                    each = values / cells.reshape(-1, *[1] * (values.ndim - 1 - number))
                    values = np.repeat(each, cells, axis=number)
            result[start : start + step] = values
        return result

    def influence(self, queries: Floats) -> Floats:
        """What each query ``(many, *domain)`` takes of every answer, ``(many, *shape)``; for whole groups.

        Least squares gives A X^-1 w: the query is put on the cells' own answers, solved for and measured again.
        """
        values = queries
        for number, (edges, axis) in enumerate(zip(self.strategy.edges, self.axes, strict=True), start=1):
            groups = np.repeat(np.arange(len(edges) - 1), np.diff(edges))
            if len(groups) > axis.strategy.side:
                some = np.moveaxis(values, number, -1).reshape(-1, len(groups))
                insist_on_whole(some, groups, "HDMM")
            values = along(number, axis.influence, np.take(values, edges[:-1], axis=number))
        return values

    def mean_variance(self, workload: Workload) -> float:
        """Mean over the queries of their variance, where every answer carries noise of variance 1.

        Exact for ranges that begin and end where groups do.
        """
        if workload.axes is not None:
            pairs = zip(workload.axes, self.strategy.axes, strict=True)
            return float(np.prod([trace(Lengths(ranges.side, ranges), axis) for ranges, axis in pairs]))
        ranges = workload.ranges()
        return float((ranges.weights**2 * np.prod(self.variances(ranges), axis=0)).mean())

    def variances(self, ranges: Ranges) -> Floats:
        """``(axes, queries)``: the factors of the variance of each box, one per axis."""
        ends = (
            (np.searchsorted(edges, ranges.lower[:, number]), np.searchsorted(edges, ranges.upper[:, number]))
            for number, edges in enumerate(self.strategy.edges)
        )
        return np.stack([axis.variance(*both) for axis, both in zip(self.axes, ends, strict=True)])
