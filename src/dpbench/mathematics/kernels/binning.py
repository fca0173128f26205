"""From values to cells: the bin of every number, and rows counted per cell."""

from __future__ import annotations

import numpy as np
from numba import float64, int64, njit, types

_READ = types.Array(float64, 1, "C", readonly=True)
_CODES = types.Array(int64, 1, "C", readonly=True)


@njit(
    types.void(_READ, _READ, types.boolean, int64, int64, int64[::1], int64[::1]),
    cache=True,
)
def add_bins(values, breaks, clamp, missing, cells, flat, tally):  # type: ignore[no-untyped-def]
    """Append an axis to the cell numbers of rows: ``flat * cells + bin``, or -1 where the row is dropped.

    Bin k holds ``breaks[k] <= value < breaks[k + 1]``, the last one both its ends. NaN is missing and goes to the bin
    ``missing``; -1 there drops the row. ``tally`` counts values that are missing, and values outside the bounds.
    The bin is guessed as if all were equally wide and corrected against the breaks, so rounding decides nothing.
    """
    bins = len(breaks) - 1
    low, high = breaks[0], breaks[bins]
    per_unit = bins / (high - low)
    for i in range(len(values)):
        value = values[i]
        if np.isnan(value):
            tally[0] += 1
            code = missing
        elif value < low:
            tally[1] += 1
            code = 0 if clamp else -1
        elif value >= high:
            if value > high:
                tally[1] += 1
                code = bins - 1 if clamp else -1
            else:
                code = bins - 1
        else:
            guess = (value - low) * per_unit  # NaN where the bounds are as far apart, or as close, as floats can be
            code = int(guess) if 0 <= guess < bins else 0
            if value < breaks[code] or value >= breaks[code + 1]:
                first, last = 0, bins
                while last - first > 1:
                    middle = (first + last) // 2
                    if value < breaks[middle]:
                        last = middle
                    else:
                        first = middle
                code = first
        flat[i] = -1 if code < 0 or flat[i] < 0 else flat[i] * cells + code


@njit(types.void(_CODES, int64, int64[::1]), cache=True)
def add_codes(codes, cells, flat):  # type: ignore[no-untyped-def]
    """The same for an axis whose cell numbers are known; -1 drops the row."""
    for i in range(len(codes)):
        flat[i] = -1 if codes[i] < 0 or flat[i] < 0 else flat[i] * cells + codes[i]


@njit(int64(_CODES, int64[::1]), cache=True)
def count_rows(flat, counts):  # type: ignore[no-untyped-def]
    """Add one to the cell of every row that has one; returns how many rows have none."""
    dropped = 0
    for i in range(len(flat)):
        if flat[i] < 0:
            dropped += 1
        else:
            counts[flat[i]] += 1
    return dropped
