"""Identity: noise on every cell.

Dwork, McSherry, Nissim, Smith. Calibrating noise to sensitivity in private data analysis. TCC 2006.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm
from dpbench.mathematics.cells import Cells
from dpbench.mathematics.expected_error import lengths, mean_over_queries
from dpbench.mathematics.noise_bars import Influence
from dpbench.privacy import PrivateData, Strategy
from dpbench.workloads import Workload


@dataclass(frozen=True, kw_only=True)
class Identity(Algorithm):
    """Noise on every cell; the paper's data-independent baseline.

    Queries add up noisy cells, so the variance of a range grows with the number of its cells.

    Privacy
    -------
    One call spends the whole budget on the cells. Cells are disjoint, so one record moves the answers by 1.
    """

    name = "Identity"
    paper = "Dwork, McSherry, Nissim, Smith: Calibrating noise to sensitivity in private data analysis, TCC 2006"
    data_dependent = False
    notions = ("pure", "zCDP")
    one_measurement = True

    def estimate(self, data: PrivateData, workload: Workload) -> NDArray[np.float64]:
        """Noisy cells, as they are."""
        del workload
        return data.measure(Cells(data.domain), data.budget, "cells")

    def influence(self, workload: Workload) -> Influence:
        """The cells of a query."""
        return Cells(workload.domain).influence

    def measurement(self, workload: Workload) -> tuple[Strategy, float]:
        """The cells; a query adds up as many noises as it has cells."""
        return Cells(workload.domain), mean_over_queries(workload, [lengths] * workload.domain.ndim)
