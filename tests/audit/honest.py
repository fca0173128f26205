"""Honest algorithms of unusual kinds: what an audit must not accuse, or must refuse with the right words."""

import atexit
import shutil
import time
import warnings
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpbench.algorithm import Algorithm
from dpbench.algorithms.hb import Hb
from dpbench.domain import Domain
from dpbench.mathematics.cells import Cells
from dpbench.mathematics.groups import GroupTotals
from dpbench.privacy import Laplace, Mechanism, split


@dataclass(frozen=True, kw_only=True)
class Honest(Algorithm):
    """What they share: nothing is declared that is not so."""

    exchangeable = False
    consistent = True

    def cells(self, data, spend, why="cells"):
        return data.measure(Cells(data.domain), spend, why)


class ClippedCells(Cells):
    """Cells up to a public bound: one record moves one of them by at most 1."""

    def answer(self, counts):
        return np.minimum(counts, 50)


@dataclass(frozen=True, kw_only=True)
class Clips(Honest):
    name = "clips at a public bound"
    consistent = False

    def estimate(self, data, workload):
        return np.clip(data.laplace(ClippedCells(data.domain), data.budget, "clipped cells"), 0.0, 50.0)


@dataclass(frozen=True, kw_only=True)
class AtLeast32(Honest):
    name = "domains of at least 32 cells"

    def supports(self, domain):
        return Domain.of(domain).ndim == 1 and Domain.of(domain).size >= 32

    def estimate(self, data, workload):
        return self.cells(data, data.budget)


@dataclass(frozen=True, kw_only=True)
class PublicCoins(Honest):
    name = "public randomness"
    notions = ("pure", "zCDP")
    consistent = False

    def estimate(self, data, workload):
        noisy = self.cells(data, data.budget)
        for row, coins in zip(noisy, data.coins(), strict=True):
            row[...] += coins.normal(size=data.domain.shape)
        return noisy


@dataclass(frozen=True, kw_only=True)
class FixedSeed(Honest):
    name = "a fixed seed of its own for public choices"

    def estimate(self, data, workload):
        order = np.random.default_rng(5).permutation(data.domain.size)
        labels = np.empty(data.domain.size, dtype=int)
        labels[order] = np.arange(data.domain.size)
        totals = data.laplace(GroupTotals(labels, data.domain.size), data.budget, "cells in another order")
        return totals[:, labels].reshape(data.trials, *data.domain.shape)


@dataclass(frozen=True, kw_only=True)
class BatchedSolver(Honest):
    """Least squares of two looks by one product for all trials: its last bits depend on how many there are."""

    name = "a solver whose last bits depend on the batch"

    def estimate(self, data, workload):
        first, second = split(data.budget, 0.3)
        looks = np.stack([self.cells(data, first, "first look"), self.cells(data, second, "second look")])
        flat = looks.reshape(2, -1) / (1 + 1e-12 * data.trials)
        return (np.array([0.25, 0.75]) @ flat).reshape(data.trials, *data.domain.shape)


@dataclass(frozen=True, kw_only=True)
class OneByOne(Honest):
    name = "one trial at a time, by a loop"
    consistent = False

    def estimate_once(self, data, workload):
        search, rest = split(data.budget, 0.2)
        total = data.laplace(GroupTotals(np.zeros(data.domain.size, dtype=int), 1), search, "total")[0]
        noisy = self.cells(data, rest)
        return noisy + 1.0 if total > 100 else np.maximum(noisy, 0.0)


@dataclass(frozen=True, kw_only=True)
class StopsEarly(Honest):
    name = "stops where a noisy answer says so"

    def estimate_once(self, data, workload):
        share = data.budget / 8
        for number in range(4):
            total = data.laplace(GroupTotals(np.zeros(data.domain.size, dtype=int), 1), share, f"look {number}")[0]
            if total > 50 * number:
                break
        noisy = self.cells(data, data.budget / 2)
        data.forfeit(data.budget, "looks that were not needed")
        return noisy


_TABLES = {}


@dataclass(frozen=True, kw_only=True)
class PublicCache(Honest):
    name = "a cache of public tables"

    def estimate(self, data, workload):
        if data.domain.shape not in _TABLES:
            _TABLES[data.domain.shape] = np.linspace(0, 1e-9, data.domain.size).reshape(data.domain.shape)
        return self.cells(data, data.budget) + _TABLES[data.domain.shape]


@dataclass(frozen=True, kw_only=True)
class ReturnsAView(Honest):
    name = "a view of a padded buffer"

    def estimate(self, data, workload):
        noisy = self.cells(data, data.budget)
        padded = np.empty((data.trials + 3, *data.domain.shape))
        padded[1:-2] = noisy
        return padded[1:-2]


class Scores:
    """Noise on every score for what one record does to one of them."""

    sensitivity = 1

    def __init__(self, domain):
        self.shape = (domain.size,)

    def answer(self, counts):
        return np.cumsum(counts.reshape(-1))


@dataclass(frozen=True, kw_only=True)
class NoisyMaxByHand(Honest):
    """Report noisy max is private, and yet the noise on each score is too little for all of them to be known."""

    name = "noisy max by hand"

    def estimate(self, data, workload):
        first, second = split(data.budget, 0.1)
        data.laplace(Scores(data.domain), first, "prefixes").argmax(axis=1)
        return self.cells(data, second)


@dataclass(frozen=True, kw_only=True)
class SaysNothing(Algorithm):
    name = "says nothing of itself"

    def estimate(self, data, workload):
        return np.minimum(data.laplace(ClippedCells(data.domain), data.budget, "clipped cells"), 50.0)


@dataclass(frozen=True, kw_only=True)
class Warns(Honest):
    """Shares of a noisy total that may be 0 or less: numpy warns, the author warns, and the result is put right."""

    name = "warns"

    def estimate(self, data, workload):
        noisy = self.cells(data, data.budget).round().clip(min=0)
        total = noisy.sum(axis=tuple(range(1, noisy.ndim)), keepdims=True)
        if (total == 0).any():
            warnings.warn("nothing is left", stacklevel=2)
        return np.nan_to_num(noisy / total) * total


@dataclass(frozen=True, kw_only=True)
class CutTree(Hb):
    """One of the catalogue with something more, whose author says of it what is always safe to say."""

    name = "a subclass of the catalogue"
    data_dependent = True
    measurement = Algorithm.measurement

    def estimate(self, data, workload):
        return super().estimate(data, workload).clip(min=0)


@dataclass(frozen=True, eq=False)
class NamedLaplace(Laplace):
    """The package's own under another name: most of its log-ratios are equal but for rounding."""

    name = "laplace by another name"


@dataclass(frozen=True, kw_only=True)
class OwnLaplace(Honest):
    name = "a mechanism of the package as one's own"

    def estimate(self, data, workload):
        return data.ask(NamedLaplace(Cells(data.domain)), data.budget, "cells")


@dataclass(frozen=True, kw_only=True)
class GaussianAlone(Honest):
    name = "zCDP and nothing else"
    notions = ("zCDP",)

    def estimate(self, data, workload):
        return self.cells(data, data.budget)


@dataclass(frozen=True, kw_only=True)
class CleansUp(Honest):
    name = "a folder that is gone at the end"

    def estimate(self, data, workload):
        atexit.register(shutil.rmtree, "a folder that is not there", ignore_errors=True)
        return self.cells(data, data.budget)


@dataclass(frozen=True, kw_only=True)
class NotSoMany(Honest):
    name = "fails above 20,000 cells"

    def estimate(self, data, workload):
        if data.domain.size > 20_000:
            raise ValueError("too many cells")
        return self.cells(data, data.budget)


@dataclass(frozen=True, kw_only=True)
class PrintsTheTime(Honest):
    name = "prints a rounded time"

    def estimate(self, data, workload):
        noisy = self.cells(data, data.budget)
        print(f"trial {data.trials} of {data.trials} at {time.perf_counter():.3f} s")
        return noisy


@dataclass(frozen=True, kw_only=True)
class LooksAtTheClock(Honest):
    name = "a clock decides"

    def estimate(self, data, workload):
        return self.cells(data, data.budget) + 1e-9 * (time.perf_counter_ns() % 1000)


@lru_cache(maxsize=3)
def public_table(shape, queries):
    """Made again after other tables have taken its place."""
    return np.linspace(0, 1e-9 * queries, int(np.prod(shape))).reshape(shape)


@dataclass(frozen=True, kw_only=True)
class SmallCache(Honest):
    """Of public tables, some of which are thrown away, beside a count of the runs that nothing follows from."""

    name = "a small cache of public tables"
    runs = []  # noqa: RUF012

    def estimate(self, data, workload):
        self.runs.append(data.trials)
        return self.cells(data, data.budget) + public_table(data.domain.shape, len(workload.ranges().lower) % 7)


@dataclass(frozen=True, eq=False)
class OwnNoise(Mechanism):
    """Laplace noise on every cell; those below draw it, or something like it, in ways of their own."""

    claim = Fraction(1)

    def truth(self, counts):
        return counts.astype(np.float64)

    def level(self, loss):
        return float(np.nextafter(float(1 / loss), np.inf))

    def log_density(self, outcome, truth, level):
        off = np.abs(outcome - truth).reshape(len(outcome), -1)
        return -(off / level + np.log(2 * level)).sum(axis=1)

    def largest_loss(self, one, other, level):
        return float(np.abs(one - other).sum() / level)

    def rounding(self, one, other, level, outcome=None):
        return np.asarray(1e-9 * np.size(one))


class ByRejection(OwnNoise):
    """Of the total; the first of a few points below the density, and whole steps until one is not taken."""

    name = "by rejection"

    def truth(self, counts):
        return np.array([float(counts.sum())])

    def draw(self, truth, level, noise):
        steps = np.cumprod(noise.uniform((60,)) < np.exp(-1), axis=1).sum(axis=1)
        at, height = noise.uniform((40,)), noise.uniform((40,))
        first = (height < np.exp(-at)).argmax(axis=1)
        signs = np.where(noise.uniform(()) < 0.5, -1.0, 1.0)
        size = steps + np.take_along_axis(at, first[:, np.newaxis], axis=1)[:, 0]
        return truth + level * (signs * size)[:, np.newaxis]


class ByInversion(OwnNoise):
    """From a table of public places, in another order; the generator is made with the mechanism, and not in a draw."""

    name = "by inversion"

    def truth(self, counts):
        self.__dict__.setdefault("order", np.random.default_rng(7).permutation(counts.size))
        return super().truth(counts)

    def draw(self, truth, level, noise):
        draws = np.take(noise.uniform((truth.size,)), self.order, axis=1).reshape(-1, *truth.shape) - 0.5
        return truth - level * np.sign(draws) * np.log1p(-2 * np.abs(draws))


class Clamped(OwnNoise):
    """Up to public bounds, at which there is probability."""

    name = "clamped"

    def draw(self, truth, level, noise):
        return np.clip(noise.laplace(truth, level, truth.shape), -4.0, 60.0)

    def log_density(self, outcome, truth, level):
        inside = -np.abs(outcome - truth) / level - np.log(2 * level)
        below, above = _tail(truth + 4.0, level), _tail(60.0 - truth, level)
        of_cells = np.where(outcome <= -4.0, below, np.where(outcome >= 60.0, above, inside))
        return of_cells.reshape(len(outcome), -1).sum(axis=1)


def _tail(distance, level):
    """Log-probability that Laplace noise goes so far in one direction, or further."""
    far = np.log(0.5) - np.abs(distance) / level
    return np.where(distance >= 0, far, np.log1p(-np.exp(far)))


class Geometric(OwnNoise):
    """Whole numbers: the difference of two geometric ones, by inversion."""

    name = "geometric"

    def truth(self, counts):
        return counts.copy()

    def draw(self, truth, level, noise):
        one, other = (np.floor(noise.exponential(truth.shape) * level).astype(np.int64) for _ in range(2))
        return truth + one - other

    def log_density(self, outcome, truth, level):
        off = np.abs(outcome - truth).reshape(len(outcome), -1)
        return (np.log(np.tanh(1 / (2 * level))) - off / level).sum(axis=1)


def asking(made):
    """An algorithm that spends everything on a mechanism."""

    @dataclass(frozen=True, kw_only=True)
    class Asks(Honest):
        mechanism = made
        name = f"an own mechanism, {made.name}"
        consistent = made not in (Clamped, ByRejection)

        def estimate(self, data, workload):
            outcome = data.ask(made(), data.budget, "cells").astype(np.float64)
            shape = (data.trials, *data.domain.shape)
            return outcome if outcome.shape == shape else np.zeros(shape) + outcome.reshape(-1, *[1] * data.domain.ndim)

    return Asks


OWN_DRAWS = tuple(map(asking, (ByRejection, ByInversion, Clamped, Geometric)))


HONEST = (
    SmallCache,
    *OWN_DRAWS,
    SaysNothing,
    Warns,
    CutTree,
    OwnLaplace,
    PrintsTheTime,
    Clips,
    AtLeast32,
    PublicCoins,
    FixedSeed,
    BatchedSolver,
    OneByOne,
    StopsEarly,
    PublicCache,
    ReturnsAView,
    GaussianAlone,
    CleansUp,
    NotSoMany,
)
