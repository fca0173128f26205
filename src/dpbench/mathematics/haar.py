"""The Haar wavelet along every axis, as a strategy and its inverse.

One axis of length 2^m: coefficient 0 is the total, and for each node of the complete binary tree with at least
two cells there is one coefficient, the sum of its left half minus the sum of its right half; packed root first.
Several axes: the transform along each in turn (the tensor product). Shorter axes are padded with zeros.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.mathematics.integers import ceiling_log

Floats = NDArray[np.float64]


def forward_axis(values: NDArray[Any], axis: int) -> NDArray[Any]:
    """The transform along one axis whose length is a power of two."""
    sums = np.moveaxis(values, axis, -1)
    packed = np.empty_like(sums)
    while sums.shape[-1] > 1:
        left, right = sums[..., 0::2], sums[..., 1::2]
        packed[..., left.shape[-1] : 2 * left.shape[-1]] = left - right
        sums = left + right
    packed[..., 0] = sums[..., 0]
    return np.moveaxis(packed, -1, axis)


@dataclass(frozen=True)
class HaarWavelet:
    """Ask for the Haar coefficients of a domain.

    A cell enters the total once and one difference per level, each with coefficient +1 or -1; so one record
    moves the coefficients of one axis by m + 1 in L1, and those of several axes by the product.
    """

    domain: Domain
    lattice = 1

    @property
    def levels(self) -> tuple[int, ...]:
        """The number of levels of each axis, the m of 2^m."""
        return tuple(ceiling_log(side, 2) for side in self.domain)

    @property
    def shape(self) -> tuple[int, ...]:
        """One coefficient for each cell of the padded domain."""
        return tuple(2**m for m in self.levels)

    @property
    def sensitivity(self) -> int:
        """Product over axes of m + 1."""
        return prod(m + 1 for m in self.levels)

    @property
    def squared_l2_sensitivity(self) -> int:
        """The same: all of a cell's coefficients are 1 or -1."""
        return self.sensitivity

    def answer(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """True coefficients, exact."""
        padding = [(0, padded - side) for padded, side in zip(self.shape, self.domain, strict=True)]
        coefficients = np.pad(counts, padding)
        for axis in range(self.domain.ndim):
            coefficients = forward_axis(coefficients, axis)
        return coefficients

    def invert(self, coefficients: Floats) -> Floats:
        """Cells ``(trials, *domain)`` from coefficients ``(trials, *shape)``; padding is dropped.

        The rows of the transform are orthogonal, so plain inversion is least squares.
        """
        from dpbench.mathematics.kernels.haar import invert_axis

        cells = np.ascontiguousarray(coefficients)
        for axis in range(1, cells.ndim):
            outer, inner = prod(cells.shape[:axis]), prod(cells.shape[axis + 1 :])
            cells = invert_axis(cells.reshape(outer, cells.shape[axis], inner)).reshape(cells.shape)
        crop = (slice(None), *(slice(side) for side in self.domain))
        return np.ascontiguousarray(cells[crop])

    def influence(self, queries: Floats) -> Floats:
        """What each query ``(many, *domain)`` takes of every coefficient, ``(many, *shape)``.

        The inverse is the transpose with every coefficient divided by its squared norm, the cells of its node.
        """
        padding = [(0, 0), *((0, padded - side) for padded, side in zip(self.shape, self.domain, strict=True))]
        weights: Floats = np.pad(queries, padding)
        for axis, levels in enumerate(self.levels, start=1):
            norms = 2.0 ** (levels - np.array([0, *(int(k).bit_length() - 1 for k in range(1, 2**levels))]))
            weights = forward_axis(weights, axis) / norms.reshape(-1, *[1] * (weights.ndim - 1 - axis))
        return weights


def range_energy(lower: NDArray[np.int64], upper: NDArray[np.int64], levels: int) -> Floats:
    """Variance of ranges of one axis of 2^levels cells under unit variance on every coefficient.

    ``(sum w / 2^m)^2`` plus, for every node v, ``((w . a_v) / |v|)^2`` with a_v = +1 on its left and -1 on its
    right half. A node that the range covers or misses contributes nothing: only the nodes that hold an end do.
    """
    energy = ((upper - lower) / 2.0**levels) ** 2
    for level in range(1, levels + 1):
        size = 2**level
        first, last = lower // size, upper // size
        rise = _tent(lower % size, size)
        fall = _tent(upper % size, size)
        apart = (rise**2 + fall**2) / size**2
        together = ((fall - rise) / size) ** 2
        energy += np.where(first == last, together, apart)
    return np.asarray(energy)


def _tent(offset: NDArray[np.int64], size: int) -> Floats:
    """Sum of a_v over the first ``offset`` cells of a node of ``size`` cells."""
    return np.minimum(offset, size - offset).astype(np.float64)
