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

DIGIT = 12
"""Bits of a digit: sums of n products of two are so far below 2^53 that a transform gets them right to the unit."""
FRACTION = 60
"""Bits behind the point of a coefficient."""


@dataclass(frozen=True)
class SquareRoot:
    """Ask for A x on a domain of one axis.

    Cell 0 enters every answer, and its column (f_0 ... f_(n-1)) is the largest in every norm. Both sensitivities are
    those of the coefficients as they are stored, in exact arithmetic. So are answers, but for their own last bits: a
    plain Fourier transform would leave the rounding of a huge count in the answers before it, where one record more or
    less then moves them by more than is claimed.
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
        return np.ldexp(self._whole_root.astype(np.float64), -FRACTION)

    @cached_property
    def _whole_root(self) -> Ints:
        """The coefficients in units of 2^-60, which up to 20,000 cells is no rounding."""
        k = np.arange(1, self.domain.size)
        root = np.cumprod(np.concatenate([[1.0], (2 * k - 1) / (2 * k)]))
        return np.rint(np.ldexp(root, FRACTION)).astype(np.int64)

    @cached_property
    def _inverse(self) -> Floats:
        k = np.arange(1, self.domain.size)
        return np.cumprod(np.concatenate([[1.0], (2 * k - 3) / (2 * k)]))

    @cached_property
    def _energy(self) -> Floats:
        """``(n + 1,)``: sum of the first squares of f, the variance of each prefix."""
        return np.concatenate([[0.0], np.cumsum(self._root**2)])

    def answer(self, counts: NDArray[np.generic]) -> Floats:
        """True answers ``(..., n)`` for whole counts ``(..., n)``, none of them negative."""
        whole = np.asarray(counts).astype(np.int64, casting="safe")
        return np.ldexp(_convolve_whole(whole, self._whole_root), -FRACTION)

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


def _convolve_whole(values: Ints, kernel: Ints) -> Floats:
    """The same of whole numbers that are not negative, each term to its own last bits.

    Numbers are taken apart into digits. Transforms of digits give sums of their products, which are whole numbers: what
    rounding has left of a fraction is cut off, and no sum depends on the size of another.
    """
    n = len(kernel)
    size = 1 << (2 * n - 1).bit_length()
    ours, theirs = (np.fft.rfft(_digits(each), size) for each in (values, kernel))
    result = np.zeros(values.shape)
    for place in range(len(ours) + len(theirs) - 1):  # the smallest first
        both = range(max(0, place - len(theirs) + 1), min(place + 1, len(ours)))
        spectrum = sum(ours[at] * theirs[place - at] for at in both)
        result += np.ldexp(np.rint(np.fft.irfft(spectrum, size)[..., :n]), DIGIT * place)
    return result


def _digits(values: Ints) -> Ints:
    """``(digits, ...)`` of whole numbers, the lowest first; as many as the largest needs."""
    many = -(-max(int(values.max(initial=0)).bit_length(), 1) // DIGIT)
    return np.stack([(values >> DIGIT * place) & ((1 << DIGIT) - 1) for place in range(many)])
