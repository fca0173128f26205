"""Descent by L-BFGS (Liu, Nocedal 1989): the same steps on every machine and with every version of other packages.

scipy's is compiled against a threaded BLAS, whose threads cost tens of times the search itself on a busy machine.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Function = Callable[[Floats], tuple[float, Floats]]
"""A value and its gradient."""

MEMORY = 10
"""Steps from which the curvature is taken."""
DECREASE, CURVATURE = 1e-4, 0.9
"""Wolfe's conditions: a step gains so much of what the slope promises, and leaves so much of the slope at most."""
TRIALS = 20
"""Lengths that are tried for a step."""


def descend(function: Function, start: Floats, iterations: int, *, enough: float = 1e-13) -> tuple[float, Floats]:
    """The least value found within so many iterations, and where.

    It ends early where a step gains less than ``enough`` of the value.
    """
    x = start
    value, slope = function(x)
    memory: deque[tuple[Floats, Floats, float]] = deque(maxlen=MEMORY)
    for _ in range(iterations):
        direction = -_curved(slope, memory)
        if not memory:
            direction /= max(1.0, float(np.sqrt((slope * slope).sum())))
        found = _step(function, x, value, slope, direction)
        if found is None:
            break
        new_x, new_value, new_slope = found
        moved, turned = new_x - x, new_slope - slope
        product = float((moved * turned).sum())
        if product > 0:
            memory.append((moved, turned, 1.0 / product))
        gained = value - new_value
        x, value, slope = new_x, new_value, new_slope
        if gained <= enough * abs(value):
            break
    return value, x


def _curved(slope: Floats, memory: deque[tuple[Floats, Floats, float]]) -> Floats:
    """The inverse Hessian that the last steps suggest, applied to the slope: the two loops."""
    result, shares = slope.copy(), []
    for moved, turned, inverse in reversed(memory):
        shares.append(inverse * float((moved * result).sum()))
        result -= shares[-1] * turned
    if memory:
        moved, turned, inverse = memory[-1]
        result /= inverse * float((turned * turned).sum())
    for (moved, turned, inverse), share in zip(memory, reversed(shares), strict=True):
        result += (share - inverse * float((turned * result).sum())) * moved
    return result


def _step(
    function: Function, x: Floats, value: float, slope: Floats, direction: Floats
) -> tuple[Floats, float, Floats] | None:
    """A step along a direction that meets Wolfe's conditions, by doubling and halving; None where none is found."""
    falls = float((slope * direction).sum())
    if falls >= 0:
        return None
    shortest, longest, length = 0.0, np.inf, 1.0
    best = None
    for _ in range(TRIALS):
        there = x + length * direction
        new_value, new_slope = function(there)
        if not new_value <= value + DECREASE * length * falls:
            longest = length
        else:
            best = there, new_value, new_slope
            if float((new_slope * direction).sum()) >= CURVATURE * falls:
                break
            shortest = length
        length = (shortest + longest) / 2 if longest < np.inf else 2 * length
    return best
