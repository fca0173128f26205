"""Products and inverses of matrices of a few hundred rows, whose bits do not depend on the number of threads.

A linear algebra library splits its work over threads, and another split is another rounding. A search would end in
another strategy, and a run in a worker process, which has one thread, would differ from one in the main process.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit("float64[:,::1](float64[:,::1], float64[:,::1])", cache=True)
def product(one, other):  # type: ignore[no-untyped-def]
    """A B, four rows of B at a time."""
    rows, inner = one.shape
    columns = other.shape[1]
    result = np.zeros((rows, columns))
    for i in range(rows):
        k = 0
        while k + 4 <= inner:
            a, b, c, d = one[i, k], one[i, k + 1], one[i, k + 2], one[i, k + 3]
            for j in range(columns):
                result[i, j] += a * other[k, j] + b * other[k + 1, j] + c * other[k + 2, j] + d * other[k + 3, j]
            k += 4
        while k < inner:
            a = one[i, k]
            for j in range(columns):
                result[i, j] += a * other[k, j]
            k += 1
    return result


@njit("float64[:,::1](float64[:,::1])", cache=True)
def inverse(matrix):  # type: ignore[no-untyped-def]
    """The inverse of a positive definite matrix by Gauss and Jordan's elimination, which needs no pivots there."""
    result = matrix.copy()
    count = len(result)
    for k in range(count):
        scale = 1.0 / result[k, k]
        result[k, k] = 1.0
        for j in range(count):
            result[k, j] *= scale
        for i in range(count):
            if i != k:
                factor = result[i, k]
                result[i, k] = 0.0
                for j in range(count):
                    result[i, j] -= factor * result[k, j]
    return result
