"""p-Identity strategies of an axis that need no search any more: shipped, on the disk, or found once and kept."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dpbench import fitted
from dpbench.mathematics.moments import Moment
from dpbench.mathematics.p_identity import AxisStrategy
from dpbench.mathematics.p_identity_fit import fit_axis

STARTS, ITERATIONS = 6, 400
"""What is spent on a search by default."""
REVISION = 1
"""Raised when a search finds another strategy; what another revision has left on the disk is not read."""


@lru_cache(maxsize=64)
def axis_strategy(moment: Moment, starts: int, iterations: int) -> AxisStrategy:
    """The strategy of one axis: one that is known, or one that is searched for now and kept."""
    found = known(moment, starts, iterations)
    if found is None:
        found = fit_axis(moment, starts=starts, iterations=iterations)
        fitted.keep(_name(moment, starts, iterations), to_arrays(found))
    return found


def known(moment: Moment, starts: int, iterations: int) -> AxisStrategy | None:
    """A strategy that comes with the package, for the default search, or is on the disk."""
    found = None
    if (starts, iterations) == (STARTS, ITERATIONS):
        found = from_arrays(moment, fitted.shipped(moment.key))
    return found or from_arrays(moment, fitted.kept(_name(moment, starts, iterations)))


def to_arrays(strategy: AxisStrategy) -> fitted.Arrays:
    """A strategy as the arrays that are kept."""
    return {"rows": strategy.rows.astype(np.uint16), "units": strategy.units.astype(np.uint16)}


def from_arrays(moment: Moment, arrays: fitted.Arrays | None) -> AxisStrategy | None:
    """The strategy of an axis from what was kept; nothing where that is not one."""
    if arrays is None:
        return None
    try:
        return AxisStrategy(moment.side, arrays["rows"].astype(np.int64), arrays["units"].astype(np.int64))
    except (KeyError, ValueError):
        return None


def _name(moment: Moment, starts: int, iterations: int) -> str:
    return f"hdmm-{moment.key}-{starts}-{iterations}-r{REVISION}"
