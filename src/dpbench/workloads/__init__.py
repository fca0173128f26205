"""Workloads (the paper's W): sets of range queries over a domain of any number of dimensions.

Answers come from a summed-area table; a dense matrix of queries is never made, except by ``matrix()`` for
small tests.
"""

from __future__ import annotations

from dpbench.workloads.all_range import AllRange
from dpbench.workloads.axis import AxisRanges
from dpbench.workloads.catalogue import build, names
from dpbench.workloads.fixed import Identity, Prefix
from dpbench.workloads.random_ranges import RandomRange, RandomSmall
from dpbench.workloads.ranges import Ranges
from dpbench.workloads.workload import Workload

__all__ = [
    "AllRange",
    "AxisRanges",
    "Identity",
    "Prefix",
    "RandomRange",
    "RandomSmall",
    "Ranges",
    "Workload",
    "build",
    "names",
]
