"""Two passes over a complete tree that weigh a node against its children as the authors' QuadTree does.

Going up, a node's own count is averaged with the sum of its children's averages z. Least squares weighs that sum by
the precision of the z; the authors weigh it by that of the children's own counts, which is right just above the leaves
and too little further up. The result is unbiased and adds up, and its error is about a hundredth larger.
"""

from __future__ import annotations

from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from dpbench.mathematics.expected_error import mean_over_queries, squared_overlaps
from dpbench.mathematics.least_squares import TreeLeastSquares
from dpbench.workloads import Workload

Floats = NDArray[np.float64]


def own_shares(weights: Floats, fanout: int) -> Floats:
    """The share of a node's own count in its average by depth: F w_d^2 / (F w_d^2 + w_{d+1}^2), 1 at the leaves."""
    own = fanout * np.asarray(weights[:-1], dtype=np.float64) ** 2
    return np.append(own / (own + np.asarray(weights[1:]) ** 2), 1.0)


class RawPrecision(TreeLeastSquares):
    """The two passes with the authors' weights, for a complete tree with one weight per level, all greater than 0."""

    @cached_property
    def _coefficients(self) -> tuple[Floats, Floats, Floats, Floats]:
        """As for least squares, but for the share of the own count."""
        tree = self.tree
        counts = [last - first for first, last in tree.levels]
        fanout = counts[1] if len(counts) > 1 else 1
        own = np.repeat(own_shares(tree.weight[[first for first, _ in tree.levels]], fanout), counts)
        part = 1.0 / np.maximum(tree.real_cells, 1)
        return own / tree.weight, 1.0 - own, np.full(tree.nodes, 1.0 / fanout), part


def raw_precision_variance(workload: Workload, branching: int, weights: Floats) -> float:
    """Mean variance over the queries under :class:`RawPrecision`, answers of variance 1, leaves single cells.

    The z of one depth are independent and alike, with variance V_l = a_l^2 / w_l^2 + (1 - a_l)^2 F V_{l+1}. Going down
    keeps their differences between siblings, and those of different depths are uncorrelated. So

        Var(w) = sum over depths l of V_l * sum over v at l of (f_v - f_parent)^2,   f_v = (w . 1_v) / N_v,

    without the parent at the root, and the last sum is that of f_v^2 minus F times the parents'.
    """
    parts = [branching if side > 1 else 1 for side in workload.domain]
    height, fanout = len(weights) - 1, prod(parts)
    shares = own_shares(weights, fanout)
    variance = np.empty(height + 1)
    below = 0.0
    for level in range(height, -1, -1):
        below = (shares[level] / weights[level]) ** 2 + (1.0 - shares[level]) ** 2 * fanout * below
        variance[level] = below
    total, above = 0.0, 0.0
    for level in range(height + 1):
        sides = [part ** (height - level) for part in parts]
        energy = mean_over_queries(workload, [squared_overlaps(side) for side in sides]) / float(prod(sides)) ** 2
        total += variance[level] * (energy - fanout * above)
        above = energy
    return float(total)
