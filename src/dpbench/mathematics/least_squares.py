"""Weighted least squares on a tree of noisy counts: the exact solution in two passes.

Node v answers w_v times its count plus noise of the same variance everywhere, so its precision is p_v = w_v^2.
Going up, a node's own answer is averaged with the sum of its children's, by precision; going down, what
a node's estimate exceeds its children's sum by is shared out by their variances. The result is the least
squares estimate of every leaf, for any shape of tree and any weights.

The error of a query w is known without running anything: with f the share of a leaf that w covers,

    Var(w) = sum over leaves f^2 / p  -  sum over inner nodes g_v (R_v)^2,

where R_v adds up f / p over the leaves below v, damped by 1 / (1 + p_u k_u) at each node u between, k_v is the
variance of the children's sum and g_v = p_v / (1 + p_v k_v).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.mathematics.expected_error import lengths, mean_over_queries, squared_overlaps
from dpbench.mathematics.noise_bars import insist_on_whole
from dpbench.mathematics.tree import Tree, TreeCounts, complete_tree
from dpbench.workloads import Workload

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TreeLeastSquares:
    """The solution operator of one tree; its coefficients are computed once and serve every trial."""

    tree: Tree

    @cached_property
    def strategy(self) -> TreeCounts:
        """The questions whose answers :meth:`solve` takes."""
        return TreeCounts(self.tree)

    @cached_property
    def _recurrence(self) -> tuple[Floats, Floats]:
        """k_v, the variance of the children's sum (0 for a leaf), and P_v, the precision from the subtree."""
        from dpbench.mathematics.kernels.tree_coefficients import recurrence

        variance, precision = recurrence(self.tree.weight, self.tree.first_child)
        return variance, precision

    @cached_property
    def _coefficients(self) -> tuple[Floats, Floats, Floats, Floats]:
        """What the two passes multiply by: own answer, children's sum, share of the excess, cell's part."""
        from dpbench.mathematics.kernels.tree_coefficients import coefficients

        tree = self.tree
        own, below, share = coefficients(tree.weight, tree.first_child, *self._recurrence)
        return own, below, share, 1.0 / np.maximum(tree.real_cells, 1)

    def solve(self, answers: Floats) -> Floats:
        """Estimated cells ``(trials, *domain)`` from answers ``(trials, measured nodes)``.

        A leaf of several cells is spread evenly over those that are in the domain.
        """
        from dpbench.mathematics.kernels.tree import least_squares

        tree = self.tree
        own, below, share, part = self._coefficients
        cells = least_squares(
            np.ascontiguousarray(answers),
            own,
            below,
            share,
            tree.first_child,
            tree.start,
            tree.stop,
            tree.order,
            part,
            tree.unmeasured,
            tree.domain.size,
        )
        return np.asarray(cells).reshape(len(answers), *tree.domain.shape)

    def influence(self, queries: Floats) -> Floats:
        """What each query ``(many, *domain)`` takes of every answer, ``(many, measured nodes)``; for whole leaves."""
        from dpbench.mathematics.kernels.tree import influence

        tree = self.tree
        own, below, share, part = self._coefficients
        flat = np.ascontiguousarray(queries.reshape(len(queries), -1))
        if (tree.real_cells[tree.leaves] > 1).any():
            insist_on_whole(flat, self._leaf_of_cell, "the tree")
        return np.asarray(
            influence(
                flat,
                own,
                below,
                share,
                tree.first_child,
                tree.start,
                tree.stop,
                tree.order,
                part,
                tree.unmeasured,
            )
        )

    @cached_property
    def _leaf_of_cell(self) -> Ints:
        """``(cells,)``: the leaf that each cell is in, numbered from 0."""
        tree = self.tree
        along = np.repeat(np.arange(len(tree.leaves)), (tree.stop - tree.start)[tree.leaves])
        at = np.concatenate([np.arange(tree.start[v], tree.stop[v]) for v in tree.leaves])
        cells = tree.order[at]
        result = np.zeros(tree.domain.size, dtype=np.int64)
        result[cells[cells >= 0]] = along[cells >= 0]
        return np.unique(result, return_inverse=True)[1]

    @property
    def _unit_variance(self) -> Floats:
        """1 / p_v, the variance of a node's own answer; 1 for an unmeasured root, which is never a leaf."""
        return np.asarray(1.0 / np.where(self.tree.weight > 0, self.tree.weight, 1.0) ** 2)

    @cached_property
    def _gains(self) -> tuple[Floats, Floats]:
        """g_v (0 for leaves) and the damping 1 / (1 + p_v k_v) (1 for leaves)."""
        variance, _ = self._recurrence
        own = self.tree.weight**2
        damping = 1.0 / (1.0 + own * variance)
        return np.where(variance > 0, own * damping, 0.0), damping

    def mean_variance(self, workload: Workload) -> float:
        """Mean over the queries of their variance, where every answer carries noise of variance 1."""
        if self.tree.domain.ndim == 1 and (np.diff(self.tree.order) == 1).all():
            terms = self._interval_terms()
            return mean_over_queries(
                workload, [lambda low, high: np.sum([term.at(low, high) for term in terms], axis=0)]
            )
        return self._mean_listed_variance(workload)

    def _interval_terms(self) -> list[_IntervalTerm]:
        """The quadratic terms of Var(w), level by level from the leaves up, for intervals of one axis."""
        tree, (gain, damping) = self.tree, self._gains
        cells = np.arange(tree.domain.size)
        leaf = np.empty_like(cells)
        for v in tree.leaves:
            leaf[tree.start[v] : tree.stop[v]] = v
        part = 1.0 / tree.real_cells[leaf]
        terms = [_IntervalTerm.over(tree, tree.leaves, self._unit_variance, part)]
        density = part / tree.weight[leaf] ** 2
        for first, last in reversed(tree.levels):
            inner = _inner(tree, first, last)
            if len(inner) == 0:
                continue
            term = _IntervalTerm.over(tree, inner, -gain, density)
            if gain[inner].any():
                terms.append(term)
            density = density * np.where(term.node[:-1] >= 0, damping[term.node[:-1]], 1.0)
        return terms

    def _mean_listed_variance(self, workload: Workload) -> float:
        """The same over a list of boxes, by one pass over the tree for each."""
        from dpbench.mathematics.kernels.tree import box_variances

        tree, (gain, damping) = self.tree, self._gains
        ranges = workload.ranges()
        unravelled = np.unravel_index(np.maximum(tree.order, 0), tree.domain.shape)
        coordinates = np.where(tree.order[:, None] >= 0, np.stack(unravelled, axis=1), -1)
        variances = box_variances(
            ranges.lower.copy(),
            ranges.upper.copy(),
            np.ascontiguousarray(coordinates),
            tree.first_child,
            tree.start,
            tree.stop,
            1.0 / np.maximum(tree.real_cells, 1),
            self._unit_variance,
            gain,
            damping,
        )
        return float((ranges.weights**2 * variances).mean())


@dataclass(frozen=True, eq=False)
class _IntervalTerm:
    """Sum over disjoint nodes of c_v times the squared mass that an interval has in v, looked up by its ends.

    All arrays are ``(n + 1,)``, one entry for each boundary between cells. An interval holds one end in at most
    two nodes; all others it covers or misses, and running sums count those.
    """

    node: Ints
    """Node that starts at or before the boundary and ends after it; -1: none."""
    factor: Floats
    """c of that node."""
    mass: Floats
    """Mass from the node's start to the boundary."""
    rest: Floats
    """Mass from the boundary to the node's end."""
    ended: Floats
    """Sum of c mass^2 over the nodes that end at or before the boundary."""
    begun: Floats
    """The same over the nodes that start at or before it."""

    @classmethod
    def over(cls, tree: Tree, nodes: Ints, factors: Floats, density: Floats) -> _IntervalTerm:
        """Tabulate the term of ``nodes``, with ``density`` the mass of each cell."""
        size = tree.domain.size
        nodes = nodes[np.argsort(tree.start[nodes])]
        start, stop = tree.start[nodes], tree.stop[nodes]
        running = np.concatenate([[0.0], np.cumsum(density)])
        whole = running[stop] - running[start]
        energy = np.concatenate([[0.0], np.cumsum(factors[nodes] * whole**2)])
        boundary = np.arange(size + 1)
        begun = np.searchsorted(start, boundary, side="right")
        ended = np.searchsorted(stop, boundary, side="right")
        slot = np.maximum(begun - 1, 0)
        inside = (begun > 0) & (boundary < stop[slot])
        mass = np.where(inside, running[boundary] - running[start[slot]], 0.0)
        return cls(
            node=np.where(inside, nodes[slot], -1),
            factor=np.where(inside, factors[nodes[slot]], 0.0),
            mass=mass,
            rest=np.where(inside, whole[slot] - mass, 0.0),
            ended=energy[ended],
            begun=energy[begun],
        )

    def at(self, lower: Ints, upper: Ints) -> Floats:
        """The term for each interval ``[lower, upper)``."""
        together = self.factor[lower] * (self.mass[upper] - self.mass[lower]) ** 2
        apart = (
            self.factor[lower] * self.rest[lower] ** 2
            + self.factor[upper] * self.mass[upper] ** 2
            + self.ended[upper]
            - self.begun[lower]
        )
        same = (self.node[lower] == self.node[upper]) & (self.node[lower] >= 0)
        return np.where(same, together, apart)


def _inner(tree: Tree, first: int, last: int) -> Ints:
    """Nodes from ``first`` to ``last`` that have children."""
    return first + np.flatnonzero(np.diff(tree.first_child[first : last + 1]) > 0)


def complete_tree_variance(workload: Workload, branching: int, weights: Floats) -> float:
    """Mean variance under a complete tree with one weight per level, answers of variance 1, any dimension.

    With level-uniform precisions R_v is proportional to the number of cells that a query has in v, so

        Var(w) = |w|^2 / p_h - sum over levels l < h of g_l (P_{l+1} N_{l+1})^-2 * sum over v (w . 1_v)^2,

    and the last sum is a product over axes. N_l is the number of cells in a node of depth l.
    """
    parts = [branching if side > 1 else 1 for side in workload.domain]
    height, fanout = len(weights) - 1, prod(parts)
    own = np.asarray(weights, dtype=np.float64) ** 2
    total = mean_over_queries(workload, [lengths] * len(parts)) / own[height]
    precision = own[height]
    for level in range(height - 1, -1, -1):
        variance = fanout / precision
        gain = own[level] / (1.0 + own[level] * variance)
        cells_below = float(fanout) ** (height - level - 1)
        if gain > 0:
            energy = mean_over_queries(workload, [squared_overlaps(part ** (height - level)) for part in parts])
            total -= gain * energy / (precision * cells_below) ** 2
        precision = own[level] + 1.0 / variance
    return float(total)


@lru_cache(maxsize=16)
def complete_tree_solver(domain: Domain, branching: int, weights: tuple[float, ...]) -> TreeLeastSquares:
    """Least squares on a complete tree, kept between calls: it depends on public things alone."""
    return TreeLeastSquares(complete_tree(domain, branching, np.asarray(weights)))
