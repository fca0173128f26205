"""What may become a private data vector: whole, non-negative counts in int64."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbench.errors import InvalidCounts
from dpbench.given import numbers

LARGEST_TOTAL = 2**53
"""Up to here every sum of counts is exact as a float64."""


def as_counts(values: ArrayLike) -> NDArray[np.int64]:
    """An int64 copy of ``values`` that cannot be made writeable; refusals never quote a count."""
    array = numbers(values, "array of counts", InvalidCounts, "iuf", "whole non-negative numbers")
    if array.ndim == 0 or array.size == 0:
        raise InvalidCounts(f"counts have shape {array.shape}; give an array with at least one cell")
    if array.dtype.kind == "f" and (array != np.floor(array)).any():
        raise InvalidCounts("counts hold fractions; give whole non-negative numbers")
    if array.min() < 0:
        raise InvalidCounts("counts hold a negative number; give whole non-negative numbers")
    # where one count is above it the sum may be infinite, and where none can bring it there it need not be taken
    largest, cells = float(array.max()), array.size
    if largest > LARGEST_TOTAL or (largest * cells > LARGEST_TOTAL and array.sum(dtype=np.float64) > LARGEST_TOTAL):
        raise InvalidCounts("counts add up to more than 2^53, where sums stop being exact; give fewer records")
    # over bytes, which nobody can write to: an array that owns its memory can be made writeable again
    return np.frombuffer(array.astype(np.int64, copy=False).tobytes(), dtype=np.int64).reshape(array.shape)
