"""The search for a p-Identity strategy of one axis: the rows that answer a workload's ranges with the least error.

With Theta = B / c and s = 1 / c, G = I + Theta Theta^T and H = K S Theta^T, the expected squared error per query is 2
/ epsilon^2 times

    f = tr(K X^-1) = sum_j K_jj s_j^2 - <G^-1, (Theta S) H>.

The search begins with tents (``tents.py``) and keeps, per cell and level, the four nearest: some ten rows per cell, so
a value and its gradient cost a product with K and few passes. It stops by iterations, never by time.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dpbench.mathematics.descent import descend
from dpbench.mathematics.moments import Moment
from dpbench.mathematics.p_identity import UNIT, AxisStrategy
from dpbench.mathematics.tents import Ladder, fit_ladders

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Rows = tuple[Ints, Floats]
"""Per cell, the rows that hold it and Theta there, both ``(cells, width)``."""

LONGEST_SEARCH = 16_384
"""Cells of the longest axis that is searched; beyond it the tents are the strategy."""
SHORT, LONG = 1024, 4096
"""Cells of an axis that gets the starts and the iterations asked for: shorter ones get more starts in proportion,
which cost little there, longer ones fewer, and in the end fewer iterations."""
LEAST_CELL = 2.0**-10
"""What every cell keeps to itself, so that the inverse stays tame."""
LEAST_RATIO = 0.4
"""Weight over the cells' with which a level enters the search: one that tents do not need may serve other rows."""
BEYOND = 1e-3
"""Height with which a cell enters the tents beyond its own, because 0 stays 0."""
ROUNDS = (25, 100)
"""Iterations after which starts are compared: first all, then a third of them; the best goes on alone."""
HOPEFUL = 1.25
"""Starts whose tents err more than this times the best are not searched."""


def fit_axis(moment: Moment, *, starts: int, iterations: int) -> AxisStrategy:
    """The best strategy found for an axis: searched rows, tents or plain cells."""
    plain = AxisStrategy.cells(moment.side)
    if moment.side == 1:
        return plain
    fitted = fit_ladders(moment)
    found = [plain, rounded(fitted[0].theta(), moment)]
    begun = chosen(fitted, max(2, starts * SHORT // moment.side))
    if moment.side <= LONGEST_SEARCH and iterations > 0:
        enough = max(iterations * LONG // max(LONG, moment.side), 1)
        revived = [replace(each, ratio=np.maximum(each.ratio, LEAST_RATIO)).theta(beyond=BEYOND) for each in begun]
        found.append(rounded(_searched(moment, revived, enough), moment))
    return min(found, key=lambda strategy: trace(moment, strategy))


def trace(moment: Moment, strategy: AxisStrategy) -> float:
    """tr(K X^-1): half the expected squared error per query at epsilon 1."""
    return _value(moment, (strategy.rows, strategy.weight / strategy.cell[:, None]), strategy.count)[0]


def rounded(found: Rows, moment: Moment) -> AxisStrategy:
    """The strategy on the lattice of weights; cells that no range covers are in no row."""
    rows, theta = found
    theta = theta * (moment.diagonal > 0)[:, None]
    share = theta / (1.0 + theta.sum(axis=1, keepdims=True))
    share *= np.minimum(1.0, (1.0 - LEAST_CELL) / np.maximum(share.sum(axis=1, keepdims=True), LEAST_CELL))
    units = np.rint(share * UNIT).astype(np.int64)
    heaviest = np.argsort(-units, axis=1, kind="stable")[:, : int((units > 0).sum(axis=1).max())]
    units, rows = np.take_along_axis(units, heaviest, axis=1), np.take_along_axis(rows, heaviest, axis=1)
    number = np.unique(np.where(units > 0, rows, rows.max(initial=0) + 1), return_inverse=True)[1]
    number = np.where(units > 0, number.reshape(rows.shape), 0)
    return AxisStrategy(moment.side, np.ascontiguousarray(number), np.ascontiguousarray(units))


def chosen(fitted: list[Ladder], many: int) -> list[Ladder]:
    """The ladders to be searched from, out of all in the order of their errors; of each height half of them at most."""
    result: list[Ladder] = []
    for ladder in fitted:
        alike = sum(len(other.per_level) == len(ladder.per_level) for other in result)
        if ladder.error <= HOPEFUL * fitted[0].error and alike < max(many // 2, 1) and len(result) < many:
            result.append(ladder)
    return result


def _searched(moment: Moment, begun: list[Rows], iterations: int) -> Rows:
    """The best of several starts, after rounds in which fewer and fewer go on."""
    field = [(np.inf, rows) for rows in begun]
    done = 0
    for stop in (*(min(stop, iterations) for stop in ROUNDS), iterations):
        field = sorted((_descend(moment, rows, stop - done) for _, rows in field), key=lambda each: each[0])
        field, done = field[: max(len(field) // 3, 1)], stop
    return field[0][1]


def _descend(moment: Moment, begun: Rows, iterations: int) -> tuple[float, Rows]:
    """Descent in the square roots of Theta, which need no bounds; an entry that is 0 stays 0."""
    rows, theta = begun
    count = int(rows.max()) + 1

    def error(root: Floats) -> tuple[float, Floats]:
        value, slope = _value(moment, (rows, root * root), count, slope=True)
        return value, 2.0 * root * slope

    value, root = descend(error, np.sqrt(theta), iterations)
    return value, (rows, root * root)


def _value(moment: Moment, found: Rows, count: int, *, slope: bool = False) -> tuple[float, Floats]:
    """f, and its gradient where it is asked for."""
    from dpbench.mathematics.kernels import p_identity as kernels
    from dpbench.mathematics.kernels.matrices import inverse as inverted
    from dpbench.mathematics.kernels.matrices import product

    rows, theta = found
    s = 1.0 + theta.sum(axis=1)
    inverse = inverted(kernels.gram(rows, theta, count))
    h = moment.times(kernels.spread(rows, theta, s, count))
    middle = kernels.gather(rows, theta, s, h)
    value = float((moment.diagonal * s * s).sum() - (inverse * middle).sum())
    if not slope:
        return value, np.empty(0)
    z = product(product(inverse, middle), inverse)
    return value, kernels.gradient(rows, theta, s, moment.diagonal, inverse, z, h)
