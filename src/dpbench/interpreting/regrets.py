"""Regret: what it costs to use one algorithm everywhere rather than the best one in each place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.given import LARGEST_SEED, known, texts, whole
from dpbench.measuring import quantile
from dpbench.results import Place, Results
from dpbench.results.display import Records

Floats = NDArray[np.float64]

MOST_RESAMPLES = 10**5


@dataclass(frozen=True)
class Regret:
    """The regret of one algorithm over some places."""

    algorithm: str
    """With its form."""
    where: tuple[tuple[str, Any], ...]
    """What the places have in common, such as (("scale", 1000),)."""
    regret: float
    """Geometric mean over places of the mean error over the lowest mean error there."""
    low: float
    high: float
    """Interval of 95 %, by resampling datasets; NaN where there is one."""
    settings: int
    """Places that it is taken over."""
    missing: int
    """Places where others have errors and this one has none."""


def regret(results: Results, by: Sequence[str] = (), resamples: int = 2000, seed: int = 0) -> list[Regret]:
    """Regret of every algorithm, lowest first, over all places or for each value of ``by`` (parts of a place).

    The best is the lowest mean error among the algorithms of these results. The interval is over datasets: places of
    one dataset are not independent, so whole datasets are drawn with replacement. It is a little short for few of them.
    An algorithm that lacks places is measured on those that it has, and says how many it lacks.
    """
    Results.insist(results)
    by = tuple(known(name, "part of a place", Place._fields) for name in texts(by, "by"))
    resamples, seed = whole(resamples, "resamples", 1, MOST_RESAMPLES), whole(seed, "the seed", 0, LARGEST_SEED)
    grid = results.grid
    means = grid.spread(np.where(results.whole, results.measured.mean, np.nan))
    compared = np.asarray(np.isfinite(means).any(axis=1))
    best = np.min(np.where(np.isfinite(means), means, np.inf), axis=1, initial=np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.log(means / best[:, None])
    datasets = grid.column("dataset")
    found = []
    for where, places in _parts(grid.places, by).items():
        kept = places[compared[places]]
        found += _regrets(grid.labels, where, ratios[kept], datasets[kept], seed, resamples)
    return Records(found)


def _parts(places: tuple[Place, ...], by: Sequence[str]) -> dict[tuple[tuple[str, Any], ...], NDArray[np.int64]]:
    parts: dict[tuple[tuple[str, Any], ...], list[int]] = {}
    for number, place in enumerate(places):
        parts.setdefault(tuple((name, getattr(place, name)) for name in by), []).append(number)
    return {where: np.array(numbers) for where, numbers in parts.items()}


def _regrets(
    labels: tuple[str, ...],
    where: tuple[tuple[str, Any], ...],
    ratios: NDArray[np.float64],
    datasets: NDArray[Any],
    seed: int,
    resamples: int,
) -> list[Regret]:
    present = np.flatnonzero(np.isfinite(ratios).any(axis=0))
    ratios = ratios[:, present]
    there = np.isfinite(ratios)
    names, owner = np.unique(datasets, return_inverse=True)
    member = owner[None, :] == np.arange(len(names))[:, None]
    sums, numbers = member @ np.where(there, ratios, 0.0), member @ there.astype(np.float64)
    low, high = _interval(sums, numbers, resamples, seed)
    settings = there.sum(axis=0)
    means = np.exp(sums.sum(axis=0) / settings)
    numbers_of = (part.tolist() for part in (present, means, low, high, settings))
    found = [
        Regret(labels[column], where, mean, first, last, number, len(ratios) - number)
        for column, mean, first, last, number in zip(*numbers_of, strict=True)
    ]
    return sorted(found, key=lambda each: (each.missing > 0, each.regret))


def _interval(sums: Floats, numbers: Floats, resamples: int, seed: int) -> tuple[Floats, Floats]:
    """Both ends for each algorithm, from sums of log ratios and numbers of places, ``(datasets, labels)``."""
    if len(sums) < 2:
        return np.full(sums.shape[1], np.nan), np.full(sums.shape[1], np.nan)
    drawn = _drawn(len(sums), resamples, seed)
    means = sums.T @ drawn
    with np.errstate(invalid="ignore"):  # a draw without any dataset that an algorithm has says nothing of it
        means /= numbers.T @ drawn
    means.sort(axis=1)
    known = np.isfinite(means).sum(axis=1)
    low, high = (np.exp(quantile(means, known, level)) for level in (0.025, 0.975))
    return low, high


@lru_cache(maxsize=16)
def _drawn(datasets: int, resamples: int, seed: int) -> Floats:
    """How often each dataset is in each resample, ``(datasets, resamples)``: the same for every table of so many."""
    drawn = np.random.default_rng(seed).multinomial(datasets, np.full(datasets, 1 / datasets), size=resamples)
    return np.ascontiguousarray(drawn.T, dtype=np.float64)
