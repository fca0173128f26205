"""The error of a strategy under Gaussian noise, without running anything."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol

from dpbench.mathematics.expected_error import AxisFunction, mean_over_queries
from dpbench.workloads import Workload


class Measured(Protocol):
    """A strategy that knows its L2 sensitivity and what its reconstruction makes of unit noise."""

    @property
    def squared_l2_sensitivity(self) -> Fraction:
        """Square of the largest L2 change of the answers when one record is added or removed."""
        ...

    @property
    def range_variances(self) -> Sequence[AxisFunction]:
        """Per axis, the variance of ranges where every answer carries noise of variance 1; a box has their product."""
        ...


def unit_error(strategy: Measured, workload: Workload) -> float:
    """Expected squared error per query at rho = 1/2: noise whose standard deviation is the L2 sensitivity.

    Under rho-zCDP the expected squared error per query is this over 2 rho; under (epsilon, delta) it is this
    times sigma^2, sigma the noise for sensitivity 1.
    """
    return float(strategy.squared_l2_sensitivity) * mean_over_queries(workload, strategy.range_variances)
