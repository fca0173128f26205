"""Competitive sets: the best algorithm of each place, and all that cannot be told from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import InvalidInput, UnknownName
from dpbench.interpreting.significance import (
    blocked_p_values,
    paired_p_values,
    t_p_values,
    tail_moments,
    unpaired_p_value,
    vector_moments,
)
from dpbench.measuring import Measurement, measure_all
from dpbench.results import Grid, Place, Results

Floats = NDArray[np.float64]
Test = Literal["unpaired", "paired", "blocked", "percentile"]
TESTS = ("unpaired", "paired", "blocked", "percentile")
"""See :mod:`dpbench.interpreting.significance`; the first three compare means."""


@dataclass(frozen=True)
class CompetitiveSets:
    """Who is competitive where; arrays are ``(places, labels)`` as in the grid."""

    grid: Grid
    test: str
    score: Floats
    """What is compared: the mean error, or its 95th percentile; NaN for who is not compared."""
    best: NDArray[np.int64]
    """``(places,)``: the column with the lowest score; -1 where nobody is compared."""
    p_values: Floats
    """Of the difference from the best."""
    levels: Floats
    """``(places,)``: alpha / (n - 1), Bonferroni for the n - 1 comparisons with the best."""
    members: NDArray[np.bool_]
    """Whether an algorithm is competitive; nobody is where trials are too few to test somebody against the best."""
    causes: Mapping[tuple[int, int], str]
    """Why the algorithms of a place are not compared, by row and column: failed, or not run there."""

    def at(self, place: Place) -> set[str]:
        """The competitive algorithms of one place."""
        row = self.members[self.grid.places.index(place)]
        return {label for label, member in zip(self.grid.labels, row, strict=True) if member}

    def missing(self, place: Place) -> dict[str, str]:
        """Algorithms of the results that are not compared at a place, with the reason."""
        row = self.grid.places.index(place)
        return {self.grid.labels[column]: why for (at, column), why in self.causes.items() if at == row}

    def counts(self, places: NDArray[np.int64] | None = None) -> dict[str, int]:
        """On how many of some places (all of them) each algorithm is competitive: the paper's Table 3."""
        rows = self.members if places is None else self.members[places]
        return dict(zip(self.grid.labels, rows.sum(axis=0).tolist(), strict=True))

    def _repr_html_(self) -> str:
        from dpbench.results.display import by_scale_html

        return by_scale_html(self.grid, lambda places, column: str(int(self.members[places, column].sum())))


def competitive_sets(results: Results, test: Test = "unpaired", alpha: float = 0.05) -> CompetitiveSets:
    """Competitive sets of all places of some results.

    ``unpaired`` is the paper's; ``paired`` and ``blocked`` use the common data vectors; ``percentile`` is for users
    who avoid risk. Bonferroni over n - 1 comparisons does not pay for the choice of the rival, the luckiest of n: of
    n equal algorithms one is lost in 5 % (n = 2), 8 % (5) or 19 % (17) of places. An algorithm with a failed unit is
    not compared: it might have failed where it is bad.
    """
    if test not in TESTS:
        raise UnknownName.among("test", test, TESTS)
    grid = results.grid
    measured = measure_all(results.errors)
    chosen = measured.percentile if test == "percentile" else measured.mean
    score = grid.spread(np.where(results.whole, chosen, np.nan))
    compared = np.isfinite(score)
    lowest = np.argmin(np.where(compared, score, np.inf), axis=1) if score.size else np.zeros(len(score), np.int64)
    best = np.where(compared.any(axis=1), lowest, -1)
    p_values = _p_values(results, grid, best, test)
    levels = alpha / np.maximum(compared.sum(axis=1) - 1, 1)
    trials = grid.spread(measured.trials)
    is_best = np.arange(len(grid.labels))[None, :] == best[:, None]
    p_values = np.where(compared, np.where(is_best, 1.0, p_values), np.nan)
    undecided = compared & ((trials < 2) | np.isnan(p_values))
    with np.errstate(invalid="ignore"):
        members = compared & (p_values >= levels[:, None]) & ~np.asarray(undecided.any(axis=1))[:, None]
    return CompetitiveSets(grid, test, score, best, p_values, levels, members, _causes(results, grid, compared))


def competitive(measurements: Mapping[str, Measurement], alpha: float = 0.05) -> set[str]:
    """Names with the lowest mean error in one setting, or not significantly above it by the unpaired test.

    Bonferroni: each of the n - 1 comparisons with the best is made at alpha / (n - 1).
    """
    if not measurements:
        raise InvalidInput("no measurements were given; competitive sets need at least one algorithm")
    best = min(measurements, key=lambda name: measurements[name].mean)
    level = alpha / max(len(measurements) - 1, 1)
    return {
        name
        for name, measurement in measurements.items()
        if name == best or unpaired_p_value(measurement, measurements[best]) >= level
    }


def _p_values(results: Results, grid: Grid, best: NDArray[np.int64], test: str) -> Floats:
    """P-values of every setting against the best of its place."""
    own = grid.index
    rival = np.take_along_axis(own, np.maximum(best, 0)[:, None], axis=1) if own.size else own
    p_values = compare(results, own, rival, test)
    if test == "percentile":  # the smooth estimate may order two the other way: then the other is not the worse one
        smooth = _tails(results)[0]
        p_values[smooth[own] < smooth[rival]] = 1.0
    return p_values


def compare(results: Results, one: NDArray[np.int64], other: NDArray[np.int64], test: str) -> Floats:
    """P-values of settings against settings, by number; numbers broadcast, and NaN stands where one is -1."""
    one, other = np.broadcast_arrays(one, other)
    valid = (one >= 0) & (other >= 0)
    p_values = np.full(one.shape, np.nan)
    first, second = one[valid], other[valid]
    if not len(first):
        return p_values
    if test in {"paired", "blocked"}:
        mean, variance, freedom = vector_moments(results.errors)
        if test == "paired":
            p_values[valid] = paired_p_values(mean[first], mean[second])
        else:
            moments = (mean, variance, freedom)
            p_values[valid] = blocked_p_values(*(part[at] for part in moments for at in (first, second)))
        return p_values
    if test == "percentile":
        score, variance, freedom = _tails(results)
    else:
        measured = measure_all(results.errors)
        score, variance, freedom = measured.mean, measured.independent_error**2, np.maximum(measured.trials - 1, 1)
    p_values[valid] = t_p_values(
        score[first] - score[second], [variance[first], variance[second]], [freedom[first], freedom[second]]
    )
    return p_values


def _tails(results: Results) -> tuple[Floats, Floats, Floats]:
    return tail_moments(results.errors.reshape(len(results), results.errors.shape[1] * results.errors.shape[2]))


def _causes(results: Results, grid: Grid, compared: NDArray[np.bool_]) -> dict[tuple[int, int], str]:
    causes = {}
    for row, column in np.argwhere(~compared).tolist():
        number = grid.index[row, column]
        causes[row, column] = "not run" if number < 0 else results.columns["failure"][number] or "no errors"
    return causes
