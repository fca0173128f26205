"""The inverse Haar transform along one axis."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit("float64[:,:,::1](float64[:,:,::1])", cache=True)
def invert_axis(coefficients):  # type: ignore[no-untyped-def]
    """Left = (s + d) / 2, right = (s - d) / 2 from the root down; ``(outer, 2^m, inner)``."""
    outer, length, inner = coefficients.shape
    result = np.empty_like(coefficients)
    sums = np.empty((length, inner))
    for o in range(outer):
        for i in range(inner):
            result[o, 0, i] = coefficients[o, 0, i]
        half = 1
        while half < length:
            for node in range(half):
                for i in range(inner):
                    sums[node, i] = result[o, node, i]
            for node in range(half):
                for i in range(inner):
                    s = sums[node, i]
                    d = coefficients[o, half + node, i]
                    result[o, 2 * node, i] = 0.5 * (s + d)
                    result[o, 2 * node + 1, i] = 0.5 * (s - d)
            half *= 2
    return result
