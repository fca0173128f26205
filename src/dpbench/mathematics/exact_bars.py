"""Intervals from the noise on nested squares alone: whatever the counts, each holds with at least its level.

The difficulty is that what is asked later depends on earlier answers, so earlier noise is not what it was once it is
known what was asked next. Answers come in *rounds*: inside a round nothing that is asked depends on its answers. Given
all earlier rounds, the noise of a round is as it was drawn. The total, which comes first, is not used.

*One round* (a line, all of whose levels are asked at once): least squares on all its levels, and on wide rows where
there are some, and the quantile of the sum of noises that a query takes (``noise_bars.py``).

*Several rounds*. A box is put together from the largest measured squares inside it, each by its first answer, whose
part in the sum is fixed before its noise is drawn. At its border lie squares that were not cut further: with them the
sum is at least the truth, without them at most, since counts are not negative; they enter by their last answer. A
side of the interval fails only if the noise of some round is beyond its own quantile, so the chances of the rounds add
up. How they share 1 - level depends on the box and the first squares alone.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import Unsupported
from dpbench.mathematics.block_tree import block_tree
from dpbench.mathematics.cascade import Squares
from dpbench.mathematics.least_squares import TreeLeastSquares
from dpbench.mathematics.noise_bars import BLOCK, indicators, noise_quantiles, normal_quantile
from dpbench.mathematics.wide_rows import RowsLeastSquares
from dpbench.workloads import Ranges

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_ROUNDS = 3
"""The first squares, and up to two more."""


def exact_intervals(squares: Squares, ranges: Ranges, level: float) -> Floats:
    """``(q, 2)``, for ranges of weight 1."""
    if squares.dense is not None:
        found = squares.dense.intervals(ranges, level)
    elif squares.first_child[0] < 0:
        half = noise_quantiles(np.ones((1, 1)), squares.gaussian, level)[0] / squares.rate[0, 0]
        found = np.tile(squares.answer[0, 0] + np.array([-half, half]), (ranges.queries, 1))
    elif squares.wide is not None:
        solver = RowsLeastSquares(squares)
        found = _by_noise(squares, ranges, level, solver.estimate, solver.influence)
    elif _rounds(squares)[-1] == 0 and sum(side > 1 for side in squares.domain) == 1:
        found = _one_round(squares, ranges, level)
    else:
        found = _several_rounds(squares, ranges, level)
    return np.asarray(np.maximum(np.stack([np.floor(found[:, 0]), np.ceil(found[:, 1])], axis=-1), 0.0))


def _rounds(squares: Squares) -> Ints:
    """The rounds of all answers but the total's, renumbered from 0, ascending and each once."""
    asked = np.unique(squares.asked[1:][squares.rate[1:] > 0])
    return np.arange(len(asked))


def _one_round(squares: Squares, ranges: Ranges, level: float) -> Floats:
    """Least squares on all levels below the root."""
    logs = squares.logs.max(axis=1)
    levels = np.unique(logs[1:])[::-1]
    rates = [squares.rate[1:][logs[1:] == each].max() for each in levels]
    solver = TreeLeastSquares(block_tree(squares.domain, [2 ** int(each) for each in levels], [0.0, *rates]))
    tree = solver.tree
    # the squares in the order of the tree; what lies in padding was not asked, and is 0 without noise
    place = {
        tuple(key): v for v, key in enumerate(zip(logs.tolist(), squares.corner.max(axis=1).tolist(), strict=True))
    }
    answers, noisy = np.zeros(tree.nodes - 1), np.zeros(tree.nodes - 1, dtype=np.bool_)
    for number, (depth, start) in enumerate(zip(tree.depth[1:].tolist(), tree.start[1:].tolist(), strict=True)):
        v = place.get((int(levels[depth - 1]), start))
        if v is not None and squares.rate[v, 0] > 0:
            answers[number], noisy[number] = squares.answer[v, 0] * squares.rate[v, 0], True

    def influence(queries: Floats) -> Floats:
        return solver.influence(queries)[:, noisy]

    return _by_noise(squares, ranges, level, solver.solve(answers[None])[0], influence)


def _by_noise(
    squares: Squares, ranges: Ranges, level: float, estimate: Floats, influence: Callable[[Floats], Floats]
) -> Floats:
    """An unbiased estimate's answers, and the quantile of the sum of noises that each takes."""
    middle = ranges.answer(estimate)
    half = np.empty(ranges.queries)
    step = max(1, BLOCK // squares.domain.size)
    for first in range(0, ranges.queries, step):
        some = slice(first, first + step)
        weights = influence(indicators(ranges, some))
        half[some] = noise_quantiles(np.ascontiguousarray(weights), squares.gaussian, level)
    return np.stack([middle - half, middle + half], axis=-1)


def _several_rounds(squares: Squares, ranges: Ranges, level: float) -> Floats:
    """The largest squares inside, and those at the border."""
    from dpbench.mathematics.kernels.noise_sums import counted_quantiles
    from dpbench.mathematics.kernels.squares import cover

    # answers of one round and one scale are alike
    measured = squares.rate[1:] > 0
    rounds, which_round = np.unique(squares.asked[1:][measured], return_inverse=True)
    if len(rounds) > MOST_ROUNDS:
        raise Unsupported(f"exact intervals are for up to {MOST_ROUNDS} rounds of answers; there are {len(rounds)}")
    pairs = np.stack([which_round.astype(np.float64), squares.rate[1:][measured]], axis=1)
    kinds, which = np.unique(pairs, axis=0, return_inverse=True)
    kind = np.full(squares.rate.shape, -1, dtype=np.int64)
    kind[1:][measured] = which.reshape(-1)
    corners = np.zeros((2, ranges.queries, 2), dtype=np.int64)
    corners[1] = 1
    corners[0, :, : ranges.domain.ndim], corners[1, :, : ranges.domain.ndim] = ranges.lower, ranges.upper
    sums, counts = cover(
        corners[0],
        corners[1],
        squares.first_child,
        squares._children,
        squares.corner,
        squares.logs,
        squares.sides,
        squares.answer,
        kind,
        len(kinds),
    )
    of_round = kinds[:, 0].astype(np.int64)
    first = counts[0][:, of_round == 0].sum(axis=1) > 0
    later = counts[1][:, of_round > 0].sum(axis=1) > 0
    off = np.zeros((2, ranges.queries))
    for number in range(len(rounds)):
        mine = np.where(of_round == number, 1.0 / kinds[:, 1], 0.0)
        for parts, (has_first, has_later) in ((1, (True, False)), (2, (False, True)), (3, (True, True))):
            some = np.flatnonzero((first == has_first) & (later == has_later))
            if not len(some):
                continue
            chance = 1.0 - (1.0 - level) / parts
            for side in range(2):
                taken = np.ascontiguousarray(counts[side][some] * (mine > 0))
                if squares.gaussian:
                    off[side, some] += normal_quantile(chance) * np.sqrt(taken @ mine**2)
                else:
                    off[side, some] += counted_quantiles(taken, mine, chance)
    return np.stack([sums[0] - off[0], sums[1] + off[1]], axis=-1)
