"""Uniform: the number of records and nothing else. The baseline of the paper, section 3.1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm
from dpbench.privacy import PrivateData, Total
from dpbench.workloads import Workload


@dataclass(frozen=True, kw_only=True)
class Uniform(Algorithm):
    """A noisy total, spread evenly over all cells; the paper's data-dependent baseline.

    Its error on data that are not uniform is bias, which no epsilon removes; a noisy total below zero is kept.

    Privacy
    -------
    One call spends all of epsilon on the total, which one record moves by 1.
    """

    name = "Uniform"
    paper = "Hay, Machanavajjhala, Miklau, Chen, Zhang: Principled evaluation ... using DPBench, SIGMOD 2016"
    notions = ("pure", "zCDP")
    partitioning = True
    consistent = False

    def estimate(self, data: PrivateData, workload: Workload) -> NDArray[np.float64]:
        """The noisy total over the number of cells, everywhere."""
        del workload
        total = data.measure(Total(), data.budget, "total")
        share = (total / data.domain.size).reshape(-1, *[1] * data.domain.ndim)
        return np.broadcast_to(share, (data.trials, *data.domain.shape)).copy()
