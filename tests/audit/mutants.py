"""Algorithms that are broken on purpose, each in one way that real code has been broken in.

``MUTANTS`` and ``BROKEN_FUNCTIONS`` are what the table in docs/audit.md is made from.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpbench.algorithm import Algorithm
from dpbench.algorithms.dawa import DAWA
from dpbench.algorithms.h import H
from dpbench.algorithms.identity import Identity
from dpbench.mathematics.cells import Cells
from dpbench.mathematics.groups import GroupTotals
from dpbench.mathematics.tree import TreeCounts
from dpbench.privacy import evenly, split


class HalfSensitivity(Cells):
    """Cells that claim half of what one record does."""

    sensitivity = 0.5


class LevelForgotten(TreeCounts):
    """A tree that counts one level less than it has."""

    @property
    def sensitivity(self):
        return super().sensitivity - 1 if len(self.tree.levels) > 1 else 1


class Smuggler(Cells):
    """Cells that keep what they were shown."""

    seen: ClassVar[list] = []

    def answer(self, counts):
        self.seen[:] = [counts]
        return counts


@dataclass(frozen=True, kw_only=True)
class Biased(Algorithm):
    """What most mutants share: nothing is declared that could fail for another reason than theirs."""

    consistent = True
    exchangeable = False

    def cells(self, data, spend, why="cells"):
        return data.laplace(Smuggler(data.domain), spend, why)


@dataclass(frozen=True, kw_only=True)
class HalfNoise(Identity):
    name = "half the noise"

    def estimate(self, data, workload):
        return data.laplace(HalfSensitivity(data.domain), data.epsilon, "cells")


@dataclass(frozen=True, kw_only=True)
class OneLevelNotCharged(H):
    name = "one tree level not charged"

    def estimate(self, data, workload):
        tree = self._solver(data.domain)
        return tree.solve(data.laplace(LevelForgotten(tree.tree), data.epsilon, "tree"))


class HeavierHalf:
    """Which half has more records; the two scores move in opposite directions."""

    sensitivity = 1
    monotone = True

    def score(self, counts):
        flat = counts.reshape(-1)
        ahead = float(flat[: len(flat) // 2].sum() - flat[len(flat) // 2 :].sum())
        return np.array([ahead, -ahead])


@dataclass(frozen=True, kw_only=True)
class NoFactorTwo(Biased):
    name = "exponential mechanism without the factor 2"
    consistent = False

    def estimate(self, data, workload):
        first, second = split(data.epsilon, 0.5)
        chosen = data.choose(HeavierHalf(), first, "the heavier half")
        noisy = data.laplace(Cells(data.domain), second, "cells").reshape(data.trials, -1)
        left = np.arange(noisy.shape[1]) < noisy.shape[1] // 2
        kept = np.where(left == (chosen == 0)[:, None], noisy, noisy / 2)
        return kept.reshape(data.trials, *data.domain.shape)


@dataclass(frozen=True, kw_only=True)
class TrueTotalUsed(Identity):
    name = "true total used in the output"

    def estimate(self, data, workload):
        noisy = data.laplace(Smuggler(data.domain), data.epsilon, "cells")
        axes = tuple(range(1, noisy.ndim))
        excess = noisy.sum(axis=axes, keepdims=True) - Smuggler.seen[0].sum()
        return noisy - excess / data.domain.size


@dataclass(frozen=True, kw_only=True)
class GridByTrueScale(Biased):
    """The switch lies at a total that nobody would think of."""

    name = "grid sized by the true scale"
    consistent = False

    def estimate(self, data, workload):
        first, second = split(data.epsilon, 0.1)
        data.laplace(Smuggler(data.domain), first, "first look")
        side = 2 if Smuggler.seen[0].sum() < 48_611 else 1
        labels = np.arange(data.domain.size) // side
        totals = data.laplace(GroupTotals(labels, int(labels[-1]) + 1), second, "blocks")
        return (totals / np.bincount(labels))[:, labels].reshape(data.trials, *data.domain.shape)


@dataclass(frozen=True, kw_only=True)
class BudgetNotSplit(Identity):
    name = "budget not split"

    def estimate(self, data, workload):
        everything = data.epsilon
        first = data.laplace(Cells(data.domain), everything, "first look")
        second = data.laplace(Cells(data.domain), everything, "second look")
        return (first + second) / 2


@dataclass(frozen=True, kw_only=True)
class TrueZerosKept(Identity):
    name = "true zeros kept"

    def estimate(self, data, workload):
        noisy = data.laplace(Smuggler(data.domain), data.epsilon, "cells")
        return np.where(Smuggler.seen[0] == 0, 0.0, noisy)


@dataclass(frozen=True, kw_only=True)
class ExactPhases(Biased):
    name = "exact Fourier phases"
    dimensions = (1,)

    def estimate(self, data, workload):
        noisy = np.fft.rfft(self.cells(data, data.epsilon))
        phases = np.angle(np.fft.rfft(Smuggler.seen[0]))
        return np.fft.irfft(np.abs(noisy) * np.exp(1j * phases), data.domain.size)


@dataclass(frozen=True, kw_only=True)
class ExactInnerNodes(H):
    name = "exact inner nodes"

    def estimate(self, data, workload):
        tree = self._solver(data.domain)
        first, second = split(data.epsilon, 0.01)
        data.laplace(Smuggler(data.domain), first, "first look")
        answers = data.laplace(tree.strategy, second, "tree")
        truth = tree.strategy.answer(Smuggler.seen[0])
        inner = len(truth) - data.domain.size
        answers[:, :inner] = truth[:inner]
        return tree.solve(answers)


@dataclass(frozen=True, kw_only=True)
class HalvedPartitionNoise(DAWA):
    name = "halved partition noise"

    def _cost(self, domain, spend):
        return HalfCost(super()._cost(domain, spend))


class HalfCost:
    """Costs of a partition that claim half of what one record does."""

    def __init__(self, cost):
        self._cost = cost
        self.sensitivity = float(cost.sensitivity) / 2

    def __getattr__(self, name):
        return getattr(self._cost, name)


class FairlyScored(HeavierHalf):
    """The same scores, not called monotone."""

    monotone = False


@dataclass(frozen=True, kw_only=True)
class SplitTooDeep(Biased):
    name = "split deeper than paid for"

    def estimate(self, data, workload):
        depths = max(1, data.domain.size.bit_length() - 1)
        search, rest = split(data.epsilon, 0.5)
        for depth in range(depths + 1):
            data.choose(FairlyScored(), evenly(search, depths), f"cut at depth {depth}")
        return data.laplace(Cells(data.domain), rest, "cells")


@dataclass(frozen=True, kw_only=True)
class NoiseReused(Biased):
    """The second call draws from streams that were set back, so its first draws are those of the first call."""

    name = "noise reused between two stages"
    consistent = False

    def estimate(self, data, workload):
        first, second = split(data.epsilon, 0.5)
        streams = getattr(data._noise, "_streams", ())
        states = [stream.bit_generator.state for stream in streams]
        cells = data.laplace(Cells(data.domain), first, "cells")
        for stream, state in zip(streams, states, strict=True):
            stream.bit_generator.state = state
        pairs = np.arange(data.domain.size) // 2
        sums = data.laplace(GroupTotals(pairs, int(pairs[-1]) + 1), second, "pairs")
        flat = cells.reshape(data.trials, -1)
        place = (data.domain.size // 2) // 2
        flat[:, -1] = sums[:, place] - flat[:, place]  # the noise cancels
        return flat.reshape(data.trials, *data.domain.shape)


class SinglePrecision:
    """Prefix sums in float32: beyond 2^24 a record moves a sum by nothing or by 8."""

    def __init__(self, domain):
        self.shape = (domain.size,)
        self.sensitivity = domain.size

    def answer(self, counts):
        return np.cumsum(counts.reshape(-1).astype(np.float32), dtype=np.float32)


@dataclass(frozen=True, kw_only=True)
class Float32Sums(Biased):
    name = "float32 prefix sums at large counts"
    dimensions = (1,)

    def estimate(self, data, workload):
        sums = data.laplace(SinglePrecision(data.domain), data.epsilon, "prefix sums")
        return np.diff(sums, prepend=0.0)


class WorstQuery:
    """Scores weighted answers and claims what a weight of 1 would do."""

    sensitivity = 1
    monotone = False

    def __init__(self, workload):
        self._workload = workload

    def score(self, counts):
        return np.abs(self._workload.answer(counts)).astype(np.float64)


@dataclass(frozen=True, kw_only=True)
class WeightsIgnored(Biased):
    name = "query weights ignored in a selection"

    def estimate(self, data, workload):
        first, second = split(data.epsilon, 0.5)
        data.choose(WorstQuery(workload), first, "the largest query")
        return data.laplace(Cells(data.domain), second, "cells")


@dataclass(frozen=True, kw_only=True)
class SeedFromData(Biased):
    name = "a seed derived from the data"

    def estimate(self, data, workload):
        noisy = self.cells(data, data.epsilon)
        counts = Smuggler.seen[0]
        rng = np.random.default_rng(int(counts.sum()))
        return counts + rng.laplace(scale=1 / float(data.ledger.epsilon), size=noisy.shape)


MUTANTS = (
    HalfNoise,
    OneLevelNotCharged,
    NoFactorTwo,
    TrueTotalUsed,
    GridByTrueScale,
    BudgetNotSplit,
    TrueZerosKept,
    ExactPhases,
    ExactInnerNodes,
    HalvedPartitionNoise,
    SplitTooDeep,
    NoiseReused,
    Float32Sums,
    WeightsIgnored,
    SeedFromData,
)
ONLY_BLACK_BOX = {NoiseReused.name}
"""Those that no other layer can see."""


def half_the_noise(x, workload, epsilon, rng):
    """A plain function with half of the noise."""
    return x + rng.laplace(scale=0.5 / epsilon, size=x.shape)


def adds_up(x, workload, epsilon, rng):
    """A plain function whose output adds up to the true total."""
    noisy = x + rng.laplace(scale=1 / epsilon, size=x.shape)
    return noisy + (x.sum() - noisy.sum()) / x.size


def seeded_by_data(x, workload, epsilon, rng):
    """A plain function whose noise follows from the counts."""
    return x + np.random.default_rng(int(x.sum())).laplace(scale=1 / epsilon, size=x.shape)


def keeps_zeros(x, workload, epsilon, rng):
    """A plain function that leaves empty cells empty."""
    return np.where(x == 0, 0.0, x + rng.laplace(scale=1 / epsilon, size=x.shape))


BROKEN_FUNCTIONS = (half_the_noise, adds_up, seeded_by_data, keeps_zeros)


def laplace_mechanism(x, workload, epsilon, rng):
    """A plain function that keeps its promise."""
    return x + rng.laplace(scale=1 / epsilon, size=x.shape)
