"""The square root of the prefix sums, as a strategy for Gaussian noise.

The matrix W of all prefixes is lower triangular with ones, the Toeplitz matrix of 1 / (1 - z). Its square root A is
the Toeplitz matrix of (1 - z)^(-1/2), with f_0 = 1 and f_k = f_(k-1) (2k - 1) / (2k), and its inverse that of (1 -
z)^(1/2). Since W = A A, the answers to the prefixes are A y for noisy answers y to A. (Fichtenberger, Henzinger,
Upadhyay, ICML 2023; Henzinger, Upadhyay, Upadhyay, SODA 2023.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.errors import InvalidDomain

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
AxisFunction = Callable[[Ints, Ints], Floats]


@dataclass(frozen=True)
class SquareRoot:
    """Ask for A x on a domain of one axis.

    Cell 0 enters every answer, and its column (f_0 ... f_(n-1)) is the largest in every norm. Both sensitivities are
    those of the coefficients as they are stored, in exact arithmetic.
    """

    domain: Domain

    def __post_init__(self) -> None:
        if self.domain.ndim != 1:
            raise InvalidDomain(f"the square root of prefixes needs one axis and {self.domain} has {self.domain.ndim}")

    @property
    def shape(self) -> tuple[int, ...]:
        """One answer per cell."""
        return self.domain.shape

    @cached_property
    def sensitivity(self) -> Fraction:
        """Largest L1 change of the answers by one record: the sum of f."""
        return sum(map(Fraction, self._root.tolist()), Fraction(0))

    @cached_property
    def squared_l2_sensitivity(self) -> Fraction:
        """Square of the largest L2 change of the answers by one record: the sum of f^2, about ln(n) / pi + 1.07."""
        return sum((Fraction(f) ** 2 for f in self._root.tolist()), Fraction(0))

    @cached_property
    def _root(self) -> Floats:
        k = np.arange(1, self.domain.size)
        return np.cumprod(np.concatenate([[1.0], (2 * k - 1) / (2 * k)]))

    @cached_property
    def _inverse(self) -> Floats:
        k = np.arange(1, self.domain.size)
        return np.cumprod(np.concatenate([[1.0], (2 * k - 3) / (2 * k)]))

    @cached_property
    def _energy(self) -> Floats:
        """``(n + 1,)``: sum of the first squares of f, the variance of each prefix."""
        return np.concatenate([[0.0], np.cumsum(self._root**2)])

    def answer(self, counts: NDArray[np.generic]) -> Floats:
        """True answers ``(..., n)`` for counts ``(..., n)``."""
        return _convolve(counts, self._root)

    def reconstruct(self, answers: Floats) -> Floats:
        """Cells ``(..., n)`` from answers ``(..., n)``; A is square, so the inverse is least squares."""
        return _convolve(answers, self._inverse)

    def influence(self, queries: Floats) -> Floats:
        """What each query ``(..., n)`` takes of every answer: the transpose of :meth:`reconstruct`."""
        return np.ascontiguousarray(_convolve(queries[..., ::-1], self._inverse)[..., ::-1])

    def range_variance(self, lower: Ints, upper: Ints) -> Floats:
        """Variance of the ranges ``[lower, upper)`` where every answer carries noise of variance 1.

        A prefix of u cells weighs the answers by (f_(u-1) ... f_0), so a range has the squared distance of two
        such rows: their energies minus twice the sum over i < lower of f_i f_(i + length). Prefixes need no
        second row; other ranges take one running sum per length.
        """
        variance = self._energy[upper] + self._energy[lower]
        inner = np.flatnonzero(lower > 0)
        lengths = (upper - lower)[inner]
        for length in np.unique(lengths).tolist():
            same = inner[lengths == length]
            common = np.cumsum(self._root[:-length] * self._root[length:])
            variance[same] -= 2 * common[lower[same] - 1]
        return variance

    @property
    def range_variances(self) -> tuple[AxisFunction]:
        """:meth:`range_variance`, one function per axis."""
        return (self.range_variance,)


def _convolve(values: NDArray[np.generic], kernel: Floats) -> Floats:
    """The first n terms of the convolution along the last axis, by FFT of at least twice the length."""
    n = len(kernel)
    size = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.rfft(values, size) * np.fft.rfft(kernel, size)
    return np.fft.irfft(spectrum, size)[..., :n]
