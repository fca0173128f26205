"""Second moments of range queries along an axis: all that a data-independent strategy has to know of a workload.

K = E[w w^T] for the 0/1 vector w of a random range. Neither K nor a list of all ranges is ever made: K applies running
sums forwards, then the Laplacian of the graph whose edges (l, u) are the ranges [l, u), then running sums backwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import InvalidWorkload
from dpbench.workloads import AxisRanges, RandomRange, RandomSmall, Ranges, Workload

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

FAR = 1e100
"""Shares of listed ranges that are larger, or smaller than one over it, are brought near 1."""
BLOCK = 2**23
"""About how many numbers one product with K holds at a time."""


@dataclass(frozen=True, eq=False)
class Moment:
    """The second moment of ranges of one axis; a kind of ranges adds its key, diagonal and Laplacian.

    Two are equal where their keys are.
    """

    side: int
    """How many cells the axis has."""

    @cached_property
    def key(self) -> str:
        """A name that different moments never share, fit for a file."""
        raise NotImplementedError

    @cached_property
    def diagonal(self) -> Floats:
        """``(side,)``: the share of the ranges that cover each cell."""
        raise NotImplementedError

    def laplacian(self, sums: Floats) -> Floats:
        """L applied to columns ``(side + 1, columns)`` of running sums, where c^T L c = E (c[u] - c[l])^2."""
        raise NotImplementedError

    def times(self, columns: Floats) -> Floats:
        """K applied to columns ``(side, columns)``."""
        result = np.empty(columns.shape)
        for some in self._blocks(columns.shape[1]):
            sums = np.zeros((self.side + 1, columns[:, some].shape[1]))
            np.cumsum(columns[:, some], axis=0, out=sums[1:])
            result[:, some] = np.cumsum(self.laplacian(sums)[:0:-1], axis=0)[::-1]
        return result

    def dense(self) -> Floats:
        """K itself, ``(side, side)``."""
        return self.times(np.eye(self.side))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Moment) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def _blocks(self, columns: int) -> Iterator[slice]:
        step = max(1, BLOCK // (self.side + 1))
        return (slice(start, start + step) for start in range(0, columns, step))


@dataclass(frozen=True, eq=False)
class Lengths(Moment):
    """Ranges that are uniform among those of equal length, as every product workload has them."""

    axis: AxisRanges

    @cached_property
    def key(self) -> str:
        """The side, and a digest of the probabilities of lengths."""
        return f"lengths-{self.side}-{_digest(self.axis.length_probability)}"

    @cached_property
    def diagonal(self) -> Floats:
        """From cell to cell, the ranges that begin there come in and those that end there go."""
        running = self._running
        return np.cumsum(running[:0:-1] - running[:-1])

    def between(self, some: Ints, others: Ints) -> Floats:
        """K between some cells and others: for i <= j it is A(n) - A(n - 1 - i) - A(j) + A(j - i - 1)."""
        i, j = np.minimum.outer(some, others), np.maximum.outer(some, others)
        twice = np.append(self.twice, 0.0)  # A(-1) = 0
        return np.asarray(twice[self.side] - twice[self.side - 1 - i] - twice[j] + twice[j - i - 1])

    @cached_property
    def twice(self) -> Floats:
        """``(side + 1,)``: A, the probabilities of ranges summed twice over their lengths."""
        return np.cumsum(self._running)

    def laplacian(self, sums: Floats) -> Floats:
        """By a circulant of twice the size, as ``AxisRanges.laplacian``, with its spectrum kept for many calls."""
        from scipy.fft import irfft, rfft

        size, spectrum = self._circulant
        centred = sums - sums.mean(axis=0)  # constants are in the kernel of L
        adjacent = irfft(rfft(centred, size, axis=0) * spectrum[:, None], size, axis=0)[: len(sums)]
        running = self._running
        return np.asarray((running + running[::-1])[:, None] * centred - adjacent)

    @cached_property
    def _running(self) -> Floats:
        """``(side + 1,)``: the total probability of the ranges from a boundary to others up to so many cells away."""
        return np.concatenate(([0.0], np.cumsum(self.axis.range_probability)))

    @cached_property
    def _circulant(self) -> tuple[int, NDArray[np.complex128]]:
        from scipy.fft import next_fast_len, rfft

        weight = self.axis.range_probability
        size = next_fast_len(2 * self.side + 1, real=True)
        circulant = np.zeros(size)
        circulant[1 : self.side + 1] = weight
        circulant[size - self.side :] += weight[::-1]
        return size, rfft(circulant)


@dataclass(frozen=True, eq=False)
class Listed(Moment):
    """Ranges listed one by one, each with a share."""

    lower: Ints
    upper: Ints
    share: Floats
    """``(ranges,)``: what each counts for; more than 0."""

    @cached_property
    def key(self) -> str:
        """The side, and a digest of ranges and shares; the unit of the shares does not matter."""
        return f"list-{self.side}-{_digest(self.lower, self.upper, np.round(self.share / self.share.max(), 12))}"

    @cached_property
    def diagonal(self) -> Floats:
        """Shares come in at lower ends and go at upper ones."""
        change = np.bincount(self.lower, self.share, self.side + 1) - np.bincount(self.upper, self.share, self.side + 1)
        covered = np.bincount(self.lower, minlength=self.side + 1) - np.bincount(self.upper, minlength=self.side + 1)
        return np.where(np.cumsum(covered)[:-1] > 0, np.cumsum(change)[:-1], 0.0)

    def laplacian(self, sums: Floats) -> Floats:
        """As a sparse matrix."""
        return np.asarray(self._edges @ sums)

    @cached_property
    def _edges(self) -> Any:
        from scipy.sparse import coo_array

        low, high, share = self.lower, self.upper, self.share
        entries = np.concatenate([share, share, -share, -share])
        at = np.concatenate([low, high, low, high]), np.concatenate([low, high, high, low])
        return coo_array((entries, at), shape=(self.side + 1, self.side + 1)).tocsr()


class GroupedAxis(NamedTuple):
    """An axis whose cells are grouped where no range tells them apart."""

    edges: Ints
    """``(groups + 1,)``: the cells where groups begin, and the side of the axis."""
    moment: Moment
    """Of the ranges over the groups."""


def grouped_axes(workload: Workload) -> tuple[GroupedAxis, ...]:
    """One moment per axis: exact for products, and for other workloads that of their ranges along each axis."""
    workload = typical(workload)
    if workload.axes is not None:
        return tuple(GroupedAxis(np.arange(axis.side + 1), Lengths(axis.side, axis)) for axis in workload.axes)
    ranges = counted(workload)
    return tuple(listed_axis(ranges, axis, ranges.weights**2) for axis in range(workload.domain.ndim))


def listed_axis(ranges: Ranges, axis: int, counts: Floats) -> GroupedAxis:
    """The ranges of listed boxes along an axis, where each box counts for so much; the mean is over all boxes.

    Cells between the ends of ranges are one, and so are equal ranges.
    """
    lower, upper = ranges.lower[:, axis], ranges.upper[:, axis]
    edges = np.unique(np.concatenate([[0, ranges.domain.shape[axis]], lower, upper]))
    groups = len(edges) - 1
    codes = np.searchsorted(edges, lower) * (groups + 1) + np.searchsorted(edges, upper)
    kinds, which = np.unique(codes, return_inverse=True)
    share = np.bincount(which.reshape(-1), weights=counts / len(counts)).astype(np.float64)
    largest = float(share.max())
    if not 1 / FAR <= largest <= FAR:  # their unit does not matter, and squares of slopes are to be within floats
        share = share / 2.0 ** np.floor(np.log2(largest))
    return GroupedAxis(edges, Listed(groups, kinds // (groups + 1), kinds % (groups + 1), share))


def typical(workload: Workload) -> Workload:
    """What a strategy is fitted to: the distribution of many random ranges, else the workload itself.

    Thousands of random ranges are noise around the distribution that they are drawn from; a few are a workload of their
    own.
    """
    if type(workload) in (RandomRange, RandomSmall) and (workload.queries or 0) >= max(workload.domain):
        return type(workload)(workload.domain, queries=None)  # type: ignore[call-arg]  # both take queries
    return workload


def counted(workload: Workload) -> Ranges:
    """The listed ranges whose weight is not 0, each with its weight; the mean is still over all."""
    ranges = workload.ranges()
    used = ranges.weights != 0
    if used.all():
        return ranges
    if not used.any():
        raise InvalidWorkload(f"every query of {workload!r} has weight 0; give at least one another weight")
    scale = np.sqrt(used.mean())  # fewer queries, the same mean square
    return Ranges(workload.domain, ranges.lower[used], ranges.upper[used], ranges.weights[used] * scale)


def _digest(*arrays: NDArray[Any]) -> str:
    digest = sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]
