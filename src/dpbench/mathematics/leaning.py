"""How the density leans inside nested squares, by the noisy counts of their neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from dpbench.mathematics.cascade import Squares

Floats = NDArray[np.float64]

DOUBT = 1.0
"""Standard deviations of the noise that a slope is lowered by."""
STEEPEST = 0.75
"""Change of the density, from the middle of a square to its corner, over the density in the middle, at most."""
TINY = 1e-100


def leaning(squares: Squares, mean: Floats, variance: Floats) -> Floats:
    """``(squares, 2)``: how the density in each square changes per cell along each axis, over the density there.

    By its neighbours of the same size: the smaller of the differences on both sides, where they agree in sign, less
    what noise alone would give. So a slope that goes on counts, and a peak, a pit or an edge does not.
    """
    lean = np.zeros((squares.count, 2))
    cells = squares.spread(mean).reshape(squares.sides)
    inner = np.flatnonzero((squares.first_child >= 0) & (squares.cells > 0))
    factor = 1.0 if squares.gaussian else 2.0
    for size, which in squares.by_size(inner):
        mine = inner[which]
        place = squares.corner[mine] >> size
        starts = [np.arange(0, side, 1 << log) for side, log in zip(squares.sides.tolist(), size.tolist(), strict=True)]
        block = np.add.reduceat(np.add.reduceat(cells, starts[0], axis=0), starts[1], axis=1)
        lengths = [np.diff([*start, side]) for start, side in zip(starts, squares.sides.tolist(), strict=True)]
        density = np.maximum(block, 0.0) / np.outer(*lengths)
        here = density[tuple(place.T)]
        noise = np.sqrt(2 * factor * variance[mine]) / squares.cells[mine]
        for axis in range(2):
            if density.shape[axis] < 3:
                continue
            steps = np.diff(density, axis=axis)
            first, last = (np.take(steps, [at], axis=axis) for at in (1, -2))
            steps = np.concatenate([first, steps, last], axis=axis)
            before = steps[tuple(place.T)]
            after = steps[tuple((place + np.eye(2, dtype=np.int64)[axis]).T)]
            least = np.maximum(np.minimum(np.abs(before), np.abs(after)) - DOUBT * noise, 0.0)
            slope = np.where(before * after > 0, np.sign(before) * least, 0.0) / (1 << size[axis])
            lean[mine, axis] = slope / np.maximum(here, TINY)
    most = (np.abs(lean) * (1 << squares.logs)).sum(axis=1) / 2
    return np.asarray(lean * np.minimum(1.0, STEEPEST / np.maximum(most, TINY))[:, None])
