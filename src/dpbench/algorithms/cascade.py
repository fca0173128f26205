"""Cascade: nested squares, measured where there is something to see, and the posterior mean of how counts split.

New here. Its ancestors: the optional Polya tree (Wong, Ma. Annals of Statistics, 2010), wavelet Markov trees (Crouse,
Nowak, Baraniuk. IEEE Transactions on Signal Processing, 1998), and Bayesian inference from noisy counts (Williams,
McSherry. NIPS, 2010).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import inf, sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpbench import fitted
from dpbench.algorithm import Algorithm, Outcome
from dpbench.errors import Unsupported
from dpbench.mathematics.cascade import Fineness, Squares, posterior
from dpbench.mathematics.dense_line import (
    DENSE_LINE,
    CappedTotal,
    DenseLine,
    evenness,
    records_of_full_cell,
    share_of_fullness,
    strategy_for_dense,
)
from dpbench.mathematics.groups import GroupTotals
from dpbench.mathematics.level_shares import UNIT, block_sides, level_shares
from dpbench.mathematics.p_identity import PIdentity
from dpbench.mathematics.p_identity_solver import PIdentityLeastSquares
from dpbench.mathematics.posterior_bars import Calibration, PosteriorBars
from dpbench.mathematics.rows_over_blocks import LEVEL, RowsOverBlocks, rows_over_blocks
from dpbench.mathematics.weighted_tree import chain_weights
from dpbench.mathematics.wide_rows import WideRows
from dpbench.privacy import PrivateData
from dpbench.workloads import Workload

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

TOTAL, MANY_SQUARES = Fraction(3, 100), 256
"""Share of the budget for the number of records where there are as many squares of side 16, or more."""
STANDS_OUT = 4.0
"""Scales of its noise that it has to be, where there are fewer squares, to be asked for less than that."""
COARSE = 4
"""The logarithm of the side of the first squares in the plane, where the signal allows."""
SIGNAL_OF_SQUARE = 3.0
"""Records times epsilon for each of the first squares; with fewer they are made larger."""
COARSE_SHARE = ((1.0, 0.35), (2.0, 0.25), (3.0, None))
"""Their share, by the logarithm of the records times epsilon of a mean one; None: what the workload asks for."""
EMPTY, LOW, DENSE = 8.0, 100.0, 600.0
"""Records times epsilon at which a square of 256 cells is looked into, takes the middle plan, and the dense one."""
KEPT = {"low": Fraction(1, 5), "middle": Fraction(1, 2)}
"""Part of the rest that is kept for the second step inside."""
LEAST, MOST = 0.02, 0.35
"""Shares of a level of dense squares: what the workload asks for, within these."""
WORTH_CUTTING = 16.0
"""Records times epsilon from which on a square of the first step inside is cut again."""


@lru_cache(maxsize=2)
def calibration(which: str) -> Calibration:
    """How wide bars are, "calibrated" or "cautious", as trained on synthetic shapes."""
    trained = fitted.error_bars()
    widths = {int(axes): tuple((a, c) for a, c in pairs) for axes, pairs in trained[which].items()}
    return Calibration(tuple(trained["levels"]), widths)


@dataclass(frozen=True, kw_only=True)
class Cascade(Algorithm):
    """Noisy counts of nested squares; then every cell is its posterior mean, given how counts split down boxes.

    All adaptation to the data is post-processing of answers. The prior (``mathematics/cascade.py``) knows even boxes,
    empty halves, smooth and rough splits along either axis, and learns from the answers how frequent each is; the
    squared error of *every* linear query is least, in expectation under it, for the posterior mean.

    On a line all levels of blocks are measured, with shares by workload and signal. For all prefixes of a line, where
    the noise is Laplace's, two things differ. First it is asked how full the cells are; where nearly all stand out,
    there is nothing to learn, and HDMM's rows and least squares have the word (``mathematics/dense_line.py``). Else, on
    up to 16,384 cells and where a mean block of 16 stands out, HDMM's rows over blocks of 16 take the place of larger
    blocks, and correct the posterior of blocks (``mathematics/wide_rows.py``).

    In the plane squares of 16 x 16 are measured first. A square with next to no records is measured again with all that
    is left; a dense one down to its cells; others in two steps, the second where the first found records.

    It takes no side information, and there is no published form.

    Privacy
    -------
    For all prefixes of a line the first call asks for the number of records of which each cell adds a few at most. One
    record moves that by at most 1. If it is large, one call spends what is left on rows in which the weights of a cell
    add up to 1 exactly, so one record moves the answers by 1.

    Else one call, or two where the first answer does not stand out, spend up to 3 % of the budget on the total. On a
    line each level of blocks has a call: blocks of a level are disjoint, so one record moves the answers by 1, and the
    shares of what is left add up to 1. With rows over blocks, one call is for blocks and rows, where again the weights
    of a cell add up to 1, and one for all cells; their shares add up to 1 too. In the plane a call measures the first
    squares, which are disjoint too; then they are sorted by what was answered into up to four regions, and each region
    spends all that is left on calls about squares inside it, disjoint in each call: regions are disjoint, so together
    they cost what one costs. What is asked depends on domain, workload and earlier answers alone.
    """

    name = "Cascade"
    paper = "new in this package"
    notions = ("pure", "zCDP")
    dimensions = (1, 2)
    hierarchical = True
    consistent = True
    exchangeable = False  # binomial noise knows the unit of a record
    bounds: ClassVar[Mapping[str, tuple[int, int]]] = {"points": (2, 1000), "rounds": (0, 100)}

    points: int = 9
    """Points of the grid that a likelihood is kept on, at most."""
    rounds: int = 3
    """Times that the weights of the prior are learned from the answers."""

    def estimate_once(self, data: PrivateData, workload: Workload) -> Floats:
        """Measure, then infer."""
        squares = Squares(data.domain, gaussian=data.ledger.notion.name == "zCDP")
        data.keep(squares)
        if data.domain.size == 1:
            _ask(data, squares, np.zeros(1, dtype=np.int64), data.budget, "the only cell")
            return np.full(data.domain.shape, max(float(squares.answer[0, 0]), 0.0))
        per_record = data.as_epsilon(data.budget)
        fullness = inf
        solver = None if squares.gaussian else strategy_for_dense(workload)
        if solver is not None:
            fullness = _ask_fullness(data, per_record)
            if fullness >= DENSE_LINE:
                squares.dense = _measure_dense(data, squares, solver)
                return squares.dense.estimate
        _count_records(data, squares)
        weight = squares.rate[0] ** 2
        signal = max(per_record * float(squares.answer[0] @ weight / weight.sum()), 1.0)
        if sum(side > 1 for side in data.domain) == 1:
            even = evenness(fullness, data.domain.size, signal)
            self._measure_levels(data, squares, workload, signal, even)
        else:
            self._measure_where_records_are(data, squares, workload, signal, per_record)
        return posterior(squares, self._fineness).mean

    def error_bars(self, outcome: Outcome) -> PosteriorBars:
        """From draws of the posterior of the answers, calibrated; or from the noise on the answers alone."""
        if not outcome.kept:
            raise Unsupported("this outcome did not keep its answers; take one from algorithm.outcome(...)")
        notion = outcome.ledger.notion
        return PosteriorBars(
            outcome.estimate,
            outcome.kept,
            notion._as_epsilon(notion.amount),
            calibration("calibrated"),
            calibration("cautious"),
        )

    @property
    def files(self) -> tuple[str, ...]:
        """The strategies that come with the package: some are over the blocks of a line."""
        return (str(fitted.SHIPPED),)

    @property
    def _fineness(self) -> Fineness:
        return Fineness(points=self.points, rounds=self.rounds)

    def _prepare(self, workload: Workload) -> None:
        """Weigh the levels."""
        if workload.domain.size > 1:
            level_shares(workload, block_sides(workload.domain), 1.0)
            rows_over_blocks(workload, inf)
            strategy_for_dense(workload)

    @staticmethod
    def _measure_levels(data: PrivateData, squares: Squares, workload: Workload, signal: float, even: float) -> None:
        """Every level of blocks, all over the domain."""
        sides, rest = block_sides(data.domain), data.budget
        inside = np.zeros(1, dtype=np.int64)
        wide = None if squares.gaussian else rows_over_blocks(workload, signal, even)
        if wide is not None:
            _ask_wide(data, squares, wide, rest)
            return
        for side, share in zip(sides, level_shares(workload, sides, signal), strict=True):
            inside = squares.cut(inside, side.bit_length() - 1)
            _ask(data, squares, inside, rest * share, f"blocks of {side}")

    @staticmethod
    def _measure_where_records_are(
        data: PrivateData, squares: Squares, workload: Workload, signal: float, per_record: float
    ) -> None:
        """First squares everywhere; inside each what its answer suggests."""
        # 1. first squares: side and share by the signal
        level = max(min(COARSE, squares.height - 1), 0)
        while level < squares.height - 1 and _tiles(data, level) > signal / SIGNAL_OF_SQUARE:
            level += 1
        wanted = _wanted(workload, level)
        coarse = squares.cut(np.zeros(1, dtype=np.int64), level)
        share = _coarse_share(signal / len(coarse), wanted[0])
        _ask(data, squares, coarse, data.budget * share, f"squares of side {2**level}")
        # 2. regions, by the squares' least squares
        found = per_record * np.maximum(squares.moments()[2][coarse], 0.0)
        area = 4.0 ** (level - COARSE)
        plan = np.digitize(found, [EMPTY, max(LOW * area, EMPTY), max(DENSE * area, EMPTY)])
        if level == 0:
            plan[:] = 0
        where = plan[squares.labels(coarse)]
        kinds = [kind for kind in range(4) if (plan == kind).any()]
        cells = {kind: np.flatnonzero(where == kind) for kind in kinds}
        handles = data.parts([cells[kind] for kind in kinds], data.budget, "regions by their first squares")
        region = dict(zip(kinds, handles, strict=True))
        # 3. first step inside
        inner = max(level - 2, 0)
        steps = {}
        for kind, handle in region.items():
            mine = coarse[plan == kind]
            if kind == 0:
                _ask(handle, squares, mine, handle.budget, "nearly empty squares again", cells[kind])
            elif kind == 3:
                _measure_down(handle, squares, mine, level, wanted[1], cells[kind])
            else:
                kept = KEPT["low" if kind == 1 else "middle"] if inner else Fraction(0)
                steps[kind] = squares.cut(mine, inner)
                _ask(handle, squares, steps[kind], handle.budget * (1 - kept), f"squares of {2**inner}", cells[kind])
        # 4. second step: what holds records is cut again, the rest measured again
        if inner:
            found = per_record * squares.moments()[2]
            for kind, step in steps.items():
                handle, finer = region[kind], max(inner - 2, 0)
                full = found[step] >= WORTH_CUTTING
                _ask_each(handle, squares, step[full], step[~full], finer, cells[kind])


def _ask_fullness(data: PrivateData, per_record: float) -> float:
    """How full the cells of a line are: 1 where all stand out, 0 where all are empty, up to its noise."""
    cells, most = data.domain.size, records_of_full_cell(per_record)
    spend = data.budget * share_of_fullness(cells)
    capped = data.measure(CappedTotal(most), spend, f"up to {most} records of each cell")
    return float(capped[0]) / (cells * most)


def _measure_dense(data: PrivateData, squares: Squares, solver: PIdentityLeastSquares) -> DenseLine:
    """HDMM's rows over cells, with all that is left."""
    spend = data.budget
    answers = data.measure(solver.strategy, spend, "dense: p-Identity rows")
    return DenseLine(solver, answers, _scale(data, squares, spend))


def _count_records(data: PrivateData, squares: Squares) -> None:
    """The total, for less where there are few squares, unless it does not stand out from its noise then.

    The sum of m squares has the noise of one times sqrt(m): the more there are, the more does the total add to them.
    """
    every, whole, squares_of_16 = np.zeros(1, dtype=np.int64), data.budget, _tiles(data, COARSE)
    first = TOTAL * _fraction(sqrt(min(squares_of_16 / MANY_SQUARES, 1.0)))
    _ask(data, squares, every, whole * first, "total")
    if first < TOTAL and squares.answer[0, 0] < STANDS_OUT / squares.rate[0, 0]:
        _ask(data, squares, every, whole * (TOTAL - first), "total again")


def _ask(
    data: PrivateData, squares: Squares, which: Ints, spend: Fraction, why: str, cells: Ints | None = None
) -> None:
    """Measure disjoint squares of one size; a handle of a region has the given cells."""
    labels = squares.labels(which)
    answers = data.measure(GroupTotals(labels if cells is None else labels[cells], len(which)), spend, why)
    squares.put(which, answers, _scale(data, squares, spend))


def _ask_wide(data: PrivateData, squares: Squares, wide: RowsOverBlocks, rest: Fraction) -> None:
    """Blocks and wide rows over them in one call, and all cells; for Laplace noise, which the rows are fitted to."""
    blocks = np.zeros(1, dtype=np.int64)
    for side in block_sides(data.domain):
        if side >= 2**LEVEL:  # larger blocks than these are not measured; leaning asks for them
            blocks = squares.cut(blocks, side.bit_length() - 1)
    strategy, spend = PIdentity(data.domain, (wide.edges,), (wide.axis,)), rest * (1 - wide.cells)
    answers = data.measure(strategy, spend, f"blocks of {2**LEVEL}, and wide rows over them")
    scale = _scale(data, squares, spend)
    squares.put(blocks, answers[: len(blocks)] / wide.axis.cell, scale / wide.axis.cell)
    squares.wide = WideRows(LEVEL, wide.axis, answers[len(blocks) :], 2.0 * scale**2)
    _ask(data, squares, squares.cut(blocks, 0), rest * wide.cells, "cells")


def _ask_each(data: PrivateData, squares: Squares, full: Ints, others: Ints, level: int, cells: Ints) -> None:
    """Cut some squares of a region and measure what is inside, and the others again, all in one call."""
    inside = squares.cut(full, level) if len(full) else full
    labels = np.full(data.domain.size, -1)
    if len(inside):
        labels = squares.labels(inside)[cells]
    if len(others):
        again = squares.labels(others)[cells]
        labels = np.where(again >= 0, again + len(inside), labels)
    which, spend = np.concatenate([inside, others]), data.budget
    answers = data.measure(GroupTotals(labels, len(which)), spend, "squares with records, cut; the others again")
    squares.put(which, answers, _scale(data, squares, spend))


def _measure_down(data: PrivateData, squares: Squares, dense: Ints, level: int, share: float, cells: Ints) -> None:
    """Dense squares: squares of 8 x 8 where they are smaller, and all cells."""
    if level > COARSE - 1:
        dense = squares.cut(dense, COARSE - 1)
        _ask(data, squares, dense, data.budget * _fraction(share), f"squares of {2 ** (COARSE - 1)}", cells)
    _ask(data, squares, squares.cut(dense, 0), data.budget, "cells", cells)


def _wanted(workload: Workload, level: int) -> tuple[float, float]:
    """What the workload asks for where every level has signal: the first squares' share; that of 8 x 8 in the rest."""
    levels = [each for each in (level, COARSE - 1, 0) if each <= level]
    weights = chain_weights(workload, tuple(2**each for each in dict.fromkeys(levels)))
    inside = weights[1] / (1 - weights[0]) if len(weights) > 2 and weights[0] < 1 else 0.0
    return min(max(weights[0], LEAST), MOST), min(max(inside, LEAST), MOST)


def _coarse_share(signal: float, wanted: float) -> Fraction:
    logs, shares = zip(*((log, wanted if share is None else share) for log, share in COARSE_SHARE), strict=True)
    return _fraction(float(np.interp(np.log10(max(signal, 1e-3)), logs, shares)))


def _fraction(share: float) -> Fraction:
    return Fraction(round(share * UNIT), UNIT)


def _tiles(data: PrivateData, level: int) -> int:
    """Squares of a level that the domain has."""
    return int(np.prod([-(-side // 2**level) for side in data.domain]))


def _scale(data: PrivateData, squares: Squares, spend: Fraction) -> float:
    """Of the noise on a count: Laplace's scale, or the standard deviation."""
    return (sqrt(2.0) if squares.gaussian else 1.0) / data.as_epsilon(spend)
