"""Buckets of cells along a line: how uneven each would be, and GreedyH's hierarchy over those that were chosen.

The line is one axis, or two along the Hilbert curve. Bucket c of ``edges`` ``(buckets + 1,)`` holds the positions
``edges[c] ... edges[c + 1] - 1``, and a query's weight on it is the mean of its weights on them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.linear.greedy import Objective, kronecker_rows, path_weights, signatures, split_line
from dpbench.linear.hilbert import order as curve
from dpbench.linear.tree import Tree, without_unmeasured
from dpbench.workloads import Prefix, Workload

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

LARGEST_EXACT = 2_048
"""Leaves up to which the Gram objective of a list of ranges is computed from the matrix over leaves."""
SKETCH = 512
"""Rows to which that matrix is otherwise reduced, by random signs: each norm is right within 6 % (one sigma)."""


@lru_cache(maxsize=8)
def cells_along(domain: Domain, padded: bool) -> Ints:
    """Flat cell numbers along the line; ``padded`` keeps the positions that the Hilbert curve adds, as -1."""
    line = curve(domain)
    return line if padded else line[line >= 0]


def powers_of_two(cells: int) -> tuple[int, ...]:
    """1, 2, 4, ... up to ``cells``: the lengths that a bucket may have."""
    return tuple(2**power for power in range(cells.bit_length()))


@dataclass(frozen=True)
class Deviations:
    """Statistic: sum |x_i - m| over every window of a power-of-two length, m its ``about``.

    ``(lengths, n + 1)``, entry [k, e] for the window ``[e - lengths[k], e)``. ``padded`` keeps the empty cells that
    the Hilbert curve adds to a domain that is not a square of such a side.
    """

    about: Literal["median", "mean"]
    padded: bool = False

    def of(self, counts: Ints) -> Floats:
        """All windows, O(n log^2 n)."""
        from dpbench.kernels.deviation import window_deviations

        domain = Domain(counts.shape)
        line = cells_along(domain, self.padded)
        along = np.where(line >= 0, counts.reshape(-1)[line], 0)
        values, rank = np.unique(along, return_inverse=True)
        lengths = np.array(powers_of_two(len(line)), dtype=np.int64)
        return np.asarray(window_deviations(along, rank.reshape(-1), values, lengths, self.about == "median"))


@dataclass(frozen=True)
class MedianCost:
    """The cost of a bucket is the L1 distance of its counts from their median, plus what is public.

    It is the L1 distance of the counts from the nearest constant vector. A distance to a set moves no further than
    the point does, so one record, which is in one bucket of every partition, moves the total cost by at most 1. (The
    deviation from the mean can move by nearly 2.)
    """

    cells: int
    penalty: float
    """Price of every bucket, in nats."""
    surcharge: float = 0.0
    """What a bucket of several cells costs besides, in records."""
    aligned: bool = False
    """Whether a bucket has to start at a multiple of its length."""
    sensitivity = 1
    statistic = Deviations("median")

    @property
    def lengths(self) -> tuple[int, ...]:
        """Powers of two."""
        return powers_of_two(self.cells)

    def cost(self, counts: Floats) -> Floats:
        """Costs of all windows, from the statistic; inf forbids one that is not aligned."""
        if not self.aligned:
            return counts
        costs = np.full(counts.shape, np.inf)
        costs[0] = counts[0]
        for kind, length in enumerate(self.lengths[1:], 1):
            costs[kind, length::length] = counts[kind, length::length] + self.surcharge
        return costs


def bucket_tree(
    workload: Workload, edges: Ints, branching: int, steps: int, objective: Objective, padded: bool = False
) -> Tree:
    """GreedyH's weighted hierarchy over buckets, for the workload reduced to them.

    A leaf is a bucket, or several that no query tells apart.
    """
    line = cells_along(workload.domain, padded)
    start, stop, first_child, depth = split_line(len(edges) - 1, _changes(workload, line, edges), branching)
    if isinstance(workload, Prefix):
        from dpbench.kernels.buckets import prefix_shares

        theta = prefix_shares(start, stop, first_child, depth, np.diff(edges), branching, steps, objective == "gram")
    else:
        theta = np.ones(len(start))
        bundles = _bundles(start, stop, first_child, depth, edges, branching, steps)
        moments = _moments(workload, bundles, objective, padded)
        top = bundles.shares(*moments, depth, branching, steps)
        theta[: len(top)] = top
    weight = path_weights(theta, first_child)
    return without_unmeasured(workload.domain, line, edges[start], edges[stop], first_child, weight)


def _changes(workload: Workload, line: Ints, edges: Ints) -> NDArray[np.bool_]:
    """Where some query's weight changes from one bucket to the next.

    The signature of a bucket is the mean over its cells; two means a / l and b / m are compared as a m = b l, modulo
    2^64. Lengths are powers of two up to 2^16, so different ones agree with a probability below 2^-47.
    """
    along = np.where(line >= 0, signatures(workload)[line], np.uint64(0))
    total = np.add.reduceat(along, edges[:-1])
    length = np.diff(edges).astype(np.uint64)
    return np.asarray(total[1:] * length[:-1] != total[:-1] * length[1:])


@dataclass(frozen=True, eq=False)
class _Bundles:
    """A tree cut off at the depth below which no node can deserve a weight; what hangs there is a bundle of leaves."""

    start: Ints
    """``(nodes,)``: first bundle of each node above the cut, breadth first."""
    stop: Ints
    """``(nodes,)``: one past its last bundle."""
    first_child: Ints
    """``(nodes + 1,)``: as in a tree."""
    first: Ints
    """``(leaves,)``: first position of each leaf's first bucket, along the line."""
    last: Ints
    """``(leaves,)``: one past its last. All buckets of a leaf look the same to the workload."""
    buckets: Ints
    """``(leaves,)``: how many buckets each leaf has."""
    bundle: Ints
    """``(leaves,)``: the bundle of each leaf, ascending."""

    @property
    def count(self) -> int:
        """Number of bundles."""
        return int(self.bundle[-1]) + 1

    @property
    def bounds(self) -> Ints:
        """``(bundles,)``: first leaf of each."""
        return np.searchsorted(self.bundle, np.arange(self.count))

    def shares(self, products: Floats, errors: Floats, depth: Ints, branching: int, steps: int) -> Floats:
        """Theta of the nodes above the cut; below it, theta is 1."""
        from dpbench.kernels.buckets import bundle_shares

        leaves = np.bincount(self.bundle, minlength=self.count).astype(np.float64)
        nodes = len(self.start)
        return np.asarray(
            bundle_shares(
                self.start,
                self.stop,
                self.first_child,
                depth[:nodes].copy(),
                leaves,
                np.ascontiguousarray(errors, dtype=np.float64),
                np.ascontiguousarray(products, dtype=np.float64),
                branching,
                steps,
            )
        )


def _bundles(
    start: Ints, stop: Ints, first_child: Ints, depth: Ints, edges: Ints, branching: int, steps: int
) -> _Bundles:
    """Cut the tree where the greedy search cannot but give all weight to the children.

    If nothing below a node is measured, it has k = m leaves, E0 = sum |t|^2 over them, and by Cauchy and Schwarz
    mu <= m E0 and mu1 <= m' E0, m' the most leaves of a child. Where even these bounds do not pay, theta is 1. The
    bounds grow with m, so one look at the fullest node of each depth will do.
    """
    from dpbench.kernels.greedy import best_share

    is_leaf = np.diff(first_child) == 0
    leaf_start = np.zeros(len(edges), dtype=np.int64)
    leaf_start[start[is_leaf] + 1] = 1
    before = np.cumsum(leaf_start)
    leaves = before[stop] - before[start]
    level = np.searchsorted(depth, np.arange(depth[-1] + 2))
    fullest = [*(int(many) for many in np.maximum.reduceat(leaves, level[:-1])), 0]
    cut = int(depth[-1])
    while cut > 0:
        many, below = float(fullest[cut - 1]), float(fullest[cut])
        theta, _ = best_share(1.0, many * (1 + 1e-9), below, many, branching ** (-0.5 * (cut - 1)), steps)
        if theta < 1:
            break
        cut -= 1
    nodes = int(level[cut + 1])
    is_bundle = is_leaf[:nodes] | (depth[:nodes] == cut)
    children = np.where(is_bundle, 0, np.diff(first_child[: nodes + 1]))
    bundle_start = np.zeros(len(edges), dtype=np.int64)
    bundle_start[start[:nodes][is_bundle] + 1] = 1
    bundle_before = np.cumsum(bundle_start)
    first = np.sort(start[is_leaf])
    return _Bundles(
        start=bundle_before[start[:nodes]],
        stop=bundle_before[stop[:nodes]],
        first_child=1 + np.concatenate([[0], np.cumsum(children)]),
        first=edges[first],
        last=edges[first + 1],
        buckets=np.diff(first, append=len(edges) - 1),
        bundle=bundle_before[first + 1] - 1,
    )


def _moments(workload: Workload, bundles: _Bundles, objective: Objective, padded: bool) -> tuple[Floats, Floats]:
    """For the objective matrix M: inner products of the bundles' images, and sums of the leaves' squared norms.

    The image of a leaf is its column of M, that of a bundle the sum of its leaves'. objective "workload": M = W.
    objective "gram": M = W^T W, over leaves.
    """
    if workload.axes is not None:
        return _product_moments(workload, cells_along(workload.domain, padded), bundles, objective)
    from dpbench.kernels.buckets import bundle_images, leaf_rows

    boxes = _boxes(workload)
    places = (_coordinates(workload.domain, padded), bundles.first, bundles.last)
    if objective == "workload":
        images, errors = bundle_images(*boxes, *places, bundles.bundle, bundles.count)
        return images @ images.T, errors
    return _summed(_gram_images(leaf_rows(*boxes, *places), np.sqrt(bundles.buckets)), bundles)


def _summed(images: NDArray[np.floating[Any]], bundles: _Bundles) -> tuple[Floats, Floats]:
    """From the images of the leaves, one a row, to what the bundles need."""
    errors = np.einsum("ij,ij->i", images, images, dtype=np.float64)
    of_bundles = np.add.reduceat(images, bundles.bounds, axis=0, dtype=np.float64)
    return of_bundles @ of_bundles.T, np.add.reduceat(errors, bundles.bounds)


def _gram_images(rows: NDArray[np.float32], repeated: Floats) -> NDArray[np.floating[Any]]:
    """From columns of W, one a row of ``rows`` ``(leaves, queries)``, to images with the inner products of W^T W's.

    W^T W itself where it is small; W R with R R^T = W W^T where there are few queries, which has the same inner
    products; else W^T W with its rows added up under random signs, which has nearly the same. A leaf of several
    buckets stands for as many equal rows of W^T W: ``repeated`` is the root of how many.
    """
    leaves, queries = rows.shape
    if leaves <= LARGEST_EXACT:
        wide = rows.astype(np.float64)
        return np.asarray((wide @ wide.T) * repeated)
    if queries <= SKETCH:
        wide = rows.astype(np.float64)
        weighted = wide * repeated[:, None]
        values, vectors = np.linalg.eigh(weighted.T @ weighted)
        return np.asarray(wide @ (vectors * np.sqrt(np.maximum(values, 0.0))))
    signs = (np.random.Generator(np.random.PCG64(0)).choice([-1, 1], size=leaves) * repeated).astype(np.float32)
    sketch = np.zeros((SKETCH, queries), dtype=np.float32)
    for begin in range(0, leaves, SKETCH):
        some = rows[begin : begin + SKETCH]
        sketch[: len(some)] += some * signs[begin : begin + SKETCH, None]
    return np.asarray(rows @ sketch.T)


@lru_cache(maxsize=8)
def _boxes(workload: Workload) -> tuple[NDArray[np.int32], NDArray[np.int32], Floats]:
    """Lower corners and sides ``(axes, queries)`` and weights of the ranges, as the kernels want them."""
    ranges = workload.ranges()
    lower, upper = (np.ascontiguousarray(corner.T, dtype=np.int32) for corner in (ranges.lower, ranges.upper))
    return lower, upper - lower, ranges.weights.copy()


@lru_cache(maxsize=8)
def _coordinates(domain: Domain, padded: bool) -> NDArray[np.int32]:
    """Coordinates of each position of the line, ``(positions, axes)``; -1 in padding."""
    cells = cells_along(domain, padded)
    along = np.stack(np.unravel_index(np.maximum(cells, 0), domain.shape), axis=1)
    return np.where(cells[:, None] >= 0, along, -1).astype(np.int32)


def _product_moments(workload: Workload, line: Ints, bundles: _Bundles, objective: Objective) -> tuple[Floats, Floats]:
    """The same for a product of distributions over ranges, from rows of its W^T W over leaves."""
    if objective == "gram":
        images = np.concatenate([rows for _, rows in _gram_rows(workload, line, bundles)])
        return _summed(images * np.sqrt(bundles.buckets), bundles)
    products, errors = np.zeros((bundles.count, bundles.count)), np.zeros(bundles.count)
    for few, rows in _gram_rows(workload, line, bundles):
        owner = bundles.bundle[few]
        np.add.at(products, owner, np.add.reduceat(rows, bundles.bounds, axis=1))
        np.add.at(errors, owner, rows[np.arange(len(rows)), few])
    return products, errors


def _gram_rows(workload: Workload, line: Ints, bundles: _Bundles) -> Iterator[tuple[Ints, Floats]]:
    """Leaves, and their rows ``(few, leaves)`` of W^T W: means over the cells of both leaves; about 32 MB at a time."""
    moments = [axis.second_moment() for axis in workload.axes or ()]
    length = bundles.last - bundles.first
    leaves, ends = len(length), np.cumsum(length)
    positions = np.arange(ends[-1]) + np.repeat(bundles.first - (ends - length), length)
    cells = line[positions]
    real = np.where(cells >= 0, 1.0, 0.0)
    step = max(1, 2**22 // leaves)
    chunk = max(1, 2**22 // len(cells))
    for begin in range(0, leaves, step):
        few = np.arange(begin, min(begin + step, leaves))
        rows = np.zeros((len(few), leaves))
        for low in range(int(ends[begin] - length[begin]), int(ends[few[-1]]), chunk):
            some = np.arange(low, min(low + chunk, int(ends[few[-1]])))
            block = kronecker_rows(moments, cells[some], workload.domain)[:, cells] * real
            owner = np.searchsorted(ends, some, side="right")
            np.add.at(rows, owner - begin, np.add.reduceat(block, ends - length, axis=1) / length)
        yield few, rows / length[few][:, None]
