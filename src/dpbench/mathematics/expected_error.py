"""Expected error without running anything: means over the queries of a workload."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from dpbench.workloads import Workload

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
AxisFunction = Callable[[Ints, Ints], Floats]


def mean_over_queries(workload: Workload, functions: Sequence[AxisFunction]) -> float:
    """Mean over queries of weight^2 times the product over axes of ``function(lower, upper)``.

    The variance of a range under many strategies is such a product, or a short sum of them. A workload that is
    a product of distributions over one-axis ranges is averaged axis by axis, without a list of its ranges.
    """
    if workload.axes is not None:
        mean = 1.0
        for along, function in zip(workload.axes, functions, strict=True):
            mean *= sum(float(np.dot(chance, function(lower, upper))) for lower, upper, chance in along.blocks())
        return mean
    ranges = workload.ranges()
    values = ranges.weights**2
    for axis, function in enumerate(functions):
        values = values * function(ranges.lower[:, axis], ranges.upper[:, axis])
    return float(values.mean())


def lengths(lower: Ints, upper: Ints) -> Floats:
    """Number of cells in each range."""
    return (upper - lower).astype(np.float64)


def squared_overlaps(block: int) -> AxisFunction:
    """Sum over aligned blocks of ``block`` cells of the squared number of cells that a range has in it."""

    def overlaps(lower: Ints, upper: Ints) -> Floats:
        first, last = lower // block, (upper - 1) // block
        head = (first + 1) * block - lower
        tail = upper - last * block
        inner = np.maximum(last - first - 1, 0)
        apart = head**2 + tail**2 + inner * block**2
        return np.where(first == last, (upper - lower) ** 2, apart).astype(np.float64)

    return overlaps
