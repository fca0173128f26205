"""How much of a budget each level of blocks deserves, given the workload and how strong the signal is.

Two reasons weigh. Least squares on a complete tree has weights that err least on the workload whatever the data: these
are right where every level stands out from its noise. Where the mean block of a level holds fewer records than its
noise, measuring that level says next to nothing that non-negativity and the levels above do not say, and its share
does more good above. With d the records of a mean block times epsilon, a level keeps d^a / (d^a + c^a) of its weight.
But a mean says little of single cells, which may stand out: a workload that asks for nothing else keeps their level.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dpbench.domain import Domain
from dpbench.mathematics.weighted_tree import chain_weights
from dpbench.workloads import Workload

LINE, PLANE = (0, 4, 7), (0, 2, 4)
"""Levels that are measured, as logarithms of block sides; they go on in steps of the last."""
HALF = 4.0
"""Records of a mean block, times epsilon, at which a level keeps half of its weight (c)."""
EXPONENT = 0.8
"""How sharply it does (a)."""
LEAST = 0.05
"""Added to the weight of every level where cells have no signal: the workload may have no use for blocks, they do."""
ALONE = 0.5
"""Part of its weight that a level keeps at least if the workload asks for no other, less if it asks for others too."""
UNIT = 2**16
"""Shares are multiples of one over this number."""


def block_sides(domain: Domain) -> tuple[int, ...]:
    """Sides of the blocks that are measured, the largest first, 1 last; each is below the longest side."""
    levels = list(LINE if sum(side > 1 for side in domain) <= 1 else PLANE)
    step = levels[-1] - levels[-2]
    while 2 ** levels[-1] < max(domain):
        levels.append(levels[-1] + step)
    return tuple(2**level for level in reversed(levels) if level == 0 or 2**level < max(domain))


def level_shares(workload: Workload, sides: tuple[int, ...], signal: float) -> tuple[Fraction, ...]:
    """One share per block side; they add up to 1. ``signal`` is the number of records times epsilon."""
    domain = workload.domain
    best = np.array(chain_weights(workload, sides))
    blocks = [np.prod([-(-length // side) for length in domain], dtype=np.float64) for side in sides]
    kept = np.maximum(1 / (1 + (HALF * np.array(blocks) / max(signal, 1.0)) ** EXPONENT), ALONE * best**3)
    weights = (best + LEAST * (1 - kept[-1])) * kept
    units = np.maximum(np.floor(weights / weights.sum() * UNIT), 1).astype(np.int64).tolist()
    units[int(np.argmax(units))] += UNIT - sum(units)
    return tuple(Fraction(unit, UNIT) for unit in units)
