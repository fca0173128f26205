"""Trees of counts over cells laid along a line: the one shape behind every hierarchical algorithm.

The cells of a domain of any dimension are laid along a line (a curve), a node is an interval of that line, and
its children tile it. Dimension enters only through the order of the cells. A weight w says how much of the
budget a node gets: its answer is w times its count, so that all answers carry the same noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.errors import InvalidInput
from dpbench.given import afford

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree in breadth-first order: parents before children, the children of a node side by side."""

    domain: Domain
    order: Ints
    """``(positions,)``: the flat cell number at each position of the line; -1 is padding."""
    start: Ints
    """``(nodes,)``: first position of each node."""
    stop: Ints
    """``(nodes,)``: one past its last position."""
    first_child: Ints
    """``(nodes + 1,)``: children of v are ``first_child[v] ... first_child[v + 1] - 1``; none: a leaf."""
    weight: Floats
    """``(nodes,)``: weight of each node's count; only the root may be 0, which means not measured."""

    def __post_init__(self) -> None:
        if (self.weight[1:] <= 0).any() or (len(self.weight) == 1 and self.weight[0] <= 0):
            raise InvalidInput("a tree has a node without weight; only the root may go unmeasured")

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.start)

    @cached_property
    def leaves(self) -> Ints:
        """Nodes without children."""
        return np.flatnonzero(np.diff(self.first_child) == 0)

    @cached_property
    def parent(self) -> Ints:
        """``(nodes,)``: parent of each node; the root's is 0."""
        children = np.diff(self.first_child)
        return np.concatenate([[0], np.repeat(np.arange(self.nodes), children)]).astype(np.int64)

    @cached_property
    def depth(self) -> Ints:
        """``(nodes,)``: distance from the root."""
        depth = np.zeros(self.nodes, dtype=np.int64)
        for level, (first, last) in enumerate(self.levels):
            depth[first:last] = level
        return depth

    @cached_property
    def levels(self) -> list[tuple[int, int]]:
        """Ranges of nodes of equal depth, root first."""
        spans, first, last = [], 0, 1
        while first < last:
            spans.append((first, last))
            first, last = int(self.first_child[first]), int(self.first_child[last])
        return spans

    @cached_property
    def real_cells(self) -> Ints:
        """``(nodes,)``: cells of the domain in each node, padding left out."""
        from dpbench.mathematics.kernels.tree_coefficients import cells_inside

        if self.order.min() >= 0:  # no padding
            return self.stop - self.start
        return np.asarray(cells_inside(self.order, self.start, self.stop))

    @property
    def unmeasured(self) -> int:
        """1 where the root is not measured, else 0."""
        return int(self.weight[0] == 0)


@dataclass(frozen=True, eq=False)
class TreeCounts:
    """Ask for the weighted counts of a tree's nodes.

    A record is in one node of each level, so it moves the answers by the weights on one path from the root
    to a leaf; the sensitivity is the heaviest path.
    """

    tree: Tree

    @property
    def shape(self) -> tuple[int, ...]:
        """One answer for each measured node."""
        return (self.tree.nodes - self.tree.unmeasured,)

    @cached_property
    def sensitivity(self) -> float:
        """Heaviest path, rounded up where its weights do not add up exactly."""
        from dpbench.mathematics.kernels.tree_coefficients import heaviest_path

        tree = self.tree
        heaviest = float(heaviest_path(tree.weight, tree.first_child))
        if heaviest.is_integer() and (tree.weight == np.floor(tree.weight)).all():
            return heaviest
        return heaviest * (1 + len(tree.levels) * math.ulp(1.0))

    @property
    def lattice(self) -> int | None:
        """Counts are whole, and so are whole multiples of them."""
        return 1 if (self.tree.weight == np.rint(self.tree.weight)).all() else None

    @cached_property
    def squared_l2_sensitivity(self) -> Fraction:
        """Largest sum of squared weights on a path from the root to a leaf, exact.

        Fractions are slow, and many paths have the same weights: each sequence of weights is added up once.
        """
        tree = self.tree
        weights, code = np.unique(tree.weight, return_inverse=True)
        squares = [Fraction(weight) ** 2 for weight in weights.tolist()]
        sums, path = [squares[code[0]]], np.zeros(tree.nodes, dtype=np.int64)
        is_leaf = np.diff(tree.first_child) == 0
        largest = sums[0] if is_leaf[0] else Fraction(0)
        for first, last in tree.levels[1:]:
            above = path[tree.parent[first:last]]
            kinds, path[first:last] = np.unique(above * len(weights) + code[first:last], return_inverse=True)
            sums = [sums[kind // len(weights)] + squares[kind % len(weights)] for kind in kinds.tolist()]
            ends = np.unique(path[first:last][is_leaf[first:last]]).tolist()
            largest = max([largest, *(sums[end] for end in ends)])
        return largest

    def answer(self, counts: Ints) -> Floats:
        """Weighted node counts, from one running sum along the line."""
        from dpbench.mathematics.kernels.tree_coefficients import weighted_totals

        tree = self.tree
        cells = counts.reshape(-1).astype(np.int64, casting="safe")  # kernels take arrays that could be written to
        totals = weighted_totals(cells, tree.order, tree.start, tree.stop, tree.weight, tree.unmeasured)
        return np.asarray(totals)

    @property
    def units(self) -> Floats:
        """``(*shape)``: the weights, what a record of each measured node is worth."""
        return self.tree.weight[self.tree.unmeasured :]

    def whole(self, counts: Ints) -> Ints:
        """Node counts without their weights: answers are units times these."""
        return (
            TreeCounts(replace(self.tree, weight=np.ones(self.tree.nodes)))
            .answer(counts)[self.tree.unmeasured :]
            .astype(np.int64)
        )


def complete_tree(domain: Domain, branching: int, weights: Floats) -> Tree:
    """The complete tree in which a node is a box cut into ``branching`` parts along every axis.

    ``weights`` has one entry for each level, root first, so the height is ``len(weights) - 1``; every axis is
    padded to ``branching ** height`` cells, except that an axis of one cell stays as it is. The order is the one in
    which a walk meets the leaves.
    """
    height = len(weights) - 1
    places = prod(branching if side > 1 else 1 for side in domain) ** height
    afford((2 * domain.ndim + 8) * places, f"a tree of {places} cells, to which the domain {domain} is padded,")
    coordinates = [np.zeros(1, dtype=np.int64) for _ in domain]
    parts = [branching if side > 1 else 1 for side in domain]
    digits = np.indices(parts).reshape(domain.ndim, -1)
    for _ in range(height):
        coordinates = [
            (axis[:, None] * part + digit[None, :]).reshape(-1)
            for axis, part, digit in zip(coordinates, parts, digits, strict=True)
        ]
    inside = np.logical_and.reduce([axis < side for axis, side in zip(coordinates, domain, strict=True)])
    clipped = [np.minimum(axis, side - 1) for axis, side in zip(coordinates, domain, strict=True)]
    order = np.where(inside, np.ravel_multi_index(clipped, domain.shape), -1)

    fanout = prod(parts)
    counts = [fanout**level for level in range(height + 1)]
    start = np.concatenate([np.arange(many) * (fanout**height // many) for many in counts])
    size = np.concatenate([np.full(many, fanout**height // many) for many in counts])
    inner = sum(counts[:-1])
    first_child = np.concatenate([1 + fanout * np.arange(inner), np.full(counts[-1] + 1, sum(counts))])
    return Tree(
        domain=domain,
        order=order,
        start=start,
        stop=start + size,
        first_child=first_child,
        weight=np.repeat(np.asarray(weights, dtype=np.float64), counts),
    )


def complete_tree_of_blocks(domain: Domain, branching: int, height: int, weights: Floats) -> Tree:
    """The top of the complete tree of ``height`` whose levels are ``weights``: its leaves are blocks of cells.

    The line holds the cells of the domain alone, in the order in which a walk of the whole tree meets them; a node
    that lies in the padding is empty. With a weight for each of the ``height + 1`` levels it is the complete tree.
    """
    long = [axis for axis, side in zip(np.indices(domain.shape), domain, strict=True) if side > 1]
    fanout = branching ** len(long)
    key = np.zeros(domain.shape, dtype=np.int64)
    for level in reversed(range(height)):
        for axis in long:
            key = key * branching + axis // branching**level % branching
    key = key.reshape(-1)
    order = np.argsort(key, kind="stable")
    counts = [fanout**level for level in range(len(weights))]
    bounds = [np.searchsorted(key[order], np.arange(many + 1) * (fanout**height // many)) for many in counts]
    inner = sum(counts[:-1])
    return Tree(
        domain=domain,
        order=order,
        start=np.concatenate([bound[:-1] for bound in bounds]).astype(np.int64),
        stop=np.concatenate([bound[1:] for bound in bounds]).astype(np.int64),
        first_child=np.concatenate([1 + fanout * np.arange(inner), np.full(counts[-1] + 1, sum(counts))]),
        weight=np.repeat(np.asarray(weights, dtype=np.float64), counts),
    )


def without_unmeasured(domain: Domain, order: Ints, start: Ints, stop: Ints, first_child: Ints, weight: Floats) -> Tree:
    """The same tree with every inner node of weight 0 but the root taken out.

    Its children are handed to its nearest measured ancestor: least squares is the same, over fewer nodes.
    """
    from dpbench.mathematics.kernels import line_tree

    kept = weight > 0
    kept[0] = True
    survivors, children = line_tree.without(first_child, kept)
    return Tree(
        domain=domain,
        order=order,
        start=start[survivors],
        stop=stop[survivors],
        first_child=children,
        weight=weight[survivors],
    )
