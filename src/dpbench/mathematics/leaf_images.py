"""The leaves of a hierarchy as a workload sees them: norms and inner products of columns of its matrix.

The image of a leaf is its column of the objective matrix M, that of a bundle of leaves the sum of theirs. Objective
"workload": M = W. Objective "gram": M = W^T W, over buckets. M is never made over all cells of a large domain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.mathematics.buckets import cells_along
from dpbench.workloads import Ranges, Workload

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Boxes = tuple[NDArray[np.int32], NDArray[np.int32], Floats]
Objective = Literal["gram", "workload"]

LARGEST_EXACT = 2_048
"""Leaves up to which the Gram objective of a list of ranges is computed from the matrix over leaves."""
LARGEST_PAIRED = 4_096
"""Ranges up to which that of more leaves, each of single cells, is computed from pairs of ranges."""
SKETCH = 512
"""Rows to which the matrix is otherwise reduced, by random signs: each norm is right within 6 % (one sigma)."""


@dataclass(frozen=True, eq=False)
class Leaves:
    """Leaves of a hierarchy over buckets, in the order of the line, and the bundle of each.

    A leaf is a bucket, or several that look the same to the workload.
    """

    first: Ints
    """``(leaves,)``: first position of each leaf's first bucket, along the line."""
    last: Ints
    """``(leaves,)``: one past its last."""
    buckets: Ints
    """``(leaves,)``: how many buckets each leaf has."""
    bundle: Ints
    """``(leaves,)``: the bundle of each leaf, ascending."""

    @property
    def bundles(self) -> int:
        """Number of bundles."""
        return int(self.bundle[-1]) + 1

    @property
    def bounds(self) -> Ints:
        """``(bundles,)``: first leaf of each."""
        return np.searchsorted(self.bundle, np.arange(self.bundles))

    @property
    def are_cells(self) -> bool:
        """Whether every bucket is a single position."""
        return bool((self.last - self.first == 1).all())


def moments(workload: Workload, leaves: Leaves, objective: Objective, padded: bool) -> tuple[Floats, Floats]:
    """Inner products of the bundles' images, and for each bundle the sum of its leaves' squared norms."""
    line = cells_along(workload.domain, padded)
    if workload.axes is not None:
        return _product_moments(workload, line, leaves, objective)
    boxes, coordinates = _boxes(workload), _coordinates(workload.domain, padded)
    if objective == "workload":
        return _listed_moments(boxes, coordinates, leaves, _exact_errors(workload, leaves, padded))
    if len(leaves.first) > LARGEST_EXACT and leaves.are_cells and len(boxes[2]) <= LARGEST_PAIRED:
        return _paired_moments(workload.ranges(), line, leaves, _bundle_sums(boxes, coordinates, leaves))
    if len(leaves.first) > LARGEST_EXACT and len(boxes[2]) > max(LARGEST_PAIRED, SKETCH):
        return _sketched_moments(workload.ranges(), line, leaves)
    images = _gram_images(boxes, coordinates, leaves)
    errors = np.einsum("ij,ij->i", images, images, dtype=np.float64)
    of_bundles = np.add.reduceat(images, leaves.bounds, axis=0, dtype=np.float64)
    return of_bundles @ of_bundles.T, np.add.reduceat(errors, leaves.bounds)


def _listed_moments(
    boxes: Boxes, coordinates: NDArray[np.int32], leaves: Leaves, errors: Floats | None
) -> tuple[Floats, Floats]:
    """Objective "workload" for a list of ranges; ``errors`` where they are known, and all sums are exact."""
    products, squares = np.zeros((leaves.bundles, leaves.bundles)), np.zeros(leaves.bundles)
    for few in _some(boxes, leaves.bundles):
        if errors is None:
            images, some = _bundle_images(few, coordinates, leaves)
            squares += some
        else:
            images = _bundle_sums(few, coordinates, leaves)
        products += images @ images.T
    return products, squares if errors is None else errors


def _bundle_images(boxes: Boxes, coordinates: NDArray[np.int32], leaves: Leaves) -> tuple[Floats, Floats]:
    """By every leaf and range."""
    from dpbench.mathematics.kernels.coverage import bundle_images

    images, squares = bundle_images(*boxes, coordinates, leaves.first, leaves.last, leaves.bundle, leaves.bundles)
    return images, squares


def _bundle_sums(boxes: Boxes, coordinates: NDArray[np.int32], leaves: Leaves) -> Floats:
    """The first of these, equal to the last bit where lengths are powers of two, by every bundle and range."""
    from dpbench.mathematics.kernels.coverage import bundle_sums

    places = (leaves.first, leaves.last, leaves.bundle, leaves.bundles)
    return np.asarray(bundle_sums(*boxes, coordinates, *places))


def _exact_errors(workload: Workload, leaves: Leaves, padded: bool) -> Floats | None:
    """For each bundle the sum of its leaves' squared norms, if it can be known exactly; else nothing.

    A leaf of 2^k positions from a multiple of 2^k on recurs from trial to trial, and 4^k times its squared norm is a
    whole number where ranges have weight 1. So each is computed once. Up to 2^53 such numbers add up exactly, and to
    what floats add up to in any order.
    """
    from dpbench.mathematics.kernels.coverage import square_sums

    lower, sides, weights = _boxes(workload)
    length = leaves.last - leaves.first
    if (weights != 1).any() or (length & (length - 1)).any() or (leaves.first & (length - 1)).any():
        return None
    kind = np.frexp(length)[1].astype(np.int64) - 1
    largest = np.maximum.reduceat(kind, leaves.bounds)
    if len(weights) * float(len(length)) * 4.0 ** float(largest.max()) >= 2.0**62:
        return None
    table = _square_sums(workload, padded)
    place = (len(table) // 2 + leaves.first) >> kind
    square_sums(lower, sides, _coordinates(workload.domain, padded), leaves.first, leaves.last, place, table)
    total = np.add.reduceat(table[place] << 2 * (largest[leaves.bundle] - kind), leaves.bounds)
    return None if total.max() >= 2**53 else np.ldexp(total.astype(np.float64), -2 * largest)


@lru_cache(maxsize=4)
def _square_sums(workload: Workload, padded: bool) -> Ints:
    """A place for every aligned interval of the line whose length is a power of two; -1: not computed yet.

    That of 2^k positions from p on is (n + p) / 2^k, n the least power of two that is no less than the line.
    """
    positions = len(cells_along(workload.domain, padded))
    return np.full(2 << (positions - 1).bit_length(), -1, dtype=np.int64)


def _some(boxes: Boxes, width: int) -> Iterator[Boxes]:
    """A few boxes at a time, so that ``width`` numbers for each of them fill at most 256 MB."""
    lower, sides, weights = boxes
    step = max(1, 2**25 // width)
    for begin in range(0, len(weights), step):
        few = slice(begin, begin + step)
        yield np.ascontiguousarray(lower[:, few]), np.ascontiguousarray(sides[:, few]), weights[few]


def _paired_moments(ranges: Ranges, line: Ints, leaves: Leaves, images: Floats) -> tuple[Floats, Floats]:
    """Objective "gram" over single cells, from pairs of ranges; ``images`` are the bundles' sums of columns of W.

    With the weights w, a cell's column of W^T W has the square norm sum w_q^2 w_r^2 |q and r| over the pairs of ranges
    that both hold the cell. They do so on a box, so corners of boxes, added up along the axes, give it for all cells.
    """
    domain, square = ranges.domain, ranges.weights**2
    table = np.zeros([side + 1 for side in domain])
    weighted = images * ranges.weights
    shared_by = np.zeros_like(images)
    step = max(1, 2**18 // ranges.queries)
    for begin in range(0, ranges.queries, step):
        few = slice(begin, begin + step)
        low = np.maximum(ranges.lower[few, None], ranges.lower)
        high = np.minimum(ranges.upper[few, None], ranges.upper)
        shared = np.maximum(high - low, 0).prod(axis=2).astype(np.float64)
        shared_by += weighted[:, few] @ shared
        meet = shared > 0
        value = (square[few, None] * shared * square)[meet]
        ends = (low[meet], high[meet])
        for corner in np.ndindex(*[2] * domain.ndim):
            at = np.ravel_multi_index([ends[end][:, axis] for axis, end in enumerate(corner)], table.shape)
            added = np.bincount(at, value, table.size).reshape(table.shape)
            table += added if sum(corner) % 2 == 0 else -added
    for axis in range(domain.ndim):
        table = np.cumsum(table, axis=axis)
    norms = table[tuple(slice(side) for side in domain)].reshape(-1)
    cells = line[leaves.first]
    # where no range is, what is left of large sums is rounding, which must not look like an error below 0
    errors = np.add.reduceat(np.where(cells >= 0, np.maximum(norms[cells], 0.0), 0.0), leaves.bounds)
    return shared_by @ weighted.T, errors


def _gram_images(boxes: Boxes, coordinates: NDArray[np.int32], leaves: Leaves) -> NDArray[np.floating[Any]]:
    """Images of the leaves ``(leaves, any)`` with the inner products of the columns of W^T W.

    W^T W itself where it is small; W R with R R^T = W W^T where there are few queries, which has the same inner
    products; else W^T W with its rows added up under random signs, which has nearly the same. A leaf of several
    buckets stands for as many equal rows of W^T W.
    """
    from dpbench.mathematics.kernels.coverage import leaf_rows

    many, repeated = len(leaves.first), np.sqrt(leaves.buckets)
    places = (coordinates, leaves.first, leaves.last)
    if many <= LARGEST_EXACT:
        gram = np.zeros((many, many))
        for few in _some(boxes, many):
            wide = leaf_rows(*few, *places).astype(np.float64)
            gram += wide @ wide.T
        return gram * repeated
    rows = leaf_rows(*boxes, *places)
    queries = rows.shape[1]
    if queries <= SKETCH:
        wide = rows.astype(np.float64)
        weighted = wide * repeated[:, None]
        values, vectors = np.linalg.eigh(weighted.T @ weighted)
        return np.asarray(wide @ (vectors * np.sqrt(np.maximum(values, 0.0))))
    signs = (_signs(many) * repeated).astype(np.float32)
    sketch = np.zeros((SKETCH, queries), dtype=np.float32)
    for begin in range(0, many, SKETCH):
        some = rows[begin : begin + SKETCH]
        sketch[: len(some)] += some * signs[begin : begin + SKETCH, None]
    return np.asarray(rows @ sketch.T)


def _sketched_moments(ranges: Ranges, line: Ints, leaves: Leaves) -> tuple[Floats, Floats]:
    """The last kind of these, without the matrix of leaves and ranges, whose product would take minutes.

    A row of W^T W under random signs is W^T (W s): sums over ranges by a summed-area table, and back by adding to the
    corners of every range. Of the images only the bundles' sums and the leaves' norms are kept.
    """
    from dpbench.mathematics.kernels.coverage import sketched_moments

    domain = ranges.domain
    rows, columns = (1, *domain)[-2:]
    # one axis is a plane of one row: its ranges lie between the boundaries 0 and 1 of that
    first = [np.zeros(ranges.queries, dtype=np.int64), np.ones(ranges.queries, dtype=np.int64)]
    x0, x1 = (ranges.lower[:, 0], ranges.upper[:, 0]) if domain.ndim == 2 else first
    y0, y1 = ranges.lower[:, -1], ranges.upper[:, -1]
    ends = np.stack([x * (columns + 1) + y for x, y in ((x1, y1), (x0, y1), (x1, y0), (x0, y0))])
    cells, _, begins, _ = _cells_of(line, leaves)
    signs, many = _signs(len(leaves.first)) * np.sqrt(leaves.buckets), leaves.bundles
    images, norms = sketched_moments(
        ends, ranges.weights**2, rows, columns, cells, np.append(begins, len(cells)), signs, leaves.bundle, many, SKETCH
    )
    return images.T @ images, np.add.reduceat(norms, leaves.bounds)


def _signs(many: int) -> Ints:
    return np.random.Generator(np.random.PCG64(0)).choice([-1, 1], size=many)


@lru_cache(maxsize=8)
def _boxes(workload: Workload) -> Boxes:
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


def _product_moments(workload: Workload, line: Ints, leaves: Leaves, objective: Objective) -> tuple[Floats, Floats]:
    """The same for a product of distributions over ranges, whose W^T W is a Kronecker product over the axes."""
    gram, many, axes = objective == "gram", len(leaves.first), workload.axes or ()
    if not any(axis.length_probability[1:].any() for axis in axes):
        return _single_moments(prod(float(axis.range_probability[0]) for axis in axes), line, leaves, objective)
    factors = [axis.second_moment() for axis in axes]
    columns = (leaves.bundle == np.arange(leaves.bundles)[:, None]).astype(np.float64)
    sums = np.concatenate([rows for _, rows in _through(factors, columns, workload.domain, line, leaves)])
    products = (sums * leaves.buckets) @ sums.T if gram else np.add.reduceat(sums, leaves.bounds, axis=1)
    squares = np.empty(many)
    if leaves.are_cells:
        cells = line[leaves.first]
        norms = [(factor**2).sum(axis=1) if gram else np.diagonal(factor) for factor in factors]
        along = np.unravel_index(np.maximum(cells, 0), workload.domain.shape)
        squares = np.where(cells >= 0, prod(norm[at] for norm, at in zip(norms, along, strict=True)), 0.0)
    else:
        for few, rows in _through(factors, np.eye(many), workload.domain, line, leaves):
            squares[few] = rows**2 @ leaves.buckets if gram else rows[np.arange(len(rows)), few]
    return products, np.add.reduceat(squares, leaves.bounds)


def _single_moments(asked: float, line: Ints, leaves: Leaves, objective: Objective) -> tuple[Floats, Floats]:
    """The same where every range is a single cell: images of two leaves have nothing in common.

    ``asked`` is the probability of each cell.
    """
    cells, _, begins, length = _cells_of(line, leaves)
    of_leaves = asked * np.add.reduceat((cells >= 0).astype(np.float64), begins) / length**2
    errors = np.add.reduceat(of_leaves**2 * leaves.buckets if objective == "gram" else of_leaves, leaves.bounds)
    return np.diag(errors), errors


def _cells_of(line: Ints, leaves: Leaves) -> tuple[Ints, Ints, Ints, Ints]:
    """The cells of all leaves in order, -1 in padding; the leaf of each; each leaf's first place there, and length."""
    length = leaves.last - leaves.first
    begins = np.cumsum(length) - length
    owner = np.repeat(np.arange(len(length)), length)
    return line[np.arange(len(owner)) + (leaves.first - begins)[owner]], owner, begins, length


def _through(
    factors: list[Floats], columns: Floats, domain: Domain, line: Ints, leaves: Leaves
) -> Iterator[tuple[Ints, Floats]]:
    """Sums of columns of W^T W over leaves, ``columns`` ``(any, leaves)`` of them; about 32 MB at a time.

    W^T W over leaves is that over cells, averaged over the cells of both leaves; the Kronecker product of ``factors``
    is applied axis by axis.
    """
    cells, owner, begins, length = _cells_of(line, leaves)
    real = cells >= 0
    step = max(1, 2**22 // domain.size)
    for begin in range(0, len(columns), step):
        few = np.arange(begin, min(begin + step, len(columns)))
        spread = np.zeros((len(few), domain.size))
        spread[:, cells[real]] = (columns[few] / length)[:, owner[real]]
        table = spread.reshape(-1, *domain)
        for axis, factor in enumerate(factors, 1):
            table = np.moveaxis(np.moveaxis(table, axis, -1) @ factor, -1, axis)
        along = np.where(real, table.reshape(len(few), -1)[:, cells], 0.0)
        yield few, np.add.reduceat(along, begins, axis=1) / length
