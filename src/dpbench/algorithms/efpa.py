"""EFPA: the first Fourier coefficients, as many as the noise leaves worth keeping.

Acs, Castelluccia, Chen. Differentially private histogram publishing through lossy compression. ICDM 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm
from dpbench.errors import UnknownName
from dpbench.mathematics.fourier import CutoffScore, KeptCoordinates, cutoffs, sensitivities, synthesis
from dpbench.privacy import PrivateData, split
from dpbench.workloads import Workload

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
NOISE = ("exact", "tight", "sqrtk")


@dataclass(frozen=True)
class _Spectrum:
    """The statistic of the published form: the complex coefficients, not normalised."""

    def of(self, counts: Ints) -> NDArray[np.complex128]:
        """``(n // 2 + 1,)``."""
        return np.fft.rfft(counts)


@dataclass(frozen=True, eq=False)
class _PublishedScore:
    """The authors' score: the same formula on coefficients sqrt(n) times as large, with a claim that does not hold."""

    n: int
    noise: Floats
    statistic = _Spectrum()
    sensitivity = 1
    monotone = False

    def score(self, spectrum: NDArray[np.complex128]) -> Floats:
        """``(cutoffs,)``."""
        copies = np.diff(cutoffs(self.n), prepend=0)
        energy = np.append(np.cumsum((copies * np.abs(spectrum) ** 2)[::-1])[::-1], 0.0)
        return np.asarray(-(np.sqrt(energy[1:]) + self.noise))


@dataclass(frozen=True, eq=False)
class _Magnitudes:
    """The authors' question: magnitudes of the kept coefficients over sqrt(k), with a claim that does not hold."""

    kept: Ints
    """``(trials,)``: number of coordinates kept."""
    shape: tuple[int, ...]
    statistic = _Spectrum()
    sensitivity = 1

    def answer(self, spectrum: NDArray[np.complex128]) -> Floats:
        """``(trials, n // 2 + 1)``."""
        return np.asarray(np.abs(spectrum) / np.sqrt(self.kept)[:, None])


@dataclass(frozen=True, kw_only=True)
class EFPA(Algorithm):
    """Low-frequency Fourier coefficients with noise; the number of them is chosen privately.

    Half of epsilon chooses the number k of coordinates of the orthonormal real Fourier basis to keep, weighing
    the length of what is cut off against the length of the noise; the other half measures these k.

    The noise has to cover what one record does to k coordinates. The publication bounds that by sqrt(k) ("sqrtk").
    As every column of the basis has entries of size 1 / sqrt(n), k / sqrt(n) is enough ("tight"), sqrt(n / k) times
    less; and the largest column sum, known for each n, is smaller still by up to a tenth ("exact", the default; beyond
    32768 cells it is "tight"). On synthetic shapes its error on Prefix is 0 to 11 % below that of "tight".

    The authors' code (``variant="published"``) uses coefficients that are not normalised with sensitivities of
    normalised ones, so its noise is too small by about sqrt(n), and it adds the noise to magnitudes and
    releases the true phases.

    Privacy
    -------
    Half of epsilon selects k. The score is minus the length of the tail of the coordinates, which one record moves by
    at most 1 since the basis is orthonormal, minus a public length of noise; it is not monotone, so the factor 2 stays.
    The other half measures the first k coordinates, divided by a public bound of the L1 norm of the first k entries of
    any column of the basis: one record moves these answers by at most 1. The inverse transform is post-processing.
    """

    name = "EFPA"
    paper = "Acs, Castelluccia, Chen: Differentially private histogram publishing through lossy compression, ICDM 2012"
    dimensions = (1,)
    not_private = "it releases the true phases of the Fourier coefficients, and its noise is too small by about sqrt(n)"

    noise: Literal["exact", "tight", "sqrtk"] = "exact"
    """How the effect of one record on k coordinates is bounded; of no effect on the published form."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.noise not in NOISE:
            raise UnknownName.among("bound of the noise", self.noise, NOISE)

    @property
    def consistent(self) -> bool:
        """With enough budget all coordinates are kept."""
        return True

    def _prepare(self, workload: Workload) -> None:
        """The sensitivities for the domain's size."""
        self._sensitivities(workload.domain.size)

    def estimate(self, data: PrivateData, workload: Workload) -> Floats:
        """Choose how many coordinates to keep, then measure them."""
        del workload
        selection, measurement = split(data.epsilon, Fraction(1, 2))
        if self.variant == "published":
            return self._estimate_published(data, selection, measurement)
        n = data.domain.size
        # select: how many coordinates to keep, by what the rest and the noise cost
        kept, reach = cutoffs(n), self._sensitivities(n)
        length = sqrt(2) * np.sqrt(kept) * reach / float(measurement)
        chosen = data.choose(CutoffScore(length), selection, "number of coordinates")
        # measure: the kept coordinates
        question = KeptCoordinates(n, kept[chosen], 1.0 / reach[chosen])
        noisy = data.laplace(question, measurement, "kept coordinates, each over the sensitivity of all")
        # estimate: the transform back, 0 for the others
        inside = np.arange(n) < kept[chosen, None]
        return synthesis(np.where(inside, noisy * reach[chosen, None], 0.0))

    def _sensitivities(self, n: int) -> Floats:
        """How far one record moves the first k coordinates, for each cutoff k; never too small."""
        if self.noise == "sqrtk":
            return np.nextafter(np.sqrt(cutoffs(n)), np.inf)
        return sensitivities(n, exact=self.noise == "exact")

    @staticmethod
    def _estimate_published(data: PrivateData, selection: Fraction, measurement: Fraction) -> Floats:
        """As the authors' code: noisy magnitudes, true phases."""
        n = data.domain.size
        kept = cutoffs(n)
        spectrum = np.fft.rfft(data.reveal("true phases"))
        # select: how many coefficients to keep
        score = _PublishedScore(n, np.asarray(kept * (sqrt(2) / float(measurement)), dtype=np.float64))
        chosen = data.choose(score, selection, "number of coefficients")
        # measure: their magnitudes
        noisy = data.laplace(_Magnitudes(kept[chosen], spectrum.shape), measurement, "magnitudes")
        magnitudes = noisy * np.sqrt(kept[chosen])[:, None]
        # estimate: noisy magnitudes with true phases, transformed back
        inside = np.arange(len(spectrum)) <= chosen[:, None]
        return np.fft.irfft(np.where(inside, magnitudes * np.exp(1j * np.angle(spectrum)), 0.0), n)
