"""What the study says about errors to come: by algorithm, cells, signal and dataset.

Errors of a range are kept as root mean squares in records, times epsilon. Epsilon times the number of records, the
signal, then stands for both (the study measures at one epsilon, and the algorithms of the menu are exchangeable), so
the table has three axes: cells, signal and dataset. Between its points logarithms are interpolated.

An interval over kinds of data goes from the least to the largest error over datasets, over every number of records
that is within a factor of three of the guess. Datasets to come are not those of the study, so it is widened: each
family is left out in turn, and the interval of the others is widened until it holds for 95 % of its settings; the
family that needs most decides (:attr:`Experience.widening`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, replace
from functools import cached_property, lru_cache
from importlib.resources import files
from math import log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

FILE = "experience.json"
"""The table that comes with the package; ``python -m benchmarks.advice`` makes it from the study."""
BELIEF = 3.0
"""A guess of the number of records is believed within this factor."""
STEPS = (-1, 0, 1)
"""Numbers of records that stand for all within it, as powers of the factor."""
HELD = 0.95
"""The part of its settings that a left-out family needs an end of an interval, or a bad run, to hold for."""
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

    def over(self, epsilon: float) -> Range:
        """The same in records."""
        return Range(*(each / epsilon for each in astuple(self)))


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
        wider = self.widening[name]
        return Range(
            expected=float(np.exp(self.over_families(means).mean())),
            low=float(np.exp(means.min())) / wider.low,
            high=float(np.exp(means.max())) * wider.high,
            bad_run=float(np.exp(bads.max())) * wider.bad_run,
        )

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
        return {name: self._widening(name) for name in self.names}

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


def read(plain: Mapping[str, Any]) -> Experience:
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
    )


@lru_cache(maxsize=1)
def shipped() -> dict[str, Any]:
    """The file that comes with the package."""
    text = files("dpbench.advice").joinpath(FILE).read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


@lru_cache(maxsize=2)
def experience(dimensions: int) -> Experience:
    """What the study says in one or two dimensions."""
    return read(shipped()["experience"][str(dimensions)])


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
