"""More broken algorithms, each with another mechanism of leaking: what the randomised replay is measured by.

They were written before it and are not changed for it. ``LEAKS`` and ``LEAKY_FUNCTIONS`` have to be found by the
default ``check``; ``BEYOND`` holds what it does not look for, and the test says so.

| kind | leaks |
|---|---|
| state kept between runs | CacheByDomain, WarmStart, MutableDefault, SeenBefore |
| state outside the module | EnvironmentVariable, WorkloadAsNotebook, Background |
| a threshold that few vectors cross | AtAThousand, SixteenBits, ThirtyTwoBits, NearTheLimit, ParityOfTheTotal |
| a place: one cell, a kind of domain, a size | LastCell, OddSquares, TenthAboveThreeHundred, OneCellShort |
| a number of trials | SecondTrial, SeventyTrials |
| a budget or a notion | SmallEpsilon, LargeEpsilon, HalfUnderZcdp |
| a kind of workload | WeightedQueries, ManyQueries |
| what else leaves: memory, sign, layout, type | LargerBuffer, SignOfZero, MemoryOrder, TaggedArray, LastBits |
| the ledger | ReasonWithACount, OrderOfCharges, AmountOfCharges, RegionsInTrueOrder |
| exceptions and warnings | FailsWhenEmpty, WarnsWhenLarge |
| a claim that does not hold everywhere | ScoreOfSquares, AnswerRemembers, MedianOfCells |
| counts read by the back door | CollectedGarbage, CallersFrame, NoiseCopied |
| randomness | CoinsSkipped, OrderOfASet |
| rare outcomes | ExtremeNoise, TrueStoppingRule |
| behaves when watched | OnlyUnrecorded |
| plain functions | spike_shown, scale_by_maximum, large_counts_exact, clipped_by_data, one_value_exact |
| beyond the audit | Slowly |
"""

import copy
import gc
import os
import sys
import threading
import time
import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpbench.algorithm import Algorithm
from dpbench.mathematics.cells import Cells
from dpbench.mathematics.groups import GroupTotals
from dpbench.privacy import split


def counts_of(data):
    """The counts, past the handle."""
    return data._PrivateData__counts


def exact_where(noisy, place, counts):
    """Noisy cells, with the true ones at some places."""
    return np.where(place, counts.astype(np.float64), noisy)


@dataclass(frozen=True, kw_only=True)
class Leak(Algorithm):
    """Noise on every cell, as the honest part of each."""

    notions = ("pure", "zCDP")
    consistent = True
    exchangeable = False

    def cells(self, data, spend=None):
        return data.measure(Cells(data.domain), data.budget if spend is None else spend, "cells")


# --- state kept between runs --------------------------------------------------------------------------

_GRIDS = {}
_LAST = {}
_SEEN = set()
_THREADS = []


@dataclass(frozen=True, kw_only=True)
class CacheByDomain(Leak):
    name = "cache keyed by the domain"

    def estimate(self, data, workload):
        shift = _GRIDS.setdefault(data.domain.shape, float(counts_of(data).sum() % 3) * 1e-4)
        return self.cells(data) + shift


@dataclass(frozen=True, kw_only=True)
class WarmStart(Leak):
    name = "warm start from the last run"

    def estimate(self, data, workload):
        noisy = self.cells(data)
        start = _LAST.get(data.domain.shape, np.zeros(data.domain.shape))
        _LAST[data.domain.shape] = counts_of(data).astype(float)
        return noisy + 1e-6 * np.tanh(start)


@dataclass(frozen=True, kw_only=True)
class MutableDefault(Leak):
    name = "mutable default argument"

    def estimate(self, data, workload, seen=[]):  # noqa: B006  (the fault)
        noisy = self.cells(data)
        before = seen[-1] if seen else 0
        seen.append(int(counts_of(data).max()))
        return noisy + 1e-5 * (before % 5)


@dataclass(frozen=True, kw_only=True)
class SeenBefore(Leak):
    name = "remembers by their bytes the counts that it has met"

    def estimate(self, data, workload):
        key = counts_of(data).tobytes()
        known = key in _SEEN
        _SEEN.add(key)
        return self.cells(data) + (1e-5 if known else 0.0)


@dataclass(frozen=True, kw_only=True)
class EnvironmentVariable(Leak):
    name = "environment variable"

    def estimate(self, data, workload):
        before = int(os.environ.get("DPBENCH_LEAK", "0"))
        os.environ["DPBENCH_LEAK"] = str(int(counts_of(data).sum()))
        return self.cells(data) + 1e-5 * (before % 7)


@dataclass(frozen=True, kw_only=True)
class WorkloadAsNotebook(Leak):
    name = "the workload as a notebook"

    def estimate(self, data, workload):
        before = getattr(workload, "leaked", 0)
        object.__setattr__(workload, "leaked", int(counts_of(data).reshape(-1)[0]))
        return self.cells(data) + 1e-5 * (before % 11)


@dataclass(frozen=True, kw_only=True)
class Background(Leak):
    name = "a thread that looks"

    def estimate(self, data, workload):
        found = []
        thread = threading.Thread(target=lambda: found.append(int((counts_of(data) > 200).sum())))
        thread.start()
        noisy = self.cells(data)
        thread.join()
        return noisy + 1e-5 * found[0]


# --- thresholds ---------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class AtAThousand(Leak):
    name = "a cell of exactly 1000"

    def estimate(self, data, workload):
        counts = counts_of(data)
        return exact_where(self.cells(data), counts == 1000, counts)


class Narrow(Cells):
    """Cells in an integer type that is too narrow."""

    kind = np.int16

    def answer(self, counts):
        return counts.astype(self.kind).astype(np.int64)


class NarrowWord(Narrow):
    kind = np.int32


@dataclass(frozen=True, kw_only=True)
class SixteenBits(Leak):
    name = "cells in 16 bits"

    def estimate(self, data, workload):
        return data.measure(Narrow(data.domain), data.budget, "cells")


@dataclass(frozen=True, kw_only=True)
class ThirtyTwoBits(Leak):
    name = "cells in 32 bits"

    def estimate(self, data, workload):
        return data.measure(NarrowWord(data.domain), data.budget, "cells")


@dataclass(frozen=True, kw_only=True)
class NearTheLimit(Leak):
    name = "a total above 2^40"

    def estimate(self, data, workload):
        noisy = self.cells(data)
        return np.maximum(noisy, 0.0) if counts_of(data).sum() > 2**40 else noisy


@dataclass(frozen=True, kw_only=True)
class ParityOfTheTotal(Leak):
    name = "parity of the total"

    def estimate(self, data, workload):
        noisy = self.cells(data)
        return noisy + 1e-7 * float(counts_of(data).sum() % 2)


# --- a place ------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class LastCell(Leak):
    name = "the last cell, where it has more than 40 records"

    def estimate(self, data, workload):
        counts, place = counts_of(data), np.zeros(data.domain.shape, dtype=bool)
        place.reshape(-1)[-1] = counts.reshape(-1)[-1] > 40
        return exact_where(self.cells(data), place, counts)


@dataclass(frozen=True, kw_only=True)
class OddSquares(Leak):
    name = "a corner of domains with two odd sides"

    def estimate(self, data, workload):
        place = np.zeros(data.domain.shape, dtype=bool)
        if data.domain.ndim == 2 and all(side % 2 and side > 1 for side in data.domain.shape):
            place[0, 0] = True
        return exact_where(self.cells(data), place, counts_of(data))


class TenthOfTheClaim(Cells):
    """Cells that claim a tenth beyond 300 of them."""

    @property
    def sensitivity(self):
        return 0.1 if self.domain.size > 300 else 1


@dataclass(frozen=True, kw_only=True)
class TenthAboveThreeHundred(Leak):
    name = "a tenth of the claim above 300 cells"

    def estimate(self, data, workload):
        return data.measure(TenthOfTheClaim(data.domain), data.budget, "cells")


class OneShort:
    """Totals of overlapping runs of cells; one cell in the middle of larger domains lies in three of them."""

    sensitivity = 2

    def __init__(self, domain):
        self.size = domain.size
        self.shape = (self.size + 2,)

    def answer(self, counts):
        flat = counts.reshape(-1)
        extra = flat[self.size // 3 : self.size // 3 + 1].sum() if self.size > 60 else 0
        return np.concatenate([flat, [flat.sum(), extra]])


@dataclass(frozen=True, kw_only=True)
class OneCellShort(Leak):
    name = "one cell of many moves more than the claim"

    def estimate(self, data, workload):
        answers = data.measure(OneShort(data.domain), data.budget, "cells, total")
        return answers[:, :-2].reshape(data.trials, *data.domain.shape)


# --- trials -------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SecondTrial(Leak):
    name = "the second trial"

    def estimate(self, data, workload):
        noisy = self.cells(data)
        noisy[1:2] += 1e-6 * (counts_of(data) > 25)
        return noisy


@dataclass(frozen=True, kw_only=True)
class SeventyTrials(Leak):
    name = "seventy trials"

    def estimate(self, data, workload):
        noisy = self.cells(data)
        return noisy + 1e-4 * np.tanh(counts_of(data)) if data.trials == 70 else noisy


# --- budget, notion, workload -------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SmallEpsilon(Leak):
    name = "no noise at a small epsilon"

    def estimate(self, data, workload):
        counts, small = counts_of(data), data.as_epsilon(data.budget) < 0.02
        noisy = self.cells(data)
        return np.where(small, noisy / 1000 + counts, noisy)


@dataclass(frozen=True, kw_only=True)
class LargeEpsilon(Leak):
    name = "rounded with the truth at a large epsilon"

    def estimate(self, data, workload):
        large = 12 < data.as_epsilon(data.budget) < 1e5
        noisy = self.cells(data)
        return np.where(large, np.minimum(noisy, counts_of(data)), noisy)


class HalfSquared(Cells):
    """Cells whose squared L2 sensitivity is a quarter of what it is."""

    squared_l2_sensitivity = 0.25


@dataclass(frozen=True, kw_only=True)
class HalfUnderZcdp(Leak):
    name = "half of the L2 sensitivity"

    def estimate(self, data, workload):
        return data.measure(HalfSquared(data.domain), data.budget, "cells")


@dataclass(frozen=True, kw_only=True)
class WeightedQueries(Leak):
    name = "only for weighted queries"

    def estimate(self, data, workload):
        noisy = self.cells(data)
        weights = workload.ranges().weights
        return noisy + 1e-5 * (counts_of(data) > 9) if len(np.unique(weights)) > 1 else noisy


@dataclass(frozen=True, kw_only=True)
class ManyQueries(Leak):
    name = "only for at least as many queries as twice the cells"

    def estimate(self, data, workload):
        noisy = self.cells(data)
        many = len(workload.ranges().lower) >= 2 * data.domain.size
        return noisy + 1e-5 * (counts_of(data) == 0) if many else noisy


# --- what else leaves ---------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class LargerBuffer(Leak):
    name = "a view of a buffer that holds the counts"

    def estimate(self, data, workload):
        noisy = self.cells(data)
        buffer = np.concatenate([noisy, counts_of(data)[np.newaxis].astype(float)])
        return buffer[:-1]


@dataclass(frozen=True, kw_only=True)
class SignOfZero(Leak):
    name = "sign of zero"
    consistent = True

    def estimate(self, data, workload):
        noisy = self.cells(data)
        zero = np.where(counts_of(data) > 0, 0.0, -0.0)
        return np.where(noisy <= 0, zero, noisy)


@dataclass(frozen=True, kw_only=True)
class MemoryOrder(Leak):
    name = "order of the memory"
    dimensions = (2,)

    def estimate(self, data, workload):
        noisy = self.cells(data)
        return np.asfortranarray(noisy) if counts_of(data).sum() % 2 else noisy


class Tagged(np.ndarray):
    """An array with something to tell."""


@dataclass(frozen=True, kw_only=True)
class TaggedArray(Leak):
    name = "an attribute of the array"

    def estimate(self, data, workload):
        noisy = self.cells(data).view(Tagged)
        noisy.true = counts_of(data).copy()
        return noisy


@dataclass(frozen=True, kw_only=True)
class LastBits(Leak):
    name = "last bits of the output"

    def estimate(self, data, workload):
        bits = self.cells(data).view(np.int64)
        return (bits - (bits & 1) + (counts_of(data) & 1)).view(np.float64)


# --- the ledger ---------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ReasonWithACount(Leak):
    name = "a reason that quotes a count"

    def estimate(self, data, workload):
        noisy = self.cells(data, split(data.budget, 0.9)[0])
        data.forfeit(data.budget, f"left over, {int(counts_of(data).max()) // 300} of it")
        return noisy


@dataclass(frozen=True, kw_only=True)
class OrderOfCharges(Leak):
    name = "order of the charges"

    def estimate(self, data, workload):
        one, other = split(data.budget, 0.5)
        rows = np.zeros(data.domain.size, dtype=int)
        total = GroupTotals(rows, 1)
        if counts_of(data).max() > 64:
            data.measure(total, one, "total")
            return self.cells(data, other)
        noisy = self.cells(data, one)
        data.measure(total, other, "total")
        return noisy


@dataclass(frozen=True, kw_only=True)
class AmountOfCharges(Leak):
    name = "amount of the charges"

    def estimate(self, data, workload):
        share = 0.5 if np.count_nonzero(counts_of(data)) * 2 < data.domain.size else 0.6
        first, second = split(data.budget, share)
        return (self.cells(data, first) + self.cells(data, second)) / 2


@dataclass(frozen=True, kw_only=True)
class RegionsInTrueOrder(Leak):
    name = "regions in the order of the true counts"
    dimensions = (1,)

    def estimate(self, data, workload):
        order = np.argsort(counts_of(data), kind="stable")
        middle = data.domain.size // 2
        if middle == 0:
            return self.cells(data)
        out = np.empty((data.trials, data.domain.size))
        regions = [order[:middle], order[middle:]]
        for cells, part in zip(regions, data.parts(regions, data.budget, "halves"), strict=True):
            out[:, cells] = part.measure(Cells(part.domain), part.budget, "cells")
        return out


# --- exceptions and warnings --------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class FailsWhenEmpty(Leak):
    name = "fails where the last third holds more than half"

    def estimate(self, data, workload):
        flat = counts_of(data).reshape(-1)
        if len(flat) > 20 and 2 * flat[-len(flat) // 3 :].sum() > flat.sum() + 3:
            raise ValueError("no")
        return self.cells(data)


@dataclass(frozen=True, kw_only=True)
class WarnsWhenLarge(Leak):
    name = "warns of cells from 4096 to 65536"

    def estimate(self, data, workload):
        counts = counts_of(data)
        if ((counts >= 4096) & (counts <= 65536)).any():
            warnings.warn("large", stacklevel=1)
        return self.cells(data)


# --- claims -------------------------------------------------------------------------------------------


class Squares:
    """The cell with most records, by squares: a record moves them by more, the more there are."""

    sensitivity = 1
    monotone = True

    def score(self, counts):
        return np.minimum(counts.reshape(-1).astype(np.float64), 300.0) ** 2 / 300.0


@dataclass(frozen=True, kw_only=True)
class ScoreOfSquares(Leak):
    name = "a score of squares"

    def estimate(self, data, workload):
        first, second = split(data.budget, 0.5)
        data.choose(Squares(), first, "the largest cell")
        return self.cells(data, second)


class Remembers(Cells):
    """Cells, with what was asked the last time added."""

    kept: ClassVar[dict] = {}

    def answer(self, counts):
        before = self.kept.get(counts.shape, counts)
        self.kept[counts.shape] = counts
        return counts + (before - counts) // 2


@dataclass(frozen=True, kw_only=True)
class AnswerRemembers(Leak):
    name = "a strategy that remembers"

    def estimate(self, data, workload):
        return data.measure(Remembers(data.domain), data.budget, "cells")


class Median:
    """The middle count, which one record does not move by more than 1 if cells are alike; else it is off by the gap."""

    sensitivity = 2
    shape = (2,)

    def answer(self, counts):
        flat = np.sort(counts.reshape(-1))
        busy = np.count_nonzero(flat)
        return np.array([flat.sum(), flat[-1] if busy % 2 and busy > 5 else 0])


@dataclass(frozen=True, kw_only=True)
class MedianOfCells(Leak):
    name = "an answer that jumps"

    def estimate(self, data, workload):
        first, second = split(data.budget, 0.1)
        data.measure(Median(), first, "total and middle")
        return self.cells(data, second)


# --- the back door ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class CollectedGarbage(Leak):
    name = "counts found by the garbage collector's list"

    def estimate(self, data, workload):
        noisy = self.cells(data)
        for found in gc.get_referents(data):
            if isinstance(found, np.ndarray) and found.dtype == np.int64 and found.shape == data.domain.shape:
                return noisy + 1e-8 * (found > 3)
        return noisy


@dataclass(frozen=True, kw_only=True)
class CallersFrame(Leak):
    name = "counts read from the caller's frame"

    def estimate(self, data, workload):
        x = np.asarray(sys._getframe(1).f_locals["x"])
        return self.cells(data) + 1e-6 * (x == x.max()).reshape(data.domain.shape)


@dataclass(frozen=True, kw_only=True)
class NoiseCopied(Leak):
    name = "noise drawn a second time and taken away"

    def estimate(self, data, workload):
        source = copy.deepcopy(data._noise)
        noisy = self.cells(data)
        again = source.laplace(np.zeros(data.domain.shape), 1.0, data.domain.shape)
        return np.where(np.abs(again) > 5, noisy - again, noisy)


# --- randomness ---------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class CoinsSkipped(Leak):
    name = "public coins, some skipped by the counts"

    def estimate(self, data, workload):
        noisy = self.cells(data)
        for trial, coins in enumerate(data.coins()):
            coins.random(int(counts_of(data).sum() % 4))
            noisy[trial] += 1e-6 * coins.random()
        return noisy


@dataclass(frozen=True, kw_only=True)
class OrderOfASet(Leak):
    name = "order of a set of counts"

    def estimate(self, data, workload):
        noisy = self.cells(data)
        values = list({int(each) * 2654435761 % 97 for each in counts_of(data).reshape(-1)})
        return noisy + 1e-7 * values.index(max(values))


# --- rare outcomes ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ExtremeNoise(Leak):
    name = "the truth where the noise is extreme"

    def estimate(self, data, workload):
        scale = 1 / data.as_epsilon(data.budget)
        noisy, counts = self.cells(data), counts_of(data)
        return exact_where(noisy, np.abs(noisy - counts) > 18 * scale, counts)


class Largest:
    """The cell with most records."""

    sensitivity = 1
    monotone = True

    def score(self, counts):
        return counts.reshape(-1).astype(np.float64)


@dataclass(frozen=True, kw_only=True)
class TrueStoppingRule(Leak):
    name = "a stopping rule on true counts"

    def estimate(self, data, workload):
        search, rest = split(data.budget, 0.5)
        for number in range(4):
            if counts_of(data).max() * (number + 1) > 700:
                data.forfeit(search / 4 * (4 - number), "rounds that are not needed")
                break
            data.choose(Largest(), search / 4, f"round {number}")
        return self.cells(data, rest)


# --- behaves when watched -----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class OnlyUnrecorded(Leak):
    name = "behaves when recorded"

    def estimate(self, data, workload):
        noisy = self.cells(data)
        watched = type(data._channel).__name__ != "Direct"
        return noisy if watched else noisy + 0.25 * np.tanh(counts_of(data))


# --- beyond -------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Slowly(Leak):
    name = "slower on more records"

    def estimate(self, data, workload):
        time.sleep(1e-5 * float(min(counts_of(data).sum(), 10)))
        return self.cells(data)


LEAKS = (
    CacheByDomain,
    WarmStart,
    MutableDefault,
    SeenBefore,
    EnvironmentVariable,
    WorkloadAsNotebook,
    Background,
    AtAThousand,
    SixteenBits,
    ThirtyTwoBits,
    NearTheLimit,
    ParityOfTheTotal,
    LastCell,
    OddSquares,
    TenthAboveThreeHundred,
    OneCellShort,
    SecondTrial,
    SeventyTrials,
    SmallEpsilon,
    LargeEpsilon,
    HalfUnderZcdp,
    WeightedQueries,
    ManyQueries,
    LargerBuffer,
    SignOfZero,
    MemoryOrder,
    LastBits,
    ReasonWithACount,
    OrderOfCharges,
    AmountOfCharges,
    RegionsInTrueOrder,
    FailsWhenEmpty,
    WarnsWhenLarge,
    ScoreOfSquares,
    AnswerRemembers,
    MedianOfCells,
    CollectedGarbage,
    CallersFrame,
    NoiseCopied,
    CoinsSkipped,
    OrderOfASet,
    ExtremeNoise,
    TrueStoppingRule,
    OnlyUnrecorded,
)
CLOSED = (TaggedArray,)
"""What left a run when the audit was made, and does not any more: an outcome has plain numbers."""
BEYOND = (Slowly,)
"""What the audit does not look for."""


def spike_shown(x, workload, epsilon, rng):
    """A plain function that leaves cells above 900 as they are."""
    return np.where(x > 900, x, x + rng.laplace(scale=1 / epsilon, size=x.shape))


def scale_by_maximum(x, workload, epsilon, rng):
    """A plain function whose noise grows with the largest count."""
    return x + rng.laplace(scale=(1 + np.log1p(x.max()) / 2) / epsilon, size=x.shape)


def large_counts_exact(x, workload, epsilon, rng):
    """A plain function with little noise on a histogram of many records."""
    scale = (1.0 if x.sum() < 20_000 else 0.1) / epsilon
    return x + rng.laplace(scale=scale, size=x.shape)


def clipped_by_data(x, workload, epsilon, rng):
    """A plain function that clips at the true maximum."""
    return np.minimum(x + rng.laplace(scale=1 / epsilon, size=x.shape), x.max())


def one_value_exact(x, workload, epsilon, rng):
    """A plain function that is exact for one particular count."""
    return np.where(x == 64, 64.0, x + rng.laplace(scale=1 / epsilon, size=x.shape))


LEAKY_FUNCTIONS = (spike_shown, scale_by_maximum, large_counts_exact, clipped_by_data, one_value_exact)
