"""Which wide rows over blocks of a line are measured beside blocks and cells, and how a budget is shared with cells."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpbench.mathematics.level_shares import EXPONENT, HALF, LEAST, UNIT
from dpbench.mathematics.moments import grouped_axes
from dpbench.mathematics.p_identity import AxisStrategy
from dpbench.mathematics.p_identity_fit import trace
from dpbench.mathematics.p_identity_known import ITERATIONS, STARTS, axis_strategy
from dpbench.workloads import Prefix, Workload

Ints = NDArray[np.int64]

LEVEL = 4
"""The logarithm of the blocks' side."""
FEWEST, MOST = 8, 1024
"""Blocks that a line has: with fewer rows are no better than a chain, for more they are not found in a few seconds."""
SIGNAL = 8.0
"""Records of a mean block, times epsilon, from which on rows are measured."""
SPARSE, FEWER = (0.05, 0.35), (0.7, 1.0)
"""What the odds of cells are multiplied by at some evenness: where most blocks are empty, they tell of their cells."""


@dataclass(frozen=True, eq=False)
class RowsOverBlocks:
    """A p-Identity strategy over the blocks of a line."""

    edges: Ints
    """``(blocks + 1,)``: where blocks begin, and the length of the line."""
    axis: AxisStrategy
    cells: Fraction
    """The share of the cells; the rest is for blocks and rows."""


def rows_over_blocks(workload: Workload, signal: float, evenness: float = 1.0) -> RowsOverBlocks | None:
    """What is measured on a line for all prefixes; ``signal`` is the number of records times epsilon.

    ``evenness`` is that of ``dense_line.py``, and 1 where it is not known. None where a chain of blocks is measured:
    for other workloads, short and very long lines, and where the signal is weak.
    """
    side = workload.domain.size
    blocks = -(-side >> LEVEL)
    if not isinstance(workload, Prefix) or not FEWEST <= blocks <= MOST or signal < SIGNAL * blocks:
        return None
    axis, best = _fitted(blocks)
    keeps = 1 / (1 + (HALF * np.array([side, blocks]) / max(signal, 1.0)) ** EXPONENT)
    weights = (np.array([best, 1 - best]) + LEAST * (1 - keeps[0])) * keeps
    weights[0] *= np.interp(evenness, SPARSE, FEWER)
    share = Fraction(round(float(weights[0] / weights.sum()) * UNIT), UNIT)
    edges = np.minimum(np.arange(blocks + 1) << LEVEL, side)
    return RowsOverBlocks(edges, axis, min(max(share, Fraction(1, UNIT)), 1 - Fraction(1, UNIT)))


@lru_cache(maxsize=16)
def _fitted(blocks: int) -> tuple[AxisStrategy, float]:
    """The strategy for all prefixes of so many blocks, and the share of cells beside it where the signal is strong.

    A prefix ends inside a block, on average with (s^2 - 1) / 6 s cells' worth of variance that blocks of s do not tell;
    the sum of both, each over its squared share, is least where shares are as their cube roots.
    """
    moment = grouped_axes(Prefix(blocks))[0].moment
    axis = axis_strategy(moment, STARTS, ITERATIONS)
    inside = (4.0**LEVEL - 1) / (6 * 2**LEVEL)
    return axis, float(1 / (1 + np.cbrt(trace(moment, axis) / inside)))
