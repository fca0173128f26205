"""Privelet: noise on Haar wavelet coefficients.

Xiao, Wang, Gehrke. Differential privacy via wavelet transforms. ICDE 2010.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm, by_variant
from dpbench.errors import InvalidInput
from dpbench.mathematics.cells import Cells
from dpbench.mathematics.expected_error import lengths, mean_over_queries
from dpbench.mathematics.haar import HaarWavelet, range_energy
from dpbench.mathematics.noise_bars import Influence
from dpbench.privacy import PrivateData, Strategy
from dpbench.workloads import Workload


@dataclass(frozen=True, kw_only=True)
class Privelet(Algorithm):
    """Noise on the Haar coefficients along every axis, then the inverse transform.

    A range is a combination of few coefficients, so its variance grows with the logarithm of the domain. Any
    number of axes, each padded with zeros to a power of two.

    The publication doubles the noise because its neighbours replace a record; here they differ by one record
    added or removed. The authors' code uses plain cells on one axis of at most 16 cells: ``small_identity``.

    Privacy
    -------
    One call spends the whole budget on the coefficients. A cell enters the total and one difference per level, each
    with coefficient 1 or -1: one record moves the answers by the product over axes of log2(n_j) + 1.
    """

    name = "Privelet"
    paper = "Xiao, Wang, Gehrke: Differential privacy via wavelet transforms, ICDE 2010"
    data_dependent = False
    notions = ("pure", "zCDP")
    one_measurement = True
    hierarchical = True

    small_identity: int = by_variant(private=0, published=16)
    """Use noisy cells instead on a single axis of at most so many cells."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.small_identity < 0:
            raise InvalidInput(f"small_identity is {self.small_identity}; give a number of cells of at least 0")

    def estimate(self, data: PrivateData, workload: Workload) -> NDArray[np.float64]:
        """Noisy coefficients, inverted."""
        if self._plain(workload):
            return data.measure(Cells(data.domain), data.budget, "cells")
        wavelet = HaarWavelet(data.domain)
        return wavelet.invert(data.measure(wavelet, data.budget, "wavelet coefficients"))

    def influence(self, workload: Workload) -> Influence:
        """Coefficients over the sizes of their nodes."""
        return (Cells if self._plain(workload) else HaarWavelet)(workload.domain).influence

    def measurement(self, workload: Workload) -> tuple[Strategy, float]:
        """The coefficients; the product over axes of a range's energy in them."""
        if self._plain(workload):
            return Cells(workload.domain), mean_over_queries(workload, [lengths])
        wavelet = HaarWavelet(workload.domain)
        return wavelet, mean_over_queries(workload, [partial(range_energy, levels=m) for m in wavelet.levels])

    def _plain(self, workload: Workload) -> bool:
        return workload.domain.ndim == 1 and workload.domain.size <= self.small_identity
