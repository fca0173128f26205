"""Workloads that the domain alone determines: Prefix and Identity."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import DomainLike
from dpbench.errors import InvalidWorkload
from dpbench.workloads.axis import AxisRanges
from dpbench.workloads.ranges import Ranges
from dpbench.workloads.workload import Workload


class Prefix(Workload):
    """Every prefix [0, i + 1) of a 1-D domain, the paper's 1-D workload: any range is a difference of two.

    >>> import dpbench as dpb
    >>> dpb.workloads.Prefix(4).answer([1, 2, 3, 4])
    array([ 1,  3,  6, 10])
    """

    name: ClassVar[str] = "Prefix"

    def __init__(self, domain: DomainLike) -> None:
        super().__init__(domain)
        if self.domain.ndim != 1:
            raise InvalidWorkload(
                f"Prefix is defined on 1-D domains and {self.domain} has {self.domain.ndim} axes; "
                f"use RandomRange or AllRange there"
            )

    @property
    def queries(self) -> int:
        """One prefix per cell."""
        return self.domain.size

    @property
    def sensitivity(self) -> float:
        """Cell 0 is in every prefix."""
        return float(self.domain.size)

    def ranges(self) -> Ranges:
        """List the prefixes, the shortest first."""
        upper = np.arange(1, self.domain.afford().size + 1)
        return Ranges(self.domain, np.zeros_like(upper), upper)

    def _contents(self) -> tuple[bytes, ...]:
        return ()

    def _answer(self, values: NDArray[Any]) -> NDArray[Any]:
        return np.cumsum(values, axis=1)


class Identity(Workload):
    """Every single cell, in row-major order.

    >>> import dpbench as dpb
    >>> dpb.workloads.Identity("2x2").answer([[1, 2], [3, 4]])
    array([1, 2, 3, 4])
    """

    name: ClassVar[str] = "Identity"

    @property
    def queries(self) -> int:
        """One query per cell."""
        return self.domain.size

    @property
    def sensitivity(self) -> float:
        """A record is in one cell."""
        return 1.0

    @property
    def axes(self) -> tuple[AxisRanges, ...]:
        """Ranges of length 1 along every axis."""
        return tuple(AxisRanges.up_to(side, 1) for side in self.domain)

    def ranges(self) -> Ranges:
        """List the cells as boxes of side 1."""
        lower = np.stack(np.unravel_index(np.arange(self.domain.afford().size), self.domain.shape), axis=1)
        return Ranges(self.domain, lower, lower + 1)

    def _contents(self) -> tuple[bytes, ...]:
        return ()

    def _answer(self, values: NDArray[Any]) -> NDArray[Any]:
        return values.reshape(len(values), self.domain.size).copy()
