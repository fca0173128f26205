"""A hierarchy weighted for a workload: the strategy of GreedyH, which DAWA uses on its buckets too.

The strategy depends on the domain and the workload alone, so it is built once and kept. It is never a matrix over
cells: the recursion carries, for every node, three numbers and the image of the node under the workload.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.errors import Unsupported
from dpbench.linear.hilbert import order as curve
from dpbench.linear.tree import Tree, without_unmeasured
from dpbench.workloads import Prefix, Ranges, Workload

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Objective = Literal["gram", "workload"]

LARGEST_GRAM = 16_384
"""Cells up to which a Gram matrix of more queries than cells is made."""


def greedy_tree(workload: Workload, branching: int, steps: int, objective: Objective) -> Tree:
    """The weighted hierarchy for a workload on one axis, or on two along the Hilbert curve."""
    line = curve(workload.domain)
    start, stop, first_child, depth = split_line(len(line), _changes(workload, line), branching)
    if isinstance(workload, Prefix):
        from dpbench.kernels.greedy import prefix_shares

        theta = prefix_shares(start, stop, first_child, depth, branching, steps, objective == "gram")
    else:
        leaves = np.flatnonzero(np.diff(first_child) == 0)
        cells = line[np.sort(start[leaves])]
        theta = _listed_shares(_images(workload, cells, objective), stop, first_child, depth, branching, steps)
    weight = path_weights(theta, first_child)
    return without_unmeasured(workload.domain, line, start, stop, first_child, weight)


def split_line(size: int, changes: NDArray[np.bool_], branching: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Cut ``size`` positions into ``branching`` nearly equal parts, again and again; breadth first.

    A node is a leaf where it is one position or no query tells its positions apart: ``changes[i]`` says that position
    i + 1 differs from position i. Returns start, stop, first_child and depth. Where parts are unequal, the longer ones
    come last.
    """
    differing = np.concatenate([[0], np.cumsum(changes)])
    start, stop = np.zeros(1, dtype=np.int64), np.full(1, size, dtype=np.int64)
    starts, stops, children, depths = [], [], [], []
    level = 0
    while len(start):
        length = stop - start
        inner = (length > 1) & (differing[stop - 1] > differing[start])
        fanout = np.where(inner, np.minimum(branching, length), 0)
        starts.append(start)
        stops.append(stop)
        children.append(fanout)
        depths.append(np.full(len(start), level))
        parent = np.repeat(np.arange(len(start)), fanout)
        rank = np.arange(len(parent)) - np.repeat(np.cumsum(fanout) - fanout, fanout)
        step = np.where(length > branching, length // branching, 1)[parent]
        shorter = fanout[parent] - np.where(length > branching, length % branching, 0)[parent]
        begin = start[parent] + rank * step + np.maximum(rank - shorter, 0)
        start, stop = begin, begin + step + (rank >= shorter)
        level += 1
    first_child = 1 + np.concatenate([[0], np.cumsum(np.concatenate(children))])
    return np.concatenate(starts), np.concatenate(stops), first_child, np.concatenate(depths)


def path_weights(theta: Floats, first_child: Ints) -> Floats:
    """1 - theta of what its ancestors pass down for an inner node, all of it for a leaf; paths add up to 1."""
    fanout = np.diff(first_child)
    passed = np.ones(len(theta))
    first, last = 0, 1
    while first < last:
        below = slice(int(first_child[first]), int(first_child[last]))
        passed[below] = np.repeat(passed[first:last] * theta[first:last], fanout[first:last])
        first, last = below.start, below.stop
    return np.where(fanout > 0, passed * (1.0 - theta), passed)


def _changes(workload: Workload, line: Ints) -> NDArray[np.bool_]:
    """Where the set of queries that cover a position changes along the line."""
    along = np.where(line >= 0, signatures(workload)[line], 0)
    return np.asarray(along[1:] != along[:-1])


@lru_cache(maxsize=8)
def signatures(workload: Workload) -> NDArray[np.uint64]:
    """A number for every cell that tells which queries cover it, with which weights; ``(cells,)``, 0 where none do.

    Each query gets a random 64-bit number, and a cell's signature is the sum over the queries that cover it, modulo
    2^64, by a difference array. Two cells with different sets agree with probability 2^-64. Prefixes and products
    tell all cells apart.
    """
    if workload.axes is not None or isinstance(workload, Prefix):
        return _marks(workload.domain.size)
    return _signatures(workload.ranges(), workload.domain)


def _marks(many: int) -> NDArray[np.uint64]:
    """Random numbers, the same on every call."""
    return np.random.Generator(np.random.PCG64(0)).integers(1, 2**64, size=many, dtype=np.uint64)


def _signatures(ranges: Ranges, domain: Domain) -> NDArray[np.uint64]:
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


def _listed_shares(
    blocks: Iterator[Floats], stop: Ints, first_child: Ints, depth: Ints, branching: int, steps: int
) -> Floats:
    """Theta of every node, from the images of the leaves in the order of the line, block by block."""
    from dpbench.kernels.greedy import listed_shares

    nodes = len(stop)
    post_order = np.lexsort((-depth, stop))
    theta, state = np.ones(nodes), np.empty((nodes, 3))
    images: Floats | None = None
    cursor = height = 0
    for rows in blocks:
        if images is None:
            images = np.empty(((int(depth.max()) + 1) * branching + 1, rows.shape[1]))
        cursor, height = listed_shares(
            np.ascontiguousarray(rows, dtype=np.float64),
            post_order,
            first_child,
            depth,
            branching,
            steps,
            cursor,
            height,
            images,
            state,
            theta,
        )
    return theta


def _images(workload: Workload, cells: Ints, objective: Objective) -> Iterator[Floats]:
    """Columns of M for ``cells`` (-1: padding), transposed, in blocks ``(cells, rows of M)``; only M^T M matters.

    objective "workload": M = W. objective "gram": M = W^T W, or where there are fewer queries than cells the matrix
    R^T W with R R^T = W W^T, which has the same M^T M and fewer rows.
    """
    if workload.axes is not None:
        moments = [axis.second_moment() for axis in workload.axes]
        if objective == "workload":
            moments = [np.asarray(np.linalg.cholesky(moment), dtype=np.float64) for moment in moments]
        for block in _blocks(cells, workload.domain.size):
            yield kronecker_rows(moments, block, workload.domain)
        return
    ranges = workload.ranges()
    if objective == "workload":
        for block in _blocks(cells, ranges.queries):
            yield _incidence(ranges, block)
    elif ranges.queries < workload.domain.size:
        root = _gram_root(ranges)
        for block in _blocks(cells, ranges.queries):
            yield _incidence(ranges, block) @ root
    else:
        gram = _gram(ranges)
        for block in _blocks(cells, workload.domain.size):
            yield np.where(block[:, None] >= 0, gram[block], 0.0)


def _blocks(cells: Ints, width: int) -> Iterator[Ints]:
    """Runs of cells whose images fill about 32 MB."""
    step = max(1, 2**22 // width)
    for begin in range(0, len(cells), step):
        yield cells[begin : begin + step]


def _incidence(ranges: Ranges, cells: Ints) -> Floats:
    """Weight of every query on every cell, ``(cells, queries)``; 0 in padding."""
    coordinates = np.unravel_index(np.maximum(cells, 0), ranges.domain.shape)
    covered = np.broadcast_to(cells[:, None] >= 0, (len(cells), ranges.queries)).copy()
    for axis, along in enumerate(coordinates):
        covered &= along[:, None] >= ranges.lower[:, axis]
        covered &= along[:, None] < ranges.upper[:, axis]
    return covered * ranges.weights


def kronecker_rows(factors: list[Floats], cells: Ints, domain: Domain) -> Floats:
    """Rows of the Kronecker product of ``factors`` that belong to ``cells``."""
    coordinates = np.unravel_index(np.maximum(cells, 0), domain.shape)
    rows = np.where(cells[:, None] >= 0, 1.0, 0.0)
    for factor, along in zip(factors, coordinates, strict=True):
        rows = (rows[:, :, None] * factor[along][:, None, :]).reshape(len(cells), -1)
    return rows


def _gram_root(ranges: Ranges) -> Floats:
    """R with R R^T = W W^T, whose entries are products over axes of the overlaps of two boxes."""
    products = ranges.weights[:, None] * ranges.weights[None, :]
    for axis in range(ranges.domain.ndim):
        low, high = ranges.lower[:, axis], ranges.upper[:, axis]
        overlap = np.minimum(high[:, None], high[None, :]) - np.maximum(low[:, None], low[None, :])
        products *= np.maximum(overlap, 0)
    values, vectors = np.linalg.eigh(products)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _gram(ranges: Ranges) -> Floats:
    """W^T W, ``(cells, cells)``, added up over blocks of queries."""
    size = ranges.domain.size
    if size > LARGEST_GRAM:
        raise Unsupported(
            f"the Gram objective of {ranges.queries} queries on {size} cells needs a matrix over cells; "
            f"use objective='workload', or fewer queries than cells"
        )
    every, gram = np.arange(size), np.zeros((size, size))
    step = max(1, 2**24 // size)
    for begin in range(0, ranges.queries, step):
        few = slice(begin, begin + step)
        block = Ranges(ranges.domain, ranges.lower[few], ranges.upper[few], ranges.weights[few])
        incidence = _incidence(block, every)
        gram += incidence @ incidence.T
    return gram
