"""Competitive sets: the best algorithm of each place, and all that tie with it statistically."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import InvalidInput, UnknownName, shown
from dpbench.given import of_kind
from dpbench.measuring import Measurement
from dpbench.results import Grid, Place, Results
from dpbench.significance import SignificanceTest, find_test, unpaired_p_value
from dpbench.standards import read_alpha

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CompetitiveSets:
    """Which algorithms are competitive where; arrays are ``(places, labels)`` as in the grid."""

    grid: Grid
    test: SignificanceTest
    alpha: float
    score: Floats
    """What is compared: the mean error, or a percentile of it; NaN for an algorithm that is not compared."""
    best: NDArray[np.int64]
    """``(places,)``: the column with the lowest score; -1 where none is compared."""
    p_values: Floats
    """Of the difference from the best."""
    levels: Floats
    """``(places,)``: alpha / (n - 1), Bonferroni for the n - 1 comparisons with the best."""
    members: NDArray[np.bool_]
    """Whether an algorithm is competitive; none is where trials are too few to test one against the best."""
    failures: NDArray[Any]
    """``(settings,)``: why a setting has none of its errors, or not all; empty where it has."""

    @cached_property
    def causes(self) -> Mapping[tuple[int, int], str]:
        """Why the algorithms of a place are not compared, by row and column: failed, or not run there."""
        causes = {}
        for row, column in np.argwhere(~np.isfinite(self.score)).tolist():
            number = self.grid.index[row, column]
            causes[row, column] = "not run" if number < 0 else self.failures[number] or "no errors"
        return causes

    def at(self, place: Place) -> set[str]:
        """The competitive algorithms of one place."""
        row = self.members[self._row(place)]
        return {label for label, member in zip(self.grid.labels, row, strict=True) if member}

    def missing(self, place: Place) -> dict[str, str]:
        """Algorithms of the results that are not compared at a place, with the reason."""
        row = self._row(place)
        return {self.grid.labels[column]: why for (at, column), why in self.causes.items() if at == row}

    @property
    def compared(self) -> NDArray[np.int64]:
        """How many algorithms are compared at each place, ``(places,)``."""
        return np.asarray(np.isfinite(self.score).sum(axis=1))

    def family(self, places: NDArray[np.int64] | None = None) -> str:
        """Among how many algorithms, by which test and at which level, at some places (all of them)."""
        numbers = self.compared[self._rows(places)]
        return family_words(numbers.tolist(), self.test.words, self.alpha)

    def counts(self, places: NDArray[np.int64] | None = None) -> dict[str, int]:
        """On how many of some places (all of them) each algorithm is competitive, as in the paper's Table 3."""
        rows = self.members[self._rows(places)]
        return dict(zip(self.grid.labels, rows.sum(axis=0).tolist(), strict=True))

    def _row(self, place: Place) -> int:
        if not isinstance(place, Place) or place not in self.grid.places:
            raise UnknownName(f"there is no place {shown(place)} in these results; give one of grid.places")
        return self.grid.places.index(place)

    def _rows(self, places: NDArray[np.int64] | None) -> NDArray[np.int64]:
        every = np.arange(len(self.grid.places))
        try:
            return every if places is None else every[places].reshape(-1)
        except Exception:  # whatever is no index to numpy
            raise InvalidInput(
                f"the places are {shown(places)}; give numbers below {len(every)}, or as many truth values"
            ) from None

    def _repr_html_(self) -> str:
        from dpbench.results.display import by_scale_html

        return by_scale_html(self.grid, lambda places, column: str(int(self.members[places, column].sum())))


def family_words(compared: Iterable[int], test: str, alpha: float) -> str:
    """The Bonferroni family in words: the same algorithms among others are tested at another level."""
    numbers = sorted({number for number in compared if number > 1})
    if not numbers:
        return "nothing to compare with"
    if len(numbers) == 1:
        return f"among {numbers[0]} algorithms; {test}, level {alpha:g}/{numbers[0] - 1}"
    return f"among n = {numbers[0]} to {numbers[-1]} algorithms; {test}, level {alpha:g}/(n - 1)"


def competitive_sets(
    results: Results, test: str | SignificanceTest | None = None, alpha: float | None = None
) -> CompetitiveSets:
    """Competitive sets of all places of some results, by the test and at the level of their standards.

    ``unpaired`` is the paper's test; ``paired`` and ``blocked`` use common data vectors; ``percentile`` is for users
    who avoid risk. Bonferroni over n - 1 comparisons does not pay for the choice of the rival, the luckiest of n: of
    n equal algorithms one is lost in 5 % (n = 2), 8 % (5) or 19 % (17) of places. An algorithm with a failed unit is
    not compared: it might have failed where it is bad.
    """
    Results.insist(results)
    chosen = find_test(results.standards.test if test is None else test)
    alpha = read_alpha(results.standards.alpha if alpha is None else alpha)
    grid = results.grid
    score = grid.spread(np.where(results.whole, chosen.score(results), np.nan))
    compared = np.isfinite(score)
    lowest = np.argmin(np.where(compared, score, np.inf), axis=1) if score.size else np.zeros(len(score), np.int64)
    best = np.where(compared.any(axis=1), lowest, -1)
    p_values = _p_values(results, grid, best, chosen)
    levels = alpha / np.maximum(compared.sum(axis=1) - 1, 1)
    trials = grid.spread(results.measured.trials)
    is_best = np.arange(len(grid.labels))[None, :] == best[:, None]
    p_values = np.where(compared, np.where(is_best, 1.0, p_values), np.nan)
    undecided = compared & ((trials < 2) | np.isnan(p_values))
    with np.errstate(invalid="ignore"):
        members = compared & (p_values >= levels[:, None]) & ~np.asarray(undecided.any(axis=1))[:, None]
    failures = results.columns["failure"]
    return CompetitiveSets(grid, chosen, alpha, score, best, p_values, levels, members, failures)


def competitive(measurements: Mapping[str, Measurement], alpha: float = 0.05) -> set[str]:
    """Names with the lowest mean error in one setting, or not significantly above it by the unpaired test.

    Bonferroni: each of the n - 1 comparisons with the best is made at alpha / (n - 1).

    >>> from dpbench.interpreting import competitive
    >>> from dpbench.measuring import measure
    >>> competitive({"A": measure([[1.0, 1.1, 0.9]]), "B": measure([[2.0, 2.1, 1.9]])})
    {'A'}
    """
    alpha = read_alpha(alpha)
    of_kind(measurements, Mapping, "what holds the measurements", '{"A": measure([[1.0, 1.2]])}')
    if not measurements:
        raise InvalidInput("no measurements were given; competitive sets need at least one algorithm")
    for each in measurements.values():
        of_kind(each, Measurement, "a measurement", "dpbench.measuring.measure([[1.0, 1.2]])")
    best = min(measurements, key=lambda name: measurements[name].mean)
    level = alpha / max(len(measurements) - 1, 1)
    return {
        name
        for name, measurement in measurements.items()
        if name == best or unpaired_p_value(measurement, measurements[best]) >= level
    }


def _p_values(results: Results, grid: Grid, best: NDArray[np.int64], test: SignificanceTest) -> Floats:
    """P-values of every setting against the best of its place; 1 for a setting that the test does not call worse."""
    own = grid.index
    if not own.size:
        return np.full(own.shape, np.nan)
    rival = np.take_along_axis(own, np.maximum(best, 0)[:, None], axis=1)
    if not ((own >= 0) & (own != rival)).any():
        return np.ones(own.shape)  # nobody is there to be tested
    estimate = test.estimate(results)
    return np.where(estimate[own] < estimate[rival], 1.0, test.p_values(results, own, rival))
