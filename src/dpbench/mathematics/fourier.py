"""The orthonormal real Fourier basis of one axis, low frequencies first.

Coordinate 0 is the mean's, then a cosine and a sine of each frequency, and at the end of an even axis the alternating
sum. The basis is orthonormal, so the coordinates have the length of the counts, and cutting them off after k leaves the
length of the tail as error.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import gcd, sqrt, ulp

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LARGEST_EXACT = 2**15
"""Cells up to which the exact sensitivities are computed, in time proportional to their square."""


def coordinates(values: NDArray[np.generic]) -> Floats:
    """Coordinates ``(..., n)`` of vectors ``(..., n)`` in the orthonormal basis."""
    n = values.shape[-1]
    spectrum = np.fft.rfft(values, norm="ortho")
    pairs = (n - 1) // 2
    result = np.empty(values.shape)
    result[..., 0] = spectrum[..., 0].real
    result[..., 1 : 2 * pairs : 2] = sqrt(2) * spectrum[..., 1 : pairs + 1].real
    result[..., 2 : 2 * pairs + 1 : 2] = sqrt(2) * spectrum[..., 1 : pairs + 1].imag
    if n > 1 and n % 2 == 0:
        result[..., -1] = spectrum[..., -1].real
    return result


def synthesis(coordinates: Floats) -> Floats:
    """The vectors ``(..., n)`` that have these coordinates ``(..., n)``."""
    n = coordinates.shape[-1]
    pairs = (n - 1) // 2
    spectrum = np.zeros((*coordinates.shape[:-1], n // 2 + 1), dtype=np.complex128)
    spectrum[..., 0] = coordinates[..., 0]
    spectrum[..., 1 : pairs + 1].real = coordinates[..., 1 : 2 * pairs : 2] / sqrt(2)
    spectrum[..., 1 : pairs + 1].imag = coordinates[..., 2 : 2 * pairs + 1 : 2] / sqrt(2)
    if n > 1 and n % 2 == 0:
        spectrum[..., -1] = coordinates[..., -1]
    return np.fft.irfft(spectrum, n, norm="ortho")


def cutoffs(n: int) -> Ints:
    """Numbers of coordinates to keep that part no cosine from its sine, ``(n // 2 + 1,)``: 1, 3, 5, ... and n."""
    return np.minimum(2 * np.arange(n // 2 + 1) + 1, n)


@lru_cache(maxsize=32)
def sensitivities(n: int, exact: bool) -> Floats:
    """How far one record moves the first k coordinates in L1, never too small, for each k of :func:`cutoffs`.

    A record moves them by a column of the basis, whose first k entries have length sqrt(k / n), so the L1 norm is at
    most k / sqrt(n); of the whole column at k = n too. The exact value is the largest column sum, beyond the first
    frequency 2 to 10 % smaller: |cos| + |sin| is sqrt(2) at its best angle and 4 / pi on average.
    """
    kept = cutoffs(n)
    if not exact or n > LARGEST_EXACT:
        return kept / sqrt(n) * (1 + 4 * ulp(1.0))
    pairs = (n - 1) // 2
    angles = 2 * np.pi / n * np.arange(n)
    size = sqrt(2 / n) * (np.abs(np.cos(angles)) + np.abs(np.sin(angles)))
    largest = np.zeros(pairs)
    # |cos| + |sin| has a period of a quarter turn and is even, so cells beyond an eighth of a turn repeat others
    period = n // gcd(n, 4)
    frequencies = np.arange(1, pairs + 1)
    for cell in range(period // 2 + 1):
        np.maximum(largest, np.cumsum(size[frequencies * cell % n]), out=largest)
    sums = np.concatenate([[0.0], largest]) + 1 / sqrt(n)
    if n > 1 and n % 2 == 0:
        sums = np.append(sums, sums[-1] + 1 / sqrt(n))
    return np.minimum(sums, kept / sqrt(n)) * (1 + (n + 8) * ulp(1.0))


@dataclass(frozen=True)
class Coordinates:
    """The statistic: coordinates of the counts."""

    def of(self, counts: Ints) -> Floats:
        """``(n,)``."""
        return coordinates(counts)


@dataclass(frozen=True, eq=False)
class CutoffScore:
    """Score each cutoff by the error that it would leave: minus the length of the tail, minus the length of the noise.

    One record moves the tail of the coordinates by the tail of a column, whose length is at most 1; the expected length
    of the noise is public. One score can rise while another falls.
    """

    noise: Floats
    """``(cutoffs,)``: the public length of the noise."""
    statistic = Coordinates()
    sensitivity = 1
    monotone = False

    def score(self, coordinates: Floats) -> Floats:
        """``(cutoffs,)``; the energy is added up from its small end, so that nothing cancels."""
        energy = np.append(np.cumsum(coordinates[::-1] ** 2)[::-1], 0.0)
        return np.asarray(-(np.sqrt(energy[cutoffs(len(coordinates))]) + self.noise))


@dataclass(frozen=True, eq=False)
class KeptCoordinates:
    """Ask for the first coordinates of each trial, weighted so that one record moves them by at most 1."""

    n: int
    kept: Ints
    """``(trials,)``: how many coordinates; those beyond are asked for with weight 0."""
    weight: Floats
    """``(trials,)``: at most one over the sensitivity of the kept coordinates."""
    statistic = Coordinates()
    sensitivity = 1

    @property
    def shape(self) -> tuple[int, ...]:
        """One answer a coordinate, whatever is kept, so that trials do not depend on one another."""
        return (self.n,)

    def answer(self, coordinates: Floats) -> Floats:
        """``(trials, n)``."""
        return np.where(np.arange(self.n) < self.kept[:, None], coordinates * self.weight[:, None], 0.0)
