"""Ranges listed one by one, a user's own or another workload's."""

from __future__ import annotations

from functools import cached_property
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbench.domain import Domain, DomainLike
from dpbench.errors import InvalidWorkload
from dpbench.given import numbers
from dpbench.workloads.reading import read_ranges
from dpbench.workloads.summed_area import box_sums, corners
from dpbench.workloads.workload import Workload

LARGEST_WEIGHT = 1e100
"""Weights are at most that, and at least one over it or 0."""


class Ranges(Workload):
    """Ranges of one's own, from arrays of corners or from a CSV file.

    ``lower`` and ``upper`` are `(q, ndim)` whole numbers (`(q,)` will do in 1-D), box i is
    [lower_i, upper_i) along every axis; ``weights`` `(q,)` are real and 1 unless given.

    >>> import dpbench as dpb
    >>> dpb.workloads.Ranges(8, [0, 2], [3, 8]).answer([1, 2, 3, 4, 5, 6, 7, 8])
    array([ 6, 33])
    """

    name: ClassVar[str] = "Ranges"

    def __init__(
        self, domain: DomainLike, lower: ArrayLike, upper: ArrayLike, weights: ArrayLike | None = None
    ) -> None:
        super().__init__(domain)
        self.lower = _corner("lower", lower, self.domain)
        self.upper = _corner("upper", upper, self.domain)
        if self.lower.shape != self.upper.shape:
            raise InvalidWorkload(
                f"there are {len(self.lower)} lower and {len(self.upper)} upper corners; give one of each per range"
            )
        self._check_boxes()
        self.weights = _weights(weights, len(self.lower))
        self._unit = bool((self.weights == 1).all())
        for array in (self.lower, self.upper, self.weights):
            array.setflags(write=False)

    @classmethod
    def from_csv(cls, path: str | PathLike[str], domain: DomainLike) -> Ranges:
        """Read half-open boxes from a file with the header `lower0,upper0,lower1,upper1,...[,weight]`.

        Blank lines and lines that start with `#` are skipped.
        """
        domain = Domain.of(domain)
        lower, upper, weights = read_ranges(path, domain)
        return cls(domain, lower, upper, weights)

    def ranges(self) -> Ranges:
        """Return this workload, which is a list already."""
        return self

    @property
    def queries(self) -> int:
        """How many ranges there are."""
        return len(self.lower)

    @cached_property
    def sensitivity(self) -> float:
        """The most that all answers together change, in L1, when one record is added or removed.

        A difference array holds each |weight| at the corners of its box; its prefix sums are the coverage.
        """
        shape = tuple(side + 1 for side in self.domain.afford())
        magnitude = np.ones(self.queries, dtype=np.int64) if self._unit else np.abs(self.weights)
        coverage = np.zeros(int(np.prod(shape)), dtype=magnitude.dtype)
        for sign, flat in corners(self.domain, self.lower, self.upper):
            # prefix sums run upwards, so the all-lower corner opens the box: the sign of the all-upper one
            np.add.at(coverage, flat, sign * (-1) ** self.domain.ndim * magnitude)
        coverage = coverage.reshape(shape)
        for axis in range(self.domain.ndim):
            np.add.accumulate(coverage, axis=axis, out=coverage)
        return float(coverage.max())

    def __repr__(self) -> str:
        return f"Ranges({self.domain}, {self.queries} ranges)"

    def _contents(self) -> tuple[bytes, ...]:
        return (self.lower.tobytes(), self.upper.tobytes(), self.weights.tobytes())

    def _answer(self, values: NDArray[Any]) -> NDArray[Any]:
        answers = box_sums(self.domain, self.lower, self.upper, values)
        return answers if self._unit else answers * self.weights

    def _check_boxes(self) -> None:
        """Refuse the first box that is empty or leaves the domain."""
        if not len(self.lower):
            raise InvalidWorkload("an empty list of ranges was given; a workload needs at least one range")
        sides = np.array(self.domain.shape)
        bad = (self.lower < 0) | (self.upper > sides) | (self.lower >= self.upper)
        if bad.any():
            query, axis = (int(index) for index in np.argwhere(bad)[0])
            raise InvalidWorkload(
                f"range {query} is [{self.lower[query, axis]}, {self.upper[query, axis]}) along axis {axis} "
                f"of domain {self.domain}; a range needs 0 <= lower < upper <= {sides[axis]}"
            )


def _corner(which: str, given: ArrayLike, domain: Domain) -> NDArray[np.int64]:
    """Bring corners to a fresh `(q, ndim)` array of int64."""
    array = numbers(
        given, f"list of {which} corners", InvalidWorkload, "iuf", f"whole numbers of shape (q, {domain.ndim})"
    )
    if array.ndim == 1 and domain.ndim == 1:
        array = array[:, np.newaxis]
    if array.size == 0 and array.ndim == 2:  # an empty list has no type of its own
        array = array.astype(np.int64)
    if array.dtype.kind != "i" or array.ndim != 2 or array.shape[1] != domain.ndim:
        raise InvalidWorkload(
            f"the {which} corners are a {array.dtype} array of shape {array.shape}; "
            f"a domain {domain} needs whole numbers of shape (q, {domain.ndim})"
        )
    return array.astype(np.int64, order="C")


def _weights(given: ArrayLike | None, queries: int) -> NDArray[np.float64]:
    """Bring weights to a fresh `(q,)` array of float64, ones where none are given."""
    if given is None:
        return np.ones(queries)
    array = np.array(
        numbers(given, "list of weights", InvalidWorkload, "iuf", "one real number per range"), dtype=np.float64
    )
    if array.shape != (queries,):
        raise InvalidWorkload(
            f"weights of shape {array.shape} do not fit {queries} ranges; give one real number per range"
        )
    size = np.abs(array[array != 0])
    if not ((size >= 1 / LARGEST_WEIGHT) & (size <= LARGEST_WEIGHT)).all():
        raise InvalidWorkload("a weight is above 1e100 or below 1e-100, where squares get lost; give 0 or one between")
    return array
