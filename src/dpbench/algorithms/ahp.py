"""AHP: cells with similar noisy counts share one total.

Zhang, Chen, Xu, Meng, Xie. Towards accurate histogram publication under differential privacy. SDM 2014.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm
from dpbench.errors import InvalidInput
from dpbench.mathematics.cells import Cells
from dpbench.mathematics.groups import GroupTotals
from dpbench.privacy import PrivateData, split
from dpbench.workloads import Workload


@dataclass(frozen=True, kw_only=True)
class AHP(Algorithm):
    """Noisy cells are sorted and clustered by value, and each cluster's records are counted again and spread evenly.

    A first look at every cell says which cells are alike: small noisy counts are set to zero, the rest is sorted, and a
    greedy pass over the sorted values starts a new cluster where joining costs more squared error than standing
    apart. A second look counts the records of each cluster. Many cells then share one draw of noise, at
    the price of the differences within a cluster. Clusters are sets of cells with no regard to where they lie, so
    any number of axes is the same as one.

    The publication tunes rho and eta on the data, which is not private; the defaults here are those of the authors'
    code, and AHP* learns them from synthetic data. The greedy rule is the authors' code's too, sorted ascending.
    Its published form differs in nothing.

    Privacy
    -------
    rho of epsilon is spent on the cells and the rest on the totals of the clusters. Cells are disjoint, and so are
    clusters: one record moves either by 1. Thresholding, sorting and clustering see noisy counts alone.
    """

    name = "AHP"
    paper = "Zhang, Chen, Xu, Meng, Xie: Towards accurate histogram publication, SDM 2014"
    notions = ("pure", "zCDP")
    partitioning = True
    consistent = True
    free: ClassVar[Mapping[str, tuple[float, ...]]] = {
        "rho": (0.85, 0.9, 0.8, 0.7, 0.5, 0.3, 0.1),
        "eta": (0.35, 0.3, 0.2, 0.1, 0.05, 0.5, 0.7, 0.9),
    }

    rho: float = 0.85
    """Share of epsilon spent on the cells, to find clusters."""
    eta: float = 0.35
    """Noisy counts up to eta * ln(n) / (rho * epsilon) are taken for zero."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.rho < 1:
            raise InvalidInput(f"rho is {self.rho}; give a share of epsilon between 0 and 1, both excluded")
        if not 0 <= self.eta < math.inf:
            raise InvalidInput(f"eta is {self.eta}; give a number of at least 0")

    def estimate(self, data: PrivateData, workload: Workload) -> NDArray[np.float64]:
        """Noisy cells, clusters of them, noisy totals of the clusters."""
        from dpbench.mathematics.kernels.clustering import spread

        del workload
        trials, cells = data.trials, data.domain.size
        for_cells, for_totals = split(data.budget, self.rho)
        # measure: every cell, small counts to 0
        noisy = data.measure(Cells(data.domain), for_cells, "cells").reshape(trials, cells)
        noisy[noisy <= self.eta * math.log(cells) / data.as_epsilon(for_cells)] = 0.0
        # select: clusters of cells that look alike, by the noisy counts alone
        labels = cluster(noisy, 2.0 / data.as_epsilon(for_totals) ** 2)
        # measure: one total per cluster
        totals = data.measure(GroupTotals(labels, cells), for_totals, "totals of clusters").reshape(trials, cells)
        # estimate: each total evenly over its cluster
        return np.asarray(spread(np.ascontiguousarray(totals), labels)).reshape(trials, *data.domain.shape)


def cluster(noisy: NDArray[np.float64], price: float) -> NDArray[np.int64]:
    """The cluster of each cell, ``(trials, cells)``; equal values are sorted in the order of their cells.

    No value is negative. Zeros are many and come first, in cluster 0; only the rest has to be sorted.
    """
    from dpbench.mathematics.kernels.clustering import greedy_clusters

    labels = np.zeros(noisy.shape, dtype=np.int64)
    for row, label in zip(noisy, labels, strict=True):
        positive = np.flatnonzero(row)
        values = row[positive]
        order = np.argsort(values)
        ascending = values[order]
        if (ascending[1:] == ascending[:-1]).any():
            order = np.argsort(values, kind="stable")
        label[positive[order]] = greedy_clusters(ascending, len(row) - len(positive), price)
    return labels
