"""Intervals around Cascade's answers: from draws of its posterior, calibrated; or from the noise alone.

*Model-based.* Draws are from the posterior without slopes: where the estimate leans, bars are wider than they need be,
and hold it. Of 200 draws the median m and two quantiles l, h of a query are taken; then

    low = m - max(kappa (m - l), floor),   high = m + max(kappa (h - m), floor),

rounded outwards, cut at 0, set to 0 where low is below half its distance from m (the prior has no mass at exactly 0,
so bars that lean on zero are one-sided), and widened to hold the estimate. On a line kappa = 1 + A. In the plane errors
of neighbouring boxes have the same sign, which the prior does not know, so kappa^2 = 1 + A + C cut / 16 grows with the
length of the box's edges inside the domain. A and C are trained on synthetic shapes (``python -m benchmarks.coverage
--train``). The floor is what no private interval can be below: if it holds with probability p on every table, and k
records more or less move the query by k, then its length k has p <= exp(epsilon k) (1 - p); under Gaussian noise
k >= 2 z_p / mu. A shorter interval rests on the prior alone. All this holds *on average over tables and queries like
those tried*; it is no guarantee for any one table.

*From the noise alone* (``exact_bars.py``). Valid on any counts, and wider. It stands in where the model-based one is
known to fail: boxes of the plane of at most a quarter of each side where epsilon times the estimated total is below
1000; on domains too large for draws; on dense lines, where there is no model (``dense_line.py``); and beside wide rows
where cells have 20 records times epsilon in the mean: there it is a tenth wider, and holds far more often.

*Privacy.* Everything here is made from noisy answers and the estimate, which are private already; draws use random
numbers of their own. No count is met, so nothing is spent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from dpbench.mathematics.cascade import Fineness, Squares, posterior_without_slopes
from dpbench.mathematics.draws import LARGEST_WORKSPACE, PURPOSE, blocks_of_draws
from dpbench.mathematics.exact_bars import exact_intervals
from dpbench.mathematics.noise_bars import listed, normal_quantile
from dpbench.workloads import Ranges, Workload

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

DRAWS = 200
"""Draws that an interval is read off."""
FINENESS = Fineness(points=17, reach=6.0, points_of_rounds=11)
"""Finer than an estimate needs: tails count here."""
WEAK = 1000.0
"""Epsilon times the estimated total below which bars of small boxes are not model-based."""
STRONG = 20.0
"""Records of a mean cell, times epsilon, from which on bars beside wide rows are not model-based."""
SMALL = 4
"""A box is small that has at most one over this part of each side."""
QUERIES = 2**15
"""Queries that are answered at a time on all draws."""


@dataclass(frozen=True)
class Calibration:
    """The A and C of some levels, by number of axes; between levels they are interpolated by their log-odds."""

    levels: tuple[float, ...]
    widths: Mapping[int, tuple[tuple[float, float], ...]]
    """By axes: (A, C) for each level."""

    def at(self, axes: int, level: float) -> tuple[float, float]:
        """A and C of a level; the nearest one's beyond the first and the last."""
        odds = [log(each / (1 - each)) for each in self.levels]
        a, c = zip(*self.widths[axes], strict=True)
        here = log(level / (1 - level))
        return float(np.interp(here, odds, a)), float(np.interp(here, odds, c))


@dataclass(frozen=True)
class PosteriorBars:
    """Intervals and draws of an outcome of Cascade; posteriors are worked out again from the answers when asked for."""

    estimate: Floats
    """``(trials, *domain)``."""
    squares: tuple[Squares, ...]
    """Of each trial: what was asked and answered."""
    per_record: float
    """The epsilon whose Laplace noise is as large as that of the whole budget."""
    usual: Calibration
    wide: Calibration
    """For ``cautious=True``."""
    seed: int = 0

    def draws(self, many: int, seed: int) -> Ints:
        """``(trials, many, *domain)``."""
        return np.stack([self._draws(trial, many, seed) for trial in range(len(self.squares))])

    def guaranteed(self, workload: Workload) -> NDArray[np.bool_]:
        """``(trials, q)``: where intervals come from the noise alone."""
        ranges = listed(workload)
        return np.stack([self._stands_in(trial, ranges) for trial in range(len(self.squares))])

    def intervals(self, workload: Workload, level: float, *, cautious: bool, guaranteed: bool) -> Floats:
        """``(trials, q, 2)``."""
        ranges = listed(workload)
        unit = Ranges(ranges.domain, ranges.lower, ranges.upper)
        result = np.empty((len(self.squares), ranges.queries, 2))
        for trial, squares in enumerate(self.squares):
            exact = self._stands_in(trial, unit) | guaranteed
            if not exact.all():
                result[trial] = self._model_based(trial, unit, level, self.wide if cautious else self.usual)
            if exact.any():
                some = Ranges(unit.domain, unit.lower[exact], unit.upper[exact])
                result[trial, exact] = exact_intervals(squares, some, level)
            answers = unit.answer(self.estimate[trial])
            np.minimum(result[trial, :, 0], np.floor(answers), out=result[trial, :, 0])
            np.maximum(result[trial, :, 1], np.ceil(answers), out=result[trial, :, 1])
        return np.sort(result * ranges.weights[:, None], axis=-1)

    def _stands_in(self, trial: int, ranges: Ranges) -> NDArray[np.bool_]:
        squares = self.squares[trial]
        if squares.dense is not None or squares.workspace * FINENESS.points > LARGEST_WORKSPACE:
            return np.ones(ranges.queries, dtype=np.bool_)
        signal = self.per_record * float(self.estimate[trial].sum())
        if squares.wide is not None and signal >= STRONG * squares.domain.size:
            return np.ones(ranges.queries, dtype=np.bool_)
        weak = self._axes == 2 and signal < WEAK
        small = (SMALL * (ranges.upper - ranges.lower) <= np.array(ranges.domain.shape)).all(axis=1)
        return np.asarray(small & weak)

    def _model_based(self, trial: int, ranges: Ranges, level: float, calibration: Calibration) -> Floats:
        draws = self._draws(trial, DRAWS, self.seed)
        result = np.empty((ranges.queries, 2))
        for start in range(0, ranges.queries, QUERIES):
            some = slice(start, start + QUERIES)
            answers = Ranges(ranges.domain, ranges.lower[some], ranges.upper[some]).answer(draws)
            middle = np.median(answers, axis=0)
            tails = (1 - level) / 2, (1 + level) / 2
            low, high = np.quantile(answers, tails, axis=0, method="hazen")
            kappa, floor = self._kappa(ranges, some, level, calibration), self._floor(level)
            low = np.maximum(np.floor(middle - np.maximum(kappa * (middle - low), floor)), 0.0)
            high = np.ceil(middle + np.maximum(kappa * (high - middle), floor))
            result[some] = np.stack([np.where(low < (middle - low) / 2, 0.0, low), high], axis=-1)
        return result

    def _kappa(self, ranges: Ranges, some: slice, level: float, calibration: Calibration) -> Floats:
        a, c = calibration.at(self._axes, level)
        if self._axes == 1:
            return np.full(len(ranges.lower[some]), 1.0 + a)
        return np.sqrt(1.0 + a + c * cut_length(ranges, some) / 16)

    def _floor(self, level: float) -> float:
        """Half of the shortest length that a private interval of a level can have."""
        if level <= 0.5:
            return 0.0
        if self.squares[0].gaussian:
            return normal_quantile(2 * level - 1) * 2**0.5 / self.per_record
        return log(level / (1 - level)) / (2 * self.per_record)

    def _draws(self, trial: int, many: int, seed: int) -> Ints:
        squares = self.squares[trial]
        if squares.dense is not None:
            return squares.dense.draws(many, (seed, trial))
        if squares.first_child[0] < 0:
            return _only_cell(squares, many, (PURPOSE, seed, trial))
        found = posterior_without_slopes(squares, FINENESS)
        return np.concatenate(list(blocks_of_draws(found, FINENESS.points, FINENESS.reach, many, (seed, trial))))

    @property
    def _axes(self) -> int:
        return max(int(sum(side > 1 for side in self.estimate.shape[1:])), 1)


def cut_length(ranges: Ranges, some: slice) -> Floats:
    """The sum of a box's sides times the share of its four edges that are inside the domain."""
    lower, upper = ranges.lower[some], ranges.upper[some]
    inside = (lower > 0).sum(axis=1) + (upper < np.array(ranges.domain.shape)).sum(axis=1)
    return np.asarray((upper - lower).sum(axis=1) * inside / 4)


def _only_cell(squares: Squares, many: int, seed: tuple[int, ...]) -> Ints:
    """Draws where the domain is a single cell: the flat prior of what is not negative, seen through the noise."""
    from scipy.stats import laplace, norm

    noise = norm if squares.gaussian else laplace
    answer, scale = squares.answer[0, 0], 1.0 / squares.rate[0, 0]
    chance = np.random.default_rng(np.random.SeedSequence(seed)).random(many)
    off = noise.isf(np.maximum(chance, 1e-16) * noise.sf(-answer / scale))
    counts = np.maximum(np.rint(answer + scale * off), 0.0)
    return np.where(np.isfinite(counts), counts, 0.0).astype(np.int64).reshape(many, *squares.domain.shape)
