"""A distribution over 1-D ranges: the factor of a product workload along one axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import NUMBERS_PER_CELL
from dpbench.errors import InvalidWorkload
from dpbench.given import afford, numbers, whole
from dpbench.workloads.summed_area import by_row, summed_area, trial_blocks

BLOCK_RANGES = 2**18
"""About how many ranges ``AxisRanges.blocks`` yields at a time."""

SECOND_MOMENT_LIMIT = 4096
"""The longest side whose second-moment matrix is made; it is dense."""


@dataclass(frozen=True, eq=False)
class AxisRanges:
    """A random 1-D range: first its length is drawn, then its position, uniformly among those that fit."""

    side: int
    """How many cells the axis has."""

    length_probability: NDArray[np.float64]
    """`(side,)`: entry L - 1 is the probability of length L."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "side", whole(self.side, "the cells of an axis", refusal=InvalidWorkload))
        read = numbers(self.length_probability, "list of probabilities", InvalidWorkload, "iuf")
        given = np.array(read, dtype=np.float64)
        if given.shape != (self.side,):
            raise InvalidWorkload(
                f"{given.shape} probabilities of lengths were given for an axis of {self.side} cells; "
                f"give one per length 1..{self.side}"
            )
        if not (given >= 0).all() or abs(given.sum() - 1) > 1e-9:
            raise InvalidWorkload(
                f"the probabilities of lengths add up to {given.sum()} or are negative; give a distribution"
            )
        given.setflags(write=False)
        object.__setattr__(self, "length_probability", given)

    @classmethod
    def every(cls, side: int) -> AxisRanges:
        """All side * (side + 1) / 2 ranges, equally likely."""
        _afford_side(side)
        return cls(side, 2 * np.arange(side, 0, -1) / (side * (side + 1)))

    @classmethod
    def up_to(cls, side: int, longest: int) -> AxisRanges:
        """Lengths uniform on {1..longest}."""
        _afford_side(side)
        whole(longest, "the longest range", refusal=InvalidWorkload)
        return cls(side, np.where(np.arange(side) < longest, 1 / longest, 0.0))

    @property
    def mean_length(self) -> float:
        """The expected number of cells in a range."""
        return float(np.arange(1, self.side + 1) @ self.length_probability)

    @property
    def range_probability(self) -> NDArray[np.float64]:
        """`(side,)`: entry L - 1 is the probability of each one of the side - L + 1 ranges of length L."""
        return np.asarray(self.length_probability / np.arange(self.side, 0, -1))

    def blocks(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]]:
        """Stream every range of positive probability: lower, upper, probability, about 2^18 at a time.

        Ranges come by length, then by position.
        """
        lengths = np.flatnonzero(self.length_probability) + 1
        probability = self.range_probability
        total = np.cumsum(self.side - lengths + 1)
        start = 0
        while start < len(lengths):
            done = total[start - 1] if start else 0
            stop = max(start + 1, int(np.searchsorted(total, done + BLOCK_RANGES, side="right")))
            chosen = lengths[start:stop]
            positions = self.side - chosen + 1
            length = np.repeat(chosen, positions)
            lower = np.arange(len(length)) - np.repeat(np.cumsum(positions) - positions, positions)
            yield lower, lower + length, probability[length - 1]
            start = stop

    def second_moment(self) -> NDArray[np.float64]:
        """Make the dense `(side, side)` matrix E[w wᵀ], w the 0/1 vector of a range, for small sides.

        Entry (i, j) is the probability that a range covers both cells: the sum of the probabilities of
        [l, u) over l <= min(i, j) and u > max(i, j), so two cumulative sums give the matrix.
        """
        n = self.side
        if n > SECOND_MOMENT_LIMIT:
            raise InvalidWorkload(
                f"the second-moment matrix of an axis of {n} cells is too large; "
                f"at most {SECOND_MOMENT_LIMIT} cells, use blocks() for longer axes"
            )
        last = np.arange(n)
        length = last[np.newaxis, :] - last[:, np.newaxis] + 1
        weight = np.where(length > 0, self.range_probability[np.abs(length) - 1], 0.0)
        covered = np.cumsum(np.cumsum(weight, axis=0)[:, ::-1], axis=1)[:, ::-1]
        return np.asarray(np.triu(covered) + np.triu(covered, 1).T)

    def _laplacian(self, table: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
        """Apply along ``axis`` the matrix L with cᵀ L c = E (c[u] - c[l])², over `side + 1` boundaries.

        L is the Laplacian of the graph on the boundaries whose edge (l, u) has the probability of the range
        [l, u). That depends on u - l alone, so the adjacency is Toeplitz and a circulant of at least twice
        the size applies it by FFT.
        """
        boundaries = self.side + 1
        weight = self.range_probability
        cumulative = np.concatenate(([0.0], np.cumsum(weight)))
        degree = cumulative + cumulative[::-1]
        size = 1 << (2 * boundaries - 1).bit_length()
        circulant = np.zeros(size)
        circulant[1:boundaries] = weight
        circulant[size - self.side :] += weight[::-1]
        # constants are in the kernel of L: removing the mean changes nothing but the rounding
        moved = np.moveaxis(table, axis, -1)
        moved = moved - moved.mean(axis=-1, keepdims=True)
        spectrum = np.fft.rfft(circulant)
        adjacent = np.fft.irfft(np.fft.rfft(moved, size, axis=-1) * spectrum, size, axis=-1)
        return np.moveaxis(degree * moved - adjacent[..., :boundaries], -1, axis)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, AxisRanges)
            and self.side == other.side
            and bool((self.length_probability == other.length_probability).all())
        )

    def __hash__(self) -> int:
        return hash((self.side, self.length_probability.tobytes()))


def _afford_side(side: object) -> None:
    cells = whole(side, "the cells of an axis", refusal=InvalidWorkload)
    afford(NUMBERS_PER_CELL * cells, f"an axis of {cells} cells")


def expected_square(axes: Sequence[AxisRanges], values: NDArray[Any]) -> NDArray[np.float64]:
    """Average the squared answer over random boxes, by trial: `(trials, *domain)` to `(trials,)`.

    An answer is the difference of the summed-area table along every axis, so its expected square is the
    quadratic form of the Kronecker product of the axes' Laplacians.
    """
    result = np.empty(len(values))
    width = 8 * int(np.prod([axis.side + 1 for axis in axes]))
    for rows in trial_blocks(len(values), width):
        table = summed_area(values[rows]).astype(np.float64, copy=False)
        image = table
        for position, axis in enumerate(axes, start=1):
            image = axis._laplacian(image, position)
        result[rows] = np.maximum(by_row(table * image).sum(axis=1), 0.0)
    return result
