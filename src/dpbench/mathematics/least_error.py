"""The least error of a strategy for a workload, bounded from below.

P2(K) = min tr(K X^-1), over X whose diagonal is at most 1, is the error of the best strategy with noise of variance 1
and L2 sensitivity 1 (Li, Hay, Rastogi, Miklau, McGregor, PODS 2010). For any probabilities d over the cells

    P2(K) >= (tr (D^1/2 K D^1/2)^1/2)^2,   D = diag(d),

with equality at the best d; equal d give the bound by singular values (Li, Miklau, PVLDB 2013). So d may be put on some
of the cells where all are too many, and cells that no query tells apart may count as one. The bound of a product of
workloads is the product of theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import Unsupported
from dpbench.given import afford
from dpbench.mathematics.moments import Lengths, counted
from dpbench.workloads import AxisRanges, Prefix, Workload

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bound = tuple[float, float]
"""What P2 is at least, and at most (infinity where that is not known)."""

LARGEST = 4096
"""The largest matrix whose eigenvalues are computed."""
LARGEST_DUAL = 2048
"""The largest whose square root is computed, again and again."""
WORK = 5e10
"""Multiplications that a Gram matrix over cells may take; the bound is over fewer cells where it would take more."""
STEPS, CLOSE = 100, 1e-6
"""The dual iteration ends after so many steps, or where its bounds are this close."""
FASTER = 1.6
"""Exponent of its steps; 1 is the plain fixed point, which needs more of them."""


def singular_bound(workload: Workload) -> Bound:
    """The bound with equal d, of the cells or of the groups of cells that no query tells apart, whichever is better."""
    if isinstance(workload, Prefix):
        angle = (2 * np.arange(workload.domain.size) + 1) * np.pi / (4 * workload.domain.size + 2)
        return float((1 / (2 * np.sin(angle))).mean() ** 2), np.inf
    if workload.axes is not None:
        return prod(_singular_axis(axis) for axis in workload.axes), np.inf
    boxes = Boxes.of(workload)
    bound = boxes.singular(boxes.cells)
    if any((cells > 1).any() for cells in boxes.cells):
        bound = max(bound, boxes.singular([np.ones(many) for many in boxes.groups]))
    return bound, np.inf


def dual_bound(workload: Workload) -> Bound:
    """The bound with the best d that the iteration finds, and the error of the strategy that belongs to it."""
    if workload.axes is not None:
        bounds = [_dual_axis(axis) for axis in workload.axes]
    else:
        boxes = Boxes.of(workload)
        _refuse_above(LARGEST_DUAL, prod(boxes.groups))
        bounds = [dual_iteration(boxes.over(np.indices(boxes.groups).reshape(len(boxes.groups), -1)))[-1]]
    return prod(low for low, _ in bounds), prod(high for _, high in bounds)


def dual_iteration(moment: Floats) -> list[Bound]:
    """Bounds of P2 step by step, each lower one at least the last.

    With B = (D^1/2 K D^1/2)^1/2 and x_j = B_jj / d_j the lower bound is (tr B)^2, and X = D^-1/2 B D^-1/2 / max x is
    that of a strategy with error tr B * max x.
    """
    covered = np.diag(moment) > 0
    k = moment[np.ix_(covered, covered)]
    d = np.full(len(k), 1 / len(k))
    bounds: list[Bound] = []
    while len(bounds) < STEPS and (not bounds or bounds[-1][1] > (1 + CLOSE) * bounds[-1][0]):
        root = np.sqrt(d)
        values, vectors = np.linalg.eigh(root[:, None] * k * root)
        sigma = np.sqrt(np.maximum(values, 0.0))
        x = (vectors**2 @ sigma) / d
        bounds.append((_trace_of_root(values) ** 2, float(sigma.sum() * x.max())))
        d = d * x**FASTER
        d /= d.sum()
    return bounds


@dataclass(frozen=True, eq=False)
class Boxes:
    """Listed boxes over a grid of groups of cells that they do not tell apart; equal boxes are one."""

    lower: Ints
    """``(boxes, axes)``, in groups."""
    upper: Ints
    share: Floats
    """``(boxes,)``: squared weights over the number of queries."""
    cells: tuple[Floats, ...]
    """Per axis ``(groups,)``: cells in each group."""

    @classmethod
    def of(cls, workload: Workload) -> Boxes:
        """The boxes of a workload whose weight is not 0."""
        ranges = counted(workload)
        corners = np.concatenate([ranges.lower, ranges.upper], axis=1)
        kinds, which = np.unique(corners, axis=0, return_inverse=True)
        share = np.bincount(which.reshape(-1), ranges.weights**2) / len(corners)
        axes, cells = workload.domain.ndim, []
        for axis, side in enumerate(workload.domain):
            edges, place = np.unique(np.concatenate([[0, side], *kinds[:, axis::axes].T]), return_inverse=True)
            kinds[:, axis::axes] = place[2:].reshape(2, -1).T
            cells.append(np.diff(edges).astype(np.float64))
        return cls(kinds[:, :axes], kinds[:, axes:], share, tuple(cells))

    @property
    def groups(self) -> tuple[int, ...]:
        """Groups along each axis."""
        return tuple(map(len, self.cells))

    def singular(self, mass: Sequence[Floats]) -> float:
        """The bound with d in proportion to the product of a mass per group of each axis, where boxes cover it.

        From the overlaps of the boxes where they are few, else from a grid of some of the cells.
        """
        if len(self.share) <= LARGEST:
            overlap = np.sqrt(np.outer(self.share, self.share))
            for low, high, each in zip(self.lower.T, self.upper.T, mass, strict=True):
                running = np.concatenate([[0.0], np.cumsum(each)])
                first = np.maximum.outer(running[low], running[low])
                overlap *= np.maximum(np.minimum.outer(running[high], running[high]) - first, 0.0)
            total = _product(mass)[self._covered()].sum()
            return _trace_of_root(np.linalg.eigvalsh(overlap)) ** 2 / float(total)
        some = self._some(min(LARGEST, int(sqrt(WORK / len(self.share)))))
        root = np.sqrt(np.prod([each[place] for each, place in zip(mass, some, strict=True)], axis=0))
        values = np.linalg.eigvalsh(root[:, None] * self.over(some) * root)
        return _trace_of_root(values) ** 2 / float(root @ root)

    def over(self, some: Ints) -> Floats:
        """The second moment between cells of the grid of groups, given as ``(axes, cells)``."""
        result = np.zeros((some.shape[1], some.shape[1]))
        for start in range(0, len(self.share), LARGEST):
            chosen = slice(start, start + LARGEST)
            inside = np.repeat(np.sqrt(self.share[chosen])[:, None], some.shape[1], axis=1)
            for low, high, place in zip(self.lower[chosen].T, self.upper[chosen].T, some, strict=True):
                inside *= (low[:, None] <= place) & (place < high[:, None])
            result += inside.T @ inside
        return result

    def _some(self, most: int) -> Ints:
        """Covered cells of an even grid of at most so many: ``(axes, cells)``."""
        fraction = min(1.0, (most / prod(self.groups)) ** (1 / len(self.groups)))
        along = [np.linspace(0, many - 1, max(1, int(many * fraction))).astype(np.int64) for many in self.groups]
        grid = np.stack([axis.reshape(-1) for axis in np.meshgrid(*along, indexing="ij")])
        return grid[:, self._covered()[tuple(grid)]]

    def _covered(self) -> NDArray[np.bool_]:
        """Which cells of the grid some box covers."""
        afford(3 * prod(many + 1 for many in self.groups), "a grid of the corners of all ranges")
        change = np.zeros([many + 1 for many in self.groups], dtype=np.int64)
        for corner in np.ndindex(*[2] * len(self.groups)):
            ends = np.where(np.array(corner, dtype=bool), self.upper, self.lower)
            np.add.at(change, tuple(ends.T), 1 - 2 * (sum(corner) % 2))
        for axis in range(change.ndim):
            change = np.cumsum(change, axis=axis)
        return change[tuple(slice(many) for many in self.groups)] > 0


def _product(mass: Sequence[Floats]) -> Floats:
    """The outer product of a vector per axis."""
    result = np.ones(())
    for each in mass:
        result = np.multiply.outer(result, each)
    return result


@lru_cache(maxsize=64)
def _singular_axis(axis: AxisRanges) -> float:
    """All ranges have a closed form; others are symmetric about the middle, which halves the matrices.

    On long axes d is put on evenly spaced cells.
    """
    n = axis.side
    if axis == AxisRanges.every(n):
        return float(2 / n**2 * (1 / (2 * np.sin(np.arange(1, n + 1) * np.pi / (2 * (n + 1))))).sum() ** 2)
    near = np.linspace(0, n // 2 - 1, min(n // 2, LARGEST // 2)).astype(np.int64)
    moment, far = Lengths(n, axis), n - 1 - near
    one, other = moment.between(near, near), moment.between(near, far)
    halves, cells = [one - other, one + other], 2 * len(near)
    if n % 2:
        centre = np.array([n // 2])
        side = sqrt(2) * moment.between(near, centre)
        halves[1] = np.block([[halves[1], side], [side.T, moment.between(centre, centre)]])
        cells += 1
    return _trace_of_root(np.concatenate([np.linalg.eigvalsh(half) for half in halves])) ** 2 / cells


@lru_cache(maxsize=64)
def _dual_axis(axis: AxisRanges) -> Bound:
    _refuse_above(LARGEST_DUAL, axis.side)
    return dual_iteration(axis.second_moment())[-1]


def _refuse_above(most: int, cells: int) -> None:
    if cells > most:
        raise Unsupported(
            f"the dual iteration takes axes, or lists over grids, of up to {most:,} cells; here are {cells:,}; "
            f'use method="svd"'
        )


def _trace_of_root(values: NDArray[Any]) -> float:
    """The sum of the square roots of eigenvalues, less what rounding may have added."""
    rounding = len(values) * np.finfo(float).eps * values.max(initial=0.0)
    return float(np.sqrt(np.maximum(values - rounding, 0.0)).sum())
