"""Exponentials of a whole array in one vector loop: compilers call the scalar function once per number."""

from __future__ import annotations

import numpy as np
from numba import njit

LEAST = -708.0
"""Below this an exponential is next to the least number that has all its digits."""


@njit("void(float64[::1], float64, float64, int64[::1])", cache=True, fastmath={"contract"})
def exponentials(values, top, rate, bits):  # type: ignore[no-untyped-def]
    """In place, exp(rate (v - top)) for v <= top, to a relative 1e-15; 0 below exp(-708). ``bits`` is work space.

    exp(x) = 2^k exp(r), where k is the nearest whole number to x / log 2: r is within log(2) / 2 of 0, where 14 terms
    of the series are enough, and 2^k is written as the bits of its exponent. log 2 is subtracted in two parts, the
    first of which has so few digits that k times it is exact.
    """
    powers = bits.view(np.float64)
    for i in range(values.shape[0]):
        x = rate * (values[i] - top)
        inside = max(x, LEAST)
        k = np.floor(inside * 1.4426950408889634 + 0.5)
        r = (inside - k * 0.693145751953125) - k * 1.42860682030941723212e-6
        series = 1 / 6227020800
        series = series * r + 1 / 479001600
        series = series * r + 1 / 39916800
        series = series * r + 1 / 3628800
        series = series * r + 1 / 362880
        series = series * r + 1 / 40320
        series = series * r + 1 / 5040
        series = series * r + 1 / 720
        series = series * r + 1 / 120
        series = series * r + 1 / 24
        series = series * r + 1 / 6
        series = series * r + 1 / 2
        series = series * r + 1.0
        series = series * r + 1.0
        values[i] = series if x >= LEAST else 0.0
        bits[i] = np.int64(np.int32(k) + np.int32(1023)) << np.int64(52)
    for i in range(values.shape[0]):
        values[i] *= powers[i]
