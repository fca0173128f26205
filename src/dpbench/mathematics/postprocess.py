"""What offices want of a release: non-negative cells, whole numbers, totals kept. Free of budget.

Every step is a function of the estimate alone, so it costs nothing; it does introduce bias, which is why it is
off unless asked for.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import UnknownName

Floats = NDArray[np.float64]


def non_negative(estimate: Floats) -> Floats:
    """The nearest non-negative estimate with the same total, ``(trials, *domain)``.

    Subtracts one number from every cell and cuts at zero, with the number chosen so that the total stays; a total
    below zero becomes zero.
    """
    rows = estimate.reshape(len(estimate), -1)
    total = np.maximum(rows.sum(axis=1), 0.0)
    descending = -np.sort(-rows, axis=1)
    running = np.cumsum(descending, axis=1) - total[:, None]
    rank = np.arange(1, rows.shape[1] + 1)
    kept = np.maximum((descending * rank > running).sum(axis=1), 1)
    level = running[np.arange(len(rows)), kept - 1] / kept
    return np.asarray(np.maximum(rows - level[:, None], 0.0).reshape(estimate.shape))


def integral(estimate: Floats) -> Floats:
    """Whole numbers that add up to the rounded total: the largest remainders are rounded up."""
    rows = estimate.reshape(len(estimate), -1)
    floor = np.floor(rows)
    missing = np.rint(rows.sum(axis=1) - floor.sum(axis=1)).astype(np.int64)
    largest_first = np.argsort(floor - rows, axis=1, kind="stable")
    rank = np.empty_like(largest_first)
    np.put_along_axis(rank, largest_first, np.arange(rows.shape[1])[None, :], axis=1)
    return np.asarray((floor + (rank < missing[:, None])).reshape(estimate.shape))


STEPS = {"non-negative": non_negative, "integral": integral}


def apply_steps(estimate: Floats, steps: Sequence[str]) -> Floats:
    """Apply the named steps in the order given."""
    for step in (steps,) if isinstance(steps, str) else steps:
        if step not in STEPS:
            raise UnknownName.among("post-processing step", step, STEPS)
        estimate = STEPS[step](estimate)
    return estimate
