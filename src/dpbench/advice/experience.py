"""What the study says about errors to come: by algorithm, cells, signal and dataset.

Errors of a range are kept as root mean squares in records, times epsilon. Epsilon times the number of records, the
signal, then stands for both (the study measures at one epsilon, and the algorithms of the menu are exchangeable), so
the table has three axes: cells, signal and dataset. Between its points logarithms are interpolated.

An interval over kinds of data goes from the least to the largest error over datasets, over every number of records
that is within a factor of three of the guess. Datasets to come are not those of the study, so it is widened: each
family is left out in turn, and the interval of the others is widened until it holds for 95 % of its settings; the
family that needs most decides (:attr:`Experience.widening`). The study has errors of estimates as they come. What a
release does to them (:data:`dpbench.releasable.STEPS`) was measured on synthetic shapes, as a factor by algorithm and
signal; it widens the interval again, so that it holds for both.

Two files hold all that advice is made from, for this module and for the page, which does the same in a browser.

``experience.json``, condensed from a study by ``python -m benchmarks.advice``; ``"1"`` and ``"2"`` are dimensions:

- ``experience.D``: ``sides`` (cells along an axis), ``signals``, ``datasets``, ``families`` (one per dataset), and
  ``mean`` and ``bad`` by algorithm: flat lists in the order (side, signal, dataset), the dataset fastest; the mean over
  runs and the 95th percentile, in records times epsilon.
- ``widening.D.ALGORITHM``: ``[low, high, bad_run]``, the factors that the ends are divided and multiplied by.
- ``rounding.D``: for each side, the root mean square of what whole numbers add to a range, in records.
- ``held.D.RISK``: how good the advice was on families left out: ``regret``, ``interval``, ``bad_run``, ``width``, ...

``tried.json``, measured by runs:

- ``after.D``: ``signals``, and ``algorithms.NAME`` with ``low``, ``high`` and ``bad_run``: for each signal the least
  and the largest ratio of the error after a release's steps to that before, and of a bad run.
- ``fixed.D``: ``sides``, and ``best``: for each side the two best algorithms whose error depends on no data, with
  ``error``, ``low`` and ``bad_run`` at epsilon 1.
- ``unseen.D.RISK``: like ``held``, on generators and public tables that nothing was made with (``benchmarks.unseen``).

The advice for a side s, a signal g and a risk (:meth:`Experience.choose`, :meth:`Experience.range`): at the signals g
/ 3, g and 3 g, interpolate the logarithm of every dataset's error linearly in log s and log g, constant beyond the
ends. The score of an algorithm is the mean over the three signals and over datasets, every family weighing the same.
The algorithm with the least mean over the whole table is chosen, unless another has a score that is lower by more
than 0.1: then that with the least score. ``expected`` is the exponential of its score by the mean; ``low`` and
``high`` are the least and largest of those errors, over and times widening, times what a release does at any of the
three signals. Divide by epsilon; then ``high`` and ``bad_run`` become the root of their square plus that of rounding,
and ``bad_run`` is at least ``high``. If the algorithm is one whose error depends on no data, or ``expected`` is more
than exp(0.1) times the error of the best of these, the best of these is chosen in its place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from importlib.resources import files
from math import hypot, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain

Array = NDArray[np.float64]

FILE = "experience.json"
"""The table that comes with the package; ``python -m benchmarks.advice`` makes it from the study."""
TRIED = "tried.json"
"""What was measured besides; ``python -m benchmarks.after_release`` and ``benchmarks.unseen`` make it."""
BELIEF = 3.0
"""A guess of the number of records is believed within this factor."""
STEPS = (-1, 0, 1)
"""Numbers of records that stand for all within it, as powers of the factor."""
HELD = 0.95
"""The part of its settings that a left-out family needs an end of an interval, or a bad run, to hold for."""
CLEARLY = 0.1
"""Logarithm of error by which an algorithm must be ahead of the one that is best over the whole table.

A smaller lead at one point is often chance: on synthetic shapes, leaving families out, following every lead had a
regret of 1.113 on a line and 1.148 in the plane, and this 1.104 and 1.122.
"""
RISKS = ("mean", "p95")
"""What is to be small: the mean over runs, or the 95th percentile."""


@dataclass(frozen=True)
class Widening:
    """What the least, the largest error and a bad run of the study are multiplied by for data that it lacks."""

    low: float
    high: float
    bad_run: float


@dataclass(frozen=True)
class Range:
    """Errors to expect, in records times epsilon."""

    expected: float
    low: float
    high: float
    bad_run: float

    def in_records(self, epsilon: float, rounding: float = 0.0) -> Range:
        """The same in records; whole numbers add ``rounding`` to what may be at most."""
        return Range(
            self.expected / epsilon,
            self.low / epsilon,
            hypot(self.high / epsilon, rounding),
            hypot(self.bad_run / epsilon, rounding),
        )


@dataclass(frozen=True)
class AfterRelease:
    """Error after the steps of a release over that before, on synthetic shapes: logarithms, one for each signal."""

    signals: tuple[float, ...]
    low: Array
    high: Array
    bad_run: Array

    def at(self, signals: list[float]) -> tuple[float, float, float]:
        """Least and largest factor, and that of a bad run, over some signals; never narrower than without a release."""
        points = np.log10(signals)
        low, high, bad = (
            np.interp(points, np.log10(self.signals), each) for each in (self.low, self.high, self.bad_run)
        )
        return (
            float(np.exp(min(low.min(), 0.0))),
            float(np.exp(max(high.max(), 0.0))),
            float(np.exp(max(bad.max(), 0.0))),
        )


@dataclass(frozen=True)
class Experience:
    """The errors of a study in one number of dimensions."""

    sides: tuple[int, ...]
    """Cells along an axis, ascending."""
    signals: tuple[float, ...]
    """Epsilon times records: powers of ten, ascending."""
    datasets: tuple[str, ...]
    families: tuple[str, ...]
    """For each dataset, its family: datasets that are parts or near copies of one another."""
    mean: Mapping[str, Array]
    """Logarithm of the mean over runs, by algorithm: ``(sides, signals, datasets)``."""
    bad: Mapping[str, Array]
    """Likewise of the 95th percentile over runs."""
    after: Mapping[str, AfterRelease] = field(default_factory=dict)
    """What a release does to the errors of an algorithm; nothing where it is not known."""
    kept: Mapping[str, Widening] = field(default_factory=dict)
    """The widening of every algorithm, where it was computed before."""

    @property
    def names(self) -> tuple[str, ...]:
        """The algorithms."""
        return tuple(self.mean)

    def holds(self, side: float, signal: float) -> bool:
        """Whether a size and a signal are within the study."""
        return self.sides[0] <= side <= self.sides[-1] and self.signals[0] <= signal <= self.signals[-1]

    def without(self, family: str) -> Experience:
        """All but one family."""
        kept = np.array([each != family for each in self.families])
        return replace(
            self,
            datasets=tuple(np.array(self.datasets)[kept].tolist()),
            families=tuple(np.array(self.families)[kept].tolist()),
            mean={name: errors[..., kept] for name, errors in self.mean.items()},
            bad={name: errors[..., kept] for name, errors in self.bad.items()},
            kept={},
        )

    def at(self, errors: Array, side: float, signal: float) -> Array:
        """Logarithms of errors between the points of the table, one per dataset; signals beyond it are its ends."""
        rows = _between(log10(side), np.log10(self.sides), errors)
        return _between(log10(signal), np.log10(self.signals), rows)

    def range(self, name: str, side: float, signal: float) -> Range:
        """What to expect of an algorithm, if the number of records is within a factor of three of the guess."""
        near = [signal * BELIEF**step for step in STEPS]
        means = np.array([self.at(self.mean[name], side, each) for each in near])
        bads = np.array([self.at(self.bad[name], side, each) for each in near])
        wider, (low, high, bad) = self.widening[name], self.released(name, signal)
        return Range(
            expected=float(np.exp(self.over_families(means).mean())),
            low=float(np.exp(means.min())) / wider.low * low,
            high=float(np.exp(means.max())) * wider.high * high,
            bad_run=float(np.exp(bads.max())) * wider.bad_run * bad,
        )

    def released(self, name: str, signal: float) -> tuple[float, float, float]:
        """What the steps of a release may do to low, high and a bad run, if the guess is off by up to three."""
        known = self.after.get(name)
        return known.at([signal * BELIEF**step for step in STEPS]) if known else (1.0, 1.0, 1.0)

    def over_families(self, errors: Array) -> Array:
        """Means over datasets, in which every family counts once."""
        return np.asarray(errors @ self.weights)

    @cached_property
    def weights(self) -> Array:
        """Weights of datasets with which every family counts once."""
        count = {family: self.families.count(family) for family in self.families}
        return np.array([1 / (count[family] * len(count)) for family in self.families])

    @cached_property
    def widening(self) -> dict[str, Widening]:
        """By algorithm: what settings of families that are left out need beyond the least and the largest of others."""
        return dict(self.kept) or {name: self._widening(name) for name in self.names}

    def _widening(self, name: str) -> Widening:
        means, bads = self.moved(self.mean[name]), self.moved(self.bad[name])
        needed = []
        for family in dict.fromkeys(self.families):
            own = np.array([each == family for each in self.families])
            ends = [Ends.of(means, bads, own, guess) for guess in STEPS]
            errors, worse = self.mean[name][..., own], self.bad[name][..., own]
            needed.append(
                (
                    np.quantile([each.low - errors for each in ends], HELD),
                    np.quantile([errors - each.high for each in ends], HELD),
                    np.quantile([worse - each.bad_run for each in ends], HELD),
                )
            )
        return Widening(*np.exp(np.maximum(needed, 0.0).max(axis=0)).tolist())

    def choose(self, names: Sequence[str], side: float, signal: float, risk: str) -> str:
        """The algorithm with the least score; the one that is best over the whole table unless it is beaten clearly."""
        leader = min(names, key=lambda name: self.overall(name, risk))
        best = min(names, key=lambda name: self.score(name, side, signal, risk))
        ahead = self.score(leader, side, signal, risk) - self.score(best, side, signal, risk)
        return best if ahead > CLEARLY else leader

    def overall(self, name: str, risk: str) -> float:
        """The mean score of an algorithm over the whole table."""
        return float(self.over_families((self.bad if risk == "p95" else self.mean)[name]).mean())

    def score(self, name: str, side: float, signal: float, risk: str) -> float:
        """By what an algorithm is chosen, the less the better: its error, or a bad run, on middling data."""
        errors = (self.bad if risk == "p95" else self.mean)[name]
        near = [self.at(errors, side, signal * BELIEF**step) for step in STEPS]
        return float(self.over_families(np.array(near)).mean())

    def moved(self, errors: Array) -> dict[int, Array]:
        """The table at signals that are off by powers of the factor of belief."""
        points = np.log10(self.signals)
        return {
            step: np.stack(
                [_between(point + step * log10(BELIEF), points, np.moveaxis(errors, 1, 0)) for point in points], axis=1
            )
            for step in range(-2, 3)
        }


@dataclass(frozen=True)
class Ends:
    """The least and largest errors and the worst bad runs of datasets, at each point of the table."""

    low: Array
    high: Array
    bad_run: Array

    @classmethod
    def of(cls, means: Mapping[int, Array], bads: Mapping[int, Array], left_out: NDArray[np.bool_], guess: int) -> Ends:
        """Those of all datasets but some, where the guess is off by a power of the factor of belief."""

        def ends(tables: Mapping[int, Array], pick: Callable[[Array], Array]) -> Array:
            near = [tables[guess + step][..., ~left_out] for step in STEPS]
            return pick(np.concatenate(near, axis=-1))[..., None]

        least, largest = (lambda values: values.min(axis=-1)), (lambda values: values.max(axis=-1))
        return cls(ends(means, least), ends(means, largest), ends(bads, largest))


def _between(point: float, points: Array, values: Array) -> Array:
    """Values at a point of the first axis, linear between those that are known and constant beyond."""
    place = float(np.interp(point, points, np.arange(len(points))))
    left = min(int(place), len(points) - 2)
    part = place - left
    return np.asarray((1 - part) * values[left] + part * values[left + 1])


def read(plain: Mapping[str, Any], after: Mapping[str, AfterRelease] | None = None) -> Experience:
    """The experience that a plain table holds."""
    shape = len(plain["sides"]), len(plain["signals"]), len(plain["datasets"])

    def logs(errors: Mapping[str, list[float]]) -> dict[str, Array]:
        return {name: np.log(np.array(values)).reshape(shape) for name, values in errors.items()}

    return Experience(
        sides=tuple(plain["sides"]),
        signals=tuple(plain["signals"]),
        datasets=tuple(plain["datasets"]),
        families=tuple(plain["families"]),
        mean=logs(plain["mean"]),
        bad=logs(plain["bad"]),
        after=after or {},
    )


def read_after(plain: Mapping[str, Any]) -> dict[str, AfterRelease]:
    """What a release does, by algorithm, from a plain table."""
    return {
        name: AfterRelease(tuple(plain["signals"]), *(np.log(each[end]) for end in ("low", "high", "bad_run")))
        for name, each in plain["algorithms"].items()
    }


@lru_cache(maxsize=2)
def shipped(name: str = FILE) -> dict[str, Any]:
    """A file that comes with the package: what the study says, or what was tried besides."""
    text = files("dpbench.advice").joinpath(name).read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


@lru_cache(maxsize=2)
def experience(dimensions: int) -> Experience:
    """What the study says in one or two dimensions."""
    at = str(dimensions)
    known = read(shipped()["experience"][at], read_after(shipped(TRIED)["after"][at]))
    return replace(known, kept={name: Widening(*each) for name, each in shipped()["widening"][at].items()})


def sizes_with_runs(dimensions: int) -> list[Domain]:
    """The sizes on which errors that depend on no data were run: see ``fixed`` in ``tried.json``."""
    return [Domain((side,) * dimensions) for side in shipped(TRIED)["fixed"][str(dimensions)]["sides"]]


def runs_at_epsilon_1(domain: Domain, name: str) -> Mapping[str, float] | None:
    """What runs of an algorithm whose error depends on no data came to at epsilon 1; None where there were none."""
    known = shipped(TRIED)["fixed"].get(str(domain.ndim))
    side = domain.shape[0]
    if known is None or set(domain.shape) != {side} or side not in known["sides"]:
        return None
    best = known["best"][known["sides"].index(side)]
    return next((each for each in best if each["algorithm"] == name), None)


def rounding(dimensions: int, side: float) -> float:
    """What whole numbers add to a range of the study's workload, in records."""
    at = str(dimensions)
    return float(np.interp(log10(side), np.log10(shipped()["experience"][at]["sides"]), shipped()["rounding"][at]))


def plain(known: Experience) -> dict[str, Any]:
    """The same as a plain table, errors with four digits."""

    def numbers(errors: Mapping[str, Array]) -> dict[str, list[float]]:
        return {name: [float(f"{value:.4g}") for value in np.exp(table).ravel()] for name, table in errors.items()}

    return {
        "sides": list(known.sides),
        "signals": list(known.signals),
        "datasets": list(known.datasets),
        "families": list(known.families),
        "mean": numbers(known.mean),
        "bad": numbers(known.bad),
    }
