"""Random ranges: the paper's 2-D workload, and its short-range relative."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import DomainLike
from dpbench.errors import InvalidWorkload
from dpbench.given import LARGEST_SEED, afford, whole
from dpbench.workloads.axis import AxisRanges, expected_square
from dpbench.workloads.ranges import Ranges
from dpbench.workloads.workload import Workload


class RandomRange(Workload):
    """Random boxes: along each axis a length uniform on {1..side}, then a uniform position that fits.

    The same seed gives the same ranges. ``queries=None`` stands for the distribution itself: there is no
    list, and ``mean_squared`` is the exact expectation.

    >>> import dpbench as dpb
    >>> workload = dpb.workloads.RandomRange("64x64", queries=500, seed=0)
    >>> workload.queries, workload.name
    (500, 'RandomRange')
    """

    name: ClassVar[str] = "RandomRange"

    def __init__(self, domain: DomainLike, queries: int | None = 2000, seed: int = 0) -> None:
        super().__init__(domain)
        number, or_none = f"the number of queries of {self.name}", "a positive whole number, or None for all of them"
        self._queries = None if queries is None else whole(queries, number, 1, 2**53, InvalidWorkload, or_none)
        self._seed = whole(seed, f"the seed of {self.name}", 0, LARGEST_SEED, InvalidWorkload)
        afford((self._queries or 0) * (3 * self.domain.ndim + 2), f"a list of {self._queries} ranges")

    @property
    def queries(self) -> int | None:
        """How many ranges were drawn; None for the distribution."""
        return self._queries

    @property
    def seed(self) -> int:
        """What the ranges were drawn with."""
        return self._seed

    @property
    def axes(self) -> tuple[AxisRanges, ...] | None:
        """The distribution along each axis; a list drawn from it is not the distribution, so None there."""
        return self._distribution() if self._queries is None else None

    def ranges(self) -> Ranges:
        """List the ranges that the seed gives."""
        return self._listed

    @cached_property
    def _listed(self) -> Ranges:
        if self._queries is None:
            raise InvalidWorkload(
                f"{self!r} is a distribution and has no list of ranges; give queries=2000 for a list, "
                f"or use mean_squared() or axes"
            )
        # the kind is part of the seed, so that data or noise drawn with the same number share no stream
        sequence = np.random.SeedSequence(self._seed, spawn_key=(crc32(self.name.encode()),))
        rng = np.random.default_rng(sequence)
        lower = np.empty((self._queries, self.domain.ndim), dtype=np.int64)
        upper = np.empty_like(lower)
        for axis, side in enumerate(self.domain):
            length = rng.integers(1, self._longest(side), size=self._queries, endpoint=True)
            lower[:, axis] = rng.integers(0, side - length, endpoint=True)
            upper[:, axis] = lower[:, axis] + length
        return Ranges(self.domain, lower, upper)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.domain}, queries={self._queries}, seed={self._seed})"

    def _longest(self, side: int) -> int:
        """Say how long a range along an axis can be."""
        return side

    def _distribution(self) -> tuple[AxisRanges, ...]:
        return tuple(AxisRanges.up_to(side, self._longest(side)) for side in self.domain)

    def _contents(self) -> tuple[bytes, ...]:
        if self._queries is None:
            return (b"distribution",)  # which no seed changes
        return (f"seed={self._seed}".encode(), *super()._contents())

    def _norm(self, values: NDArray[Any], order: str) -> NDArray[np.float64]:
        self.ranges()  # the distribution has no list, hence no norm: this says so
        return super()._norm(values, order)

    def _mean_squared(self, values: NDArray[Any]) -> NDArray[np.float64]:
        if self._queries is None:
            return expected_square(self._distribution(), values)
        return super()._mean_squared(values)


class RandomSmall(RandomRange):
    """Random small boxes: as RandomRange, with lengths uniform on {1..max(1, side // 16)}."""

    name: ClassVar[str] = "RandomSmall"

    def _longest(self, side: int) -> int:
        return max(1, side // 16)
