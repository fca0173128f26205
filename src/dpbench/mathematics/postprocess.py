"""What offices want of a release: non-negative cells, whole numbers, totals kept. Free of budget.

Every step is a function of the estimate alone, so it costs nothing; it does introduce bias, which is why it is
off unless asked for.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import InvalidInput, UnknownName, shown
from dpbench.mathematics.top_down import integral, top_down

Floats = NDArray[np.float64]


def non_negative(estimate: Floats) -> Floats:
    """The nearest non-negative estimate with the same total, ``(trials, *domain)``.

    As publications do it. It breaks the sums of boxes, where cells are many and nearly empty: "top-down" keeps them.

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


STEPS = {"top-down": top_down, "integral": integral, "non-negative": non_negative}
"""By name. "non-negative" is what publications do with a histogram; "top-down" keeps sums, and errs less on ranges."""


def read_steps(given: object) -> tuple[str, ...]:
    """The steps by name: one, or several in order."""
    steps = (given,) if isinstance(given, str) else given
    if not isinstance(steps, list | tuple):
        raise InvalidInput(f"postprocess is {shown(given)}; give a list of steps out of {', '.join(STEPS)}")
    for step in steps:
        if not isinstance(step, str) or step not in STEPS:
            raise UnknownName.among("post-processing step", step, STEPS)
    return tuple(steps)


def apply_steps(estimate: Floats, steps: Sequence[str]) -> Floats:
    """Apply the named steps in the order given."""
    for step in read_steps(steps):
        estimate = STEPS[step](estimate)
    return estimate
