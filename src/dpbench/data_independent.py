"""Which data-independent algorithm suits a workload: their errors are known without a run, and without data."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dpbench import algorithms
from dpbench.algorithm import Algorithm
from dpbench.algorithms.hdmm import HDMM
from dpbench.errors import DPBenchError
from dpbench.limits import limit
from dpbench.workloads import Workload


@dataclass(frozen=True)
class ExpectedError:
    """What an algorithm's error comes to on a workload, whatever the data."""

    algorithm: str
    error: float
    """Expected squared error per query; NaN where it could not be computed."""
    times_limit: float
    """The error over the limit that no unbiased strategy is below."""
    note: str = ""
    """What was left out, or why there is no error."""

    def __str__(self) -> str:
        return f"{self.algorithm:10} {self.error:12.6g} {self.times_limit:8.2f} x limit  {self.note}".rstrip()


def expected_errors(workload: Workload, epsilon: float, *, search: bool = False) -> list[ExpectedError]:
    """The algorithms whose error on a workload does not depend on the data, the best first.

    Nothing is run. HDMM's strategy is one that is at hand, or its start; ``search`` lets it take its time, up to a
    minute for an axis of 4,096 cells.
    """
    least = float(limit(workload, epsilon))
    rows = []
    for kind in algorithms.catalogue().values():
        algorithm, note = _in_time(kind(), workload, search)
        if not algorithm.supports(workload.domain):
            continue
        try:
            error = algorithm.expected_error(workload, epsilon)
        except DPBenchError as refusal:
            if not algorithm.data_dependent:
                rows.append(ExpectedError(algorithm.name, float("nan"), float("nan"), str(refusal)))
            continue
        rows.append(ExpectedError(algorithm.name, error, error / least, note))
    return sorted(rows, key=lambda row: (row.error != row.error, row.error))  # NaN comes last


def _in_time(algorithm: Algorithm, workload: Workload, search: bool) -> tuple[Algorithm, str]:
    """The algorithm in a form whose error is known in seconds."""
    if search or not isinstance(algorithm, HDMM) or algorithm.at_hand(workload):
        return algorithm, ""
    return replace(algorithm, iterations=0), "before its search, which lowers this by a tenth or more"
