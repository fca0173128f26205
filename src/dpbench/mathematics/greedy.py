"""A hierarchy weighted for a workload: the strategy of GreedyH, and of DAWA over its buckets.

It depends on the domain, the buckets and the workload alone, and is never a matrix over cells: the recursion needs, for
every node, three numbers and inner products of images under the workload.

Bucket c of ``edges`` ``(buckets + 1,)`` holds the positions ``edges[c] ... edges[c + 1] - 1`` of the line, and a
query's weight on it is the mean of its weights on them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.given import afford
from dpbench.mathematics.buckets import cells_along
from dpbench.mathematics.leaf_images import Leaves, Objective, moments
from dpbench.mathematics.tree import Tree, without_unmeasured
from dpbench.workloads import Prefix, Ranges, Workload
from dpbench.workloads.ranges import LARGEST_WEIGHT

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


NUMBERS_PER_CELL = 50
"""What a tree and its weights take."""


def greedy_tree(
    workload: Workload,
    branching: int,
    steps: int,
    objective: Objective,
    edges: Ints | None = None,
    padded: bool = True,
) -> Tree:
    """The weighted hierarchy over buckets, for the workload reduced to them; without ``edges``, over single cells.

    A leaf is a bucket, or several that no query tells apart. ``padded`` keeps the positions that the Hilbert curve
    adds to two axes.
    """
    line = cells_along(workload.domain, padded)
    if edges is None:
        edges = np.arange(len(line) + 1)
    afford(NUMBERS_PER_CELL * len(edges), f"a greedy tree over {len(edges) - 1} cells")
    split = split_line(len(edges) - 1, _changes(workload, padded, edges), branching)
    if isinstance(workload, Prefix):
        from dpbench.mathematics.kernels.greedy import prefix_shares

        theta = prefix_shares(*split, np.diff(edges), branching, steps, objective == "gram")
    else:
        theta = _shares(_moderate(workload), split, edges, branching, steps, objective, padded)
    weight = path_weights(theta, split.first_child)
    return without_unmeasured(workload.domain, line, edges[split.start], edges[split.stop], split.first_child, weight)


@lru_cache(maxsize=8)
def _moderate(workload: Workload) -> Workload:
    """The same workload with a largest weight from 1 to 2: fourth powers of weights must be numbers.

    All weights are divided by one power of two, which changes no digit of them and no share. Those that are then too
    small for a list count for nothing beside the largest.
    """
    if workload.axes is not None:
        return workload
    ranges = workload.ranges()
    power = int(np.frexp(np.abs(ranges.weights).max())[1]) - 1
    if power == 0:
        return workload
    weights = np.ldexp(ranges.weights, -power)
    return Ranges(ranges.domain, ranges.lower, ranges.upper, np.where(np.abs(weights) < 1 / LARGEST_WEIGHT, 0, weights))


class Split(NamedTuple):
    """A line cut into parts, and these again: a tree in breadth-first order."""

    start: Ints
    """``(nodes,)``: first position of each node."""
    stop: Ints
    """``(nodes,)``: one past its last."""
    first_child: Ints
    """``(nodes + 1,)``: as in a tree."""
    depth: Ints
    """``(nodes,)``: distance from the root."""


def split_line(size: int, changes: NDArray[np.bool_], branching: int) -> Split:
    """Cut ``size`` positions into ``branching`` nearly equal parts, again and again; breadth first.

    A node is a leaf where it is one position or no query tells its positions apart: ``changes[i]`` says that position
    i + 1 differs from position i. Where parts are unequal, the longer ones come last.
    """
    from dpbench.mathematics.kernels import line_tree

    return Split(*line_tree.split_line(size, changes, branching))


def path_weights(theta: Floats, first_child: Ints) -> Floats:
    """1 - theta of what its ancestors pass down for an inner node, all of it for a leaf; paths add up to 1."""
    from dpbench.mathematics.kernels import line_tree

    return np.asarray(line_tree.path_weights(theta, first_child))


def _shares(
    workload: Workload, split: Split, edges: Ints, branching: int, steps: int, objective: Objective, padded: bool
) -> Floats:
    """Theta of every node, for a list of ranges or a product; 1 below the depth of the last weight."""
    from dpbench.mathematics.kernels.greedy import bundle_shares

    top, leaves = _bundled(split, _last_weights(split, branching, steps), edges)
    products, errors = moments(workload, leaves, objective, padded)
    many = np.bincount(leaves.bundle).astype(np.float64)
    theta = np.ones(len(split.start))
    theta[: len(top.start)] = bundle_shares(*top, many, errors, products, branching, steps)
    return theta


def _last_weights(split: Split, branching: int, steps: int) -> int:
    """The depth below whose nodes the greedy search cannot but give all weight to the children.

    If nothing below a node is measured, it has k = m leaves, E0 = sum |t|^2 over them, and by Cauchy and Schwarz
    mu <= m E0 and mu1 <= m' E0, m' the most leaves of a child. Where even these bounds do not pay, theta is 1. The
    bounds grow with m, so one look at the fullest node of each depth will do.
    """
    from dpbench.mathematics.kernels.greedy import best_share

    before = _running(split, np.diff(split.first_child) == 0)
    level = np.searchsorted(split.depth, np.arange(split.depth[-1] + 1))
    fullest = [*np.maximum.reduceat(before[split.stop] - before[split.start], level).tolist(), 0]
    cut = int(split.depth[-1])
    while cut > 0:
        many, below = float(fullest[cut - 1]), float(fullest[cut])
        theta, _ = best_share(1.0, many * (1 + 1e-9), below, many, branching ** (-0.5 * (cut - 1)), steps)
        if theta < 1:
            break
        cut -= 1
    return cut


def _bundled(split: Split, cut: int, edges: Ints) -> tuple[Split, Leaves]:
    """The tree cut off at a depth, where what hangs there is a bundle of leaves; and the leaves."""
    is_leaf = np.diff(split.first_child) == 0
    nodes = int(np.searchsorted(split.depth, cut + 1))
    top = Split(*(each[:nodes] for each in split))
    is_bundle = is_leaf[:nodes] | (top.depth == cut)
    children = np.where(is_bundle, 0, np.diff(split.first_child[: nodes + 1]))
    before = _running(top, is_bundle)
    first = np.sort(split.start[is_leaf])
    return Split(
        start=before[top.start],
        stop=before[top.stop],
        first_child=1 + np.concatenate([[0], np.cumsum(children)]),
        depth=top.depth.copy(),
    ), Leaves(
        first=edges[first],
        last=edges[first + 1],
        buckets=np.diff(first, append=len(edges) - 1),
        bundle=before[first + 1] - 1,
    )


def _running(split: Split, chosen: NDArray[np.bool_]) -> Ints:
    """How many of the chosen nodes start before each position; ``(positions + 1,)``."""
    starts = np.zeros(int(split.stop[0]) + 1, dtype=np.int64)
    starts[split.start[chosen] + 1] = 1
    return np.cumsum(starts)


def _changes(workload: Workload, padded: bool, edges: Ints) -> NDArray[np.bool_]:
    """Where some query's weight changes from one bucket to the next.

    The signature of a bucket is the mean over its cells; two means a / l and b / m are compared as a m = b l, modulo
    2^64. Lengths are powers of two up to 2^16, so different ones agree with a probability below 2^-47.
    """
    total = np.add.reduceat(_signatures_along(workload, padded), edges[:-1])
    length = np.diff(edges).astype(np.uint64)
    return np.asarray(total[1:] * length[:-1] != total[:-1] * length[1:])


@lru_cache(maxsize=8)
def _signatures_along(workload: Workload, padded: bool) -> NDArray[np.uint64]:
    """The signature of the cell at each position of the line, 0 in padding."""
    line = cells_along(workload.domain, padded)
    return np.where(line >= 0, _signatures(workload)[line], np.uint64(0))


def _signatures(workload: Workload) -> NDArray[np.uint64]:
    """A number for every cell that tells which queries cover it, with which weights; ``(cells,)``, 0 where none do.

    Each query gets a random 64-bit number, and a cell's signature is the sum over the queries that cover it, modulo
    2^64, by a difference array. Two cells with different sets agree with probability 2^-64. Prefixes and products
    tell all cells apart.
    """
    if workload.axes is not None or isinstance(workload, Prefix):
        return _marks(workload.domain.size)
    return _covering(workload.ranges(), workload.domain)


def _marks(many: int) -> NDArray[np.uint64]:
    """Random numbers, the same on every call."""
    return np.random.Generator(np.random.PCG64(0)).integers(1, 2**64, size=many, dtype=np.uint64)


def _covering(ranges: Ranges, domain: Domain) -> NDArray[np.uint64]:
    """The sum of the marks of the ranges that cover each cell."""
    used = ranges.weights != 0
    mark = _marks(ranges.queries)
    table = np.zeros([side + 1 for side in domain], dtype=np.uint64)
    for corner in np.ndindex(*[2] * domain.ndim):
        ends = np.where(np.array(corner, dtype=bool), ranges.upper, ranges.lower)[used]
        sign = np.uint64(1) if sum(corner) % 2 == 0 else np.uint64(2**64 - 1)
        np.add.at(table, tuple(ends.T), mark[used] * sign)
    for axis in range(domain.ndim):
        table = np.cumsum(table, axis=axis, dtype=np.uint64)
    return table[tuple(slice(side) for side in domain)].reshape(-1)
