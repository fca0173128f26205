"""The complete hierarchy that suits a workload: block sides level by level, and a weight per level.

Blocks of one level are alike, so least squares on the tree has one variance per space of details. With V_l cells in a
block of level l, P_l the projection on vectors that are constant in its blocks, F_l = tr(K P_l), E_0 = F_0 and
E_k = F_k - F_{k-1},

    MSE = 2 (sum w)^2 / epsilon^2 * sum_k E_k / lambda_k,   lambda_k = sum over l >= k of w_l^2 V_l.

With Gaussian noise by the L2 sensitivity, sum w^2 / (2 rho) takes the place of 2 (sum w)^2 / epsilon^2. Then a level
costs the square of its weight, many levels are cheap, and the best trees cut in halves. ``norm`` below says by which
norm the weights of a path count: 1 (Laplace) or 2 (Gaussian).

After Qardaji, Yang, Li (PVLDB 2013), who choose one branching factor, and Cormode et al. (ICDE 2012), who weigh levels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isqrt, prod

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.mathematics.block_tree import block_shapes
from dpbench.mathematics.expected_error import mean_over_queries, squared_overlaps
from dpbench.mathematics.moments import Lengths, counted, typical
from dpbench.workloads import AxisRanges, Prefix, Workload

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Energy = Callable[[tuple[int, ...]], float]
"""F of blocks of a shape."""

UNIT = 2**16
"""Weights are multiples of one over this number."""
WIDEST = 40
"""Cells beyond the square root of the side up to which the last two branchings go."""
WIDEST_OF_FOUR = 24
"""The same for the branchings of four levels."""
LONGEST_OF_TWO = 2**16
"""Cells of the upper blocks of two levels; the best have about the square root of the side, and four levels are better
long before that reaches the bound."""
ROUGH, FINE, FINALISTS = 12, 100, 16
"""Steps of the weights for every chain, and for the best few."""
LEAST = 1e-3
"""Weight below which a level is not measured; the cells have it at least."""
TINY = 1e-100


@dataclass(frozen=True)
class Hierarchy:
    """A complete hierarchy of blocks."""

    sides: tuple[int, ...]
    """Of the blocks below the root, the largest first, 1 last."""
    weights: tuple[float, ...]
    """Of the levels, the root's first; they add up to 1, or by the second norm their squares do, up to 2^-15 each."""


@lru_cache(maxsize=64)
def fit_hierarchy(workload: Workload, norm: int = 1) -> Hierarchy:
    """The best hierarchy of up to four levels below the root, by trying all branchings and weighing the best.

    By the second norm the best one that halves blocks from level to level: there the error is convex in the squares of
    the weights, and levels that do not pay lose theirs.
    """
    workload = typical(workload)
    domain = workload.domain
    if domain.size == 1:
        return Hierarchy((), (1.0,))
    energy = energies(workload)
    if norm == 2:
        halves = tuple(2**power for power in range((max(domain) - 1).bit_length())[::-1])
        return _settled(domain, halves, energy, True, norm)[1]
    rough: list[tuple[float, bool, tuple[int, ...]]] = []
    for chains in filter(None, _chains(max(domain))):
        details, cells = _levels(domain, chains, energy)
        for root in (False, True):
            _, errors = weigh(details, cells, ROUGH, root=root)
            rough += [(errors[best], root, chains[best]) for best in np.argsort(errors, kind="stable")[:FINALISTS]]
    fine = [_settled(domain, chain, energy, root) for _, root, chain in sorted(rough)[:FINALISTS]]
    return min(fine, key=lambda each: each[0])[1]


def weigh(details: Floats, cells: Floats, steps: int, *, root: bool, norm: int = 1) -> tuple[Floats, Floats]:
    """The best weights of many hierarchies at once, and the errors that they have: ``(many, levels)`` and ``(many,)``.

    ``details`` are the E_k and ``cells`` the V_l of each. At the optimum w_l V_l sum(w) T_l = sum E / lambda, with
    T_l the sum of E_k / lambda_k^2 over k <= l, for every level that is measured; a step multiplies each weight by the
    square root of the quotient, which makes a level fade where its gain is below its price. There are several optima:
    hierarchies without a level are other hierarchies, except that the ``root`` may be measured or not. By the second
    norm V_l sum(w^2) T_l = sum E / lambda, and there is one optimum.
    """
    weights = np.ones(details.shape)
    weights[:, 0] = root
    weights /= np.linalg.norm(weights, norm, axis=1, keepdims=True)
    for _ in range(steps):
        precision = _precisions(cells, weights)
        variance = details / precision
        gain = weights ** (2 - norm) * cells * np.cumsum(variance / precision, axis=1)
        weights = weights * np.sqrt(gain / variance.sum(axis=1, keepdims=True))
        weights /= np.linalg.norm(weights, norm, axis=1, keepdims=True)
    return weights, _errors(details, cells, weights)


@lru_cache(maxsize=64)
def chain_weights(workload: Workload, sides: tuple[int, ...]) -> tuple[float, ...]:
    """The best weights of a given chain of block sides, the root not measured: one per side, adding up to 1."""
    workload = typical(workload)
    details, cells = _levels(workload.domain, [sides], energies(workload))
    return tuple(weigh(details, cells, FINE, root=False)[0][0, 1:].tolist())


def hierarchy_variance(workload: Workload, hierarchy: Hierarchy) -> float:
    """Mean over the queries of their variance under least squares, where every answer carries noise of variance 1."""
    details, cells = _levels(workload.domain, [hierarchy.sides], energies(workload))
    return float(_errors(details, cells, np.array([hierarchy.weights]))[0])


def energies(workload: Workload) -> Energy:
    """F = tr(K P): the mean over queries of their squared overlaps with blocks of a shape, per cell of a block."""
    if isinstance(workload, Prefix):
        return lambda shape: prefix_energy(workload.domain.size, *shape)
    if workload.axes is None:
        ranges = counted(workload)

        def listed(shape: tuple[int, ...]) -> float:
            return mean_over_queries(ranges, [squared_overlaps(side) for side in shape]) / prod(shape)

        return lru_cache(maxsize=None)(listed)
    along = [axis_energies(axis) for axis in workload.axes]
    return lambda shape: prod(each(side) for each, side in zip(along, shape, strict=True))


def prefix_energy(side: int, block: int) -> float:
    """The same for all prefixes of an axis: one of u cells fills u // block blocks and has u % block cells of one."""
    full, rest = divmod(side, block)
    filled = block * full * (full - 1) // 2 + full * (rest + 1)
    begun = (full * (block - 1) * block * (2 * block - 1) + rest * (rest + 1) * (2 * rest + 1)) // 6
    return (filled * block**2 + begun) / (side * block)


def axis_energies(axis: AxisRanges) -> Callable[[int], float]:
    """The mean over ranges of their squared overlaps with aligned blocks of a side, over that side.

    The second moment between two cells is a sum of values of A (``Lengths.between``), so the pairs of cells in a block
    add up from running sums of A and of i A.
    """
    n, cell = axis.side, np.arange(axis.side)
    twice = Lengths(n, axis).twice
    left, right = twice[n] - twice[n - 1 - cell], twice[cell]
    running = np.zeros((4, n + 1))
    np.cumsum([left, cell * left, right, cell * right], axis=1, out=running[:, 1:])
    apart = np.concatenate([[0.0, 0.0], np.cumsum(np.cumsum(twice[:-1]))])  # sum over i < j < m of A(j - i - 1)

    def energy(side: int) -> float:
        begin = np.arange(0, n, side)
        end = np.minimum(begin + side, n)
        left_sum, left_first, right_sum, right_first = running[:, end] - running[:, begin]
        # over i < j in a block: left_i comes end - 1 - i times, right_j comes j - begin times
        pairs = (end - 1) * left_sum - left_first - right_first + begin * right_sum + apart[end - begin]
        return float((2 * pairs + left_sum - right_sum).sum()) / side

    return lru_cache(maxsize=None)(energy)


def _precisions(cells: Floats, weights: Floats) -> Floats:
    """The lambda_k; never 0, because a level that no query needs may lose all weight."""
    return np.maximum(np.cumsum((weights**2 * cells)[:, ::-1], axis=1)[:, ::-1], TINY)


def _errors(details: Floats, cells: Floats, weights: Floats) -> Floats:
    """The sum of E_k / lambda_k, for weights that add up to 1."""
    return np.asarray((details / _precisions(cells, weights)).sum(axis=1))


def _levels(domain: Domain, chains: Sequence[tuple[int, ...]], energy: Energy) -> tuple[Floats, Floats]:
    """E_k and V_l of every level of several chains, root first: ``(chains, levels)``."""
    shapes = block_shapes(domain, np.array(chains, dtype=np.int64))
    # each kind of block by one number: rows of an array are sorted several times as slowly
    largest = tuple((shapes.max(axis=(0, 1)) + 1).tolist())
    coded = np.ravel_multi_index(tuple(np.moveaxis(shapes, -1, 0)), largest)
    codes, which = np.unique(coded, return_inverse=True)
    kinds = np.stack(np.unravel_index(codes, largest), axis=1)
    found = np.array([energy(tuple(shape)) for shape in kinds.tolist()])[which].reshape(shapes.shape[:2])
    return np.maximum(np.diff(found, prepend=0.0), 0.0), shapes.prod(axis=2, dtype=np.float64)


def _settled(
    domain: Domain, sides: tuple[int, ...], energy: Energy, root: bool, norm: int = 1
) -> tuple[float, Hierarchy]:
    """A chain with its best weights on the lattice, levels of next to no weight taken out, and its error."""
    details, cells = _levels(domain, [sides], energy)
    weights = weigh(details, cells, FINE, root=root, norm=norm)[0][0]
    kept = tuple(side for side, weight in zip(sides, weights[1:], strict=True) if weight >= LEAST or side == 1)
    if kept != sides:
        return _settled(domain, kept, energy, root, norm)
    if norm == 1:
        units = np.rint(weights * min(1.0, (1.0 - LEAST) / max(1.0 - weights[-1], LEAST)) * UNIT)
        units[0] = 0.0 if weights[0] < LEAST else units[0]
        units[-1] = UNIT - units[:-1].sum()
    else:
        units = np.rint(weights * UNIT)
        units[0] = 0.0 if weights[0] < LEAST else units[0]
        units[-1] = max(units[-1], np.ceil(LEAST * UNIT))
    found = Hierarchy(sides, tuple((units / UNIT).tolist()))
    return float(_errors(details, cells, np.array([found.weights]))[0]), found


def _chains(side: int) -> Iterator[list[tuple[int, ...]]]:
    """Block sides below the root, by the number of levels; two with blocks, more with branchings up to a bound."""
    yield [(1,)]
    yield [(block, 1) for block in range(2, min(side, LONGEST_OF_TWO))]
    widest = range(2, isqrt(side) + WIDEST)
    yield [(a * b, a, 1) for a in widest for b in widest if a * b < side]
    few = range(2, WIDEST_OF_FOUR)
    yield [(a * b * c, a * b, a, 1) for a in few for b in few for c in few if a * b * c < side]
