"""Mechanisms that are broken on purpose, each as real code has been: the check of the laws refuses every one."""

from fractions import Fraction

import numpy as np
import pytest

from dpbench.domain import Domain
from dpbench.errors import CheckFailed
from dpbench.mathematics.box_tree import BoxTree
from dpbench.mathematics.cells import Cells
from dpbench.privacy import (
    AboveThreshold,
    Exponential,
    Gaussian,
    GroupedExponential,
    Laplace,
    NoisyMax,
    Partition,
    PermuteAndFlip,
    PrivTree,
)
from dpbench.testing import check_mechanism
from privacy.mechanisms.questions import CellCounts, Deviations, Distances, Sums

LINE = Domain((5,))
DRAWS_OTHERWISE = "does not draw from its density"
TOO_LITTLE = "too little noise"


def draws_at(kind, factor):
    """A mechanism whose level is off by a factor where it draws, and nowhere else."""

    class Off(kind):
        def draw(self, truth, level, noise):
            return super().draw(truth, level * factor, noise)

    return Off


def pays_for(kind, factor):
    """A mechanism that takes its loss for another one, honest about what it draws."""

    class Lavish(kind):
        def level(self, loss):
            return super().level(loss * factor)

    return Lavish


class NoThresholdNoise(AboveThreshold):
    def draw(self, truth, level, noise):
        above = noise.laplace(truth, self.scales(level)[1], truth.shape[-1:]) >= 0
        return np.where(above.any(axis=1), above.argmax(axis=1), truth.shape[-1])


class NoAnswerNoise(AboveThreshold):
    """Stoddard, Chen, Machanavajjhala 2014: the threshold alone is noisy."""

    def draw(self, truth, level, noise):
        above = truth >= noise.laplace(np.zeros(1), self.scales(level)[0], (1,))
        return np.where(above.any(axis=1), above.argmax(axis=1), truth.shape[-1])


class ThresholdRedrawn(AboveThreshold):
    """Noise on the threshold for every query anew, as if each answer were alone."""

    def draw(self, truth, level, noise):
        threshold, answer = self.scales(level)
        shape = truth.shape[-1:]
        above = noise.laplace(truth, answer, shape) >= noise.laplace(np.zeros(shape), threshold, shape)
        return np.where(above.any(axis=1), above.argmax(axis=1), truth.shape[-1])


class NoFactorTwo(AboveThreshold):
    """Noise on answers as if they were monotone, honest about it."""

    def scales(self, level):
        return 1 / (self.share * level), 1 / ((1 - self.share) * level)


class NoDecay(PrivTree):
    """A tree whose every level is scored as if it were alone: the decaying bias is left out."""

    def scores(self, counts, depth, level):
        return super().scores(counts, 0, level)


class NoFloor(PrivTree):
    """Scores that fall without end: every empty level below costs again."""

    def scores(self, counts, depth, level):
        return (counts - self.threshold) / level - depth * np.log(self.tree.fanout)


class Opposed(Sums):
    """The total again and again, then minus the total: one record moves them apart."""

    def answers(self, counts):
        return counts.sum() * np.array([1.0, 1.0, 1.0, -1.0])


FEW, SUMS, EMPTY = np.array([9, 1, 4, 6, 0]), Sums(threshold=12.0), np.zeros(64, dtype=int)
MUTANTS = [
    ("noise off by 5 percent", draws_at(Laplace, 0.95)(Cells(LINE)), FEW, DRAWS_OTHERWISE),
    ("deviation off by 5 percent", draws_at(Gaussian, 0.95)(Cells(LINE)), FEW, DRAWS_OTHERWISE),
    ("selection off by 5 percent", draws_at(Exponential, 1.05)(CellCounts()), FEW, DRAWS_OTHERWISE),
    ("groups off by 5 percent", draws_at(GroupedExponential, 1.05)(CellCounts()), FEW, DRAWS_OTHERWISE),
    ("flips off by 5 percent", draws_at(PermuteAndFlip, 1.05)(CellCounts()), FEW, DRAWS_OTHERWISE),
    ("noisy max off by 5 percent", draws_at(NoisyMax, 1.05)(CellCounts()), FEW, DRAWS_OTHERWISE),
    ("above threshold off by 5 percent", draws_at(AboveThreshold, 1.05)(SUMS), FEW, DRAWS_OTHERWISE),
    ("partition off by 5 percent", draws_at(Partition, 1.05)(Deviations(), 5), 3 * FEW, DRAWS_OTHERWISE),
    ("tree off by 5 percent", draws_at(PrivTree, 0.95)(BoxTree(LINE), 7.0), FEW, DRAWS_OTHERWISE),
    ("noise of twice the loss", pays_for(Laplace, 2)(Cells(LINE)), FEW, TOO_LITTLE),
    ("deviation of twice the loss", pays_for(Gaussian, 2)(Cells(LINE)), FEW, TOO_LITTLE),
    ("selection without the factor 2", pays_for(Exponential, 2)(CellCounts()), FEW, TOO_LITTLE),
    ("flips without the factor 2", pays_for(PermuteAndFlip, 2)(CellCounts()), FEW, TOO_LITTLE),
    ("noisy max without the factor 2", pays_for(NoisyMax, 2)(CellCounts()), FEW, TOO_LITTLE),
    ("partition without the factor 2", pays_for(Partition, 2)(Deviations(sensitivity=1), 5), FEW, TOO_LITTLE),
    ("half the sensitivity", PermuteAndFlip(Distances(monotone=True, sensitivity=Fraction(1, 2))), FEW, TOO_LITTLE),
    ("no noise on the threshold", NoThresholdNoise(SUMS), FEW, DRAWS_OTHERWISE),
    ("no noise on the answers", NoAnswerNoise(SUMS), FEW, DRAWS_OTHERWISE),
    ("a threshold for every query", ThresholdRedrawn(SUMS), FEW, DRAWS_OTHERWISE),
    ("answers without the factor 2", NoFactorTwo(Opposed(monotone=False)), FEW, TOO_LITTLE),
    ("monotone in name alone", AboveThreshold(Opposed(monotone=True)), FEW, TOO_LITTLE),
    ("no decaying bias", NoDecay(BoxTree(Domain((64,)))), EMPTY, TOO_LITTLE),
    ("no floor", NoFloor(BoxTree(Domain((64,)))), EMPTY, TOO_LITTLE),
]


@pytest.mark.parametrize(
    ("mechanism", "counts", "cause"), [row[1:] for row in MUTANTS], ids=[row[0] for row in MUTANTS]
)
def test_every_mutant_is_refused(mechanism, counts, cause):
    """Between neighbours, or between two vectors that differ by two records, for the cause that is true."""
    with pytest.raises(CheckFailed, match=cause):
        examine(mechanism, counts)


def examine(mechanism, counts):
    draws = 40_000 if isinstance(mechanism, PrivTree) else 150_000
    for records in (1, 2):
        other = counts + records * (np.arange(len(counts)) == 2)
        check_mechanism(mechanism, Fraction(1), counts, other, neighbours=records == 1, draws=draws, seed=2)
