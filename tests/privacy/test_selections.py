from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import ClassVar

import numpy as np
import pytest

from dpbench.errors import InvalidInput
from dpbench.privacy import NoNoise, PrivateData, RandomNoise, Recording, Replay


@dataclass(frozen=True)
class Halves:
    """Two groups of cells; the score of a cell is its count."""

    starts: ClassVar = np.array([0, 2, 5])
    sensitivity: ClassVar = 1
    monotone: ClassVar = False

    def score(self, counts):
        return counts.astype(float)


@dataclass(frozen=True)
class Deviations:
    """The cost of an interval is its deviation from its mean."""

    lengths: tuple[int, ...] = (1, 2, 3)
    sensitivity: float = 2
    penalty: float = 0.3

    def cost(self, counts):
        n = len(counts)
        costs = np.zeros((len(self.lengths), n + 1))
        for k, length in enumerate(self.lengths):
            for end in range(length, n + 1):
                piece = counts[end - length : end]
                costs[k, end] = np.abs(piece - piece.mean()).sum()
        return costs


@dataclass(frozen=True)
class Squares:
    calls: ClassVar[list] = []

    def of(self, counts):
        self.calls.append(1)
        return counts**2


@dataclass(frozen=True)
class SquaresTotal:
    statistic: Squares = Squares()
    sensitivity: int = 100
    shape: tuple = ()

    def answer(self, squares):
        return squares.sum()


def opened(counts, trials, epsilon=1, **more):
    return PrivateData.open(counts, epsilon, RandomNoise.seeded(0, trials), **more)


def partitions(n, lengths):
    """Every way to cut n positions into intervals of the allowed lengths, as tuples of booleans."""
    for inner in product([False, True], repeat=n - 1):
        cuts = (True, *inner, True)
        places = np.flatnonzero(cuts)
        if all(length in lengths for length in np.diff(places)):
            yield cuts


def exact_probabilities(counts, cost, rate):
    table = cost.cost(np.asarray(counts))
    weights = {}
    for cuts in partitions(len(counts), cost.lengths):
        places = np.flatnonzero(cuts)
        total = sum(table[cost.lengths.index(end - start), end] for start, end in pairwise(places))
        weights[cuts] = np.exp(-rate * total - cost.penalty * (len(places) - 1))
    whole = sum(weights.values())
    return {cuts: weight / whole for cuts, weight in weights.items()}


def test_one_candidate_of_every_group():
    """Without noise the best of each group wins, counted from the group's start."""
    data = PrivateData.open([1, 5, 0, 9, 2], 1, NoNoise(2))
    assert data.choose_each(Halves(), 1).tolist() == [[1, 1], [1, 1]]
    assert data.ledger.spent == 1


def test_groups_sample_the_softmax_independently():
    """20,000 joint selections match the product of softmaxes by chi-square, false alarm 1e-4 (5 degrees: 25.7)."""
    counts = np.array([0, 1, 0, 2, 1])
    chosen = opened(counts, 20_000).choose_each(Halves(), 1)
    weight = np.exp(counts / 2)
    joint = np.outer(weight[:2] / weight[:2].sum(), weight[2:] / weight[2:].sum()).reshape(-1)
    seen = np.bincount(chosen[:, 0] * 3 + chosen[:, 1], minlength=6)
    assert ((seen - 20_000 * joint) ** 2 / (20_000 * joint)).sum() < 25.7


def test_group_loss_is_exact_and_within_its_charge():
    """The loss is that of the one group whose counts changed."""
    recording = Recording()
    opened([3, 4, 0, 7, 7], 50, channel=recording).choose_each(Halves(), 1)
    replay = Replay(recording)
    PrivateData.open([3, 4, 0, 8, 7], 1, NoNoise(50), channel=replay).choose_each(Halves(), 1)
    chosen = recording.exchanges[0][1][:, 1]

    def log_probability(scores):
        logits = np.array(scores) / 2
        return logits - np.log(np.exp(logits).sum())

    loss, _ = replay.total(50)
    assert np.allclose(loss, (log_probability([0, 7, 7]) - log_probability([0, 8, 7]))[chosen], atol=1e-12)


def test_partitions_are_sampled_exactly():
    """40,000 partitions of 5 cells match enumerated probabilities: chi-square, false alarm 1e-4 (12 degrees: 39.1)."""
    counts, cost = np.array([3, 3, 0, 8, 7]), Deviations()
    chosen = opened(counts, 40_000, epsilon=2).partition(cost, 2)
    exact = exact_probabilities(counts, cost, rate=0.5)
    assert len(exact) == 13
    statistic = 0.0
    for cuts, probability in exact.items():
        seen = (chosen == np.array(cuts)).all(axis=1).sum()
        statistic += (seen - 40_000 * probability) ** 2 / (40_000 * probability)
    assert statistic < 39.1


def test_partition_loss_is_exact():
    """Replay computes the log-ratio of the enumerated probabilities."""
    before, after, cost = [3, 3, 0, 8, 7], [3, 4, 0, 8, 7], Deviations()
    recording = Recording()
    opened(before, 100, channel=recording).partition(cost, 1)
    replay = Replay(recording)
    PrivateData.open(after, 1, NoNoise(100), channel=replay).partition(cost, 1)
    one, other = (exact_probabilities(counts, cost, rate=0.25) for counts in (before, after))
    wanted = [np.log(one[tuple(cuts)] / other[tuple(cuts)]) for cuts in recording.exchanges[0][1].tolist()]
    loss, _ = replay.total(100)
    assert np.allclose(loss, wanted, atol=1e-12)
    assert np.abs(loss).max() <= 1


def test_huge_costs_leave_the_cheapest_partition():
    """At a large budget the draw is the least-cost partition, without overflow."""
    data = PrivateData.open([10**8, 10**8, 0, 5, 5], 10**6, RandomNoise.seeded(0, 3))
    cuts = data.partition(Deviations(penalty=50.0), 10**6)
    assert np.flatnonzero(cuts[0]).tolist() == [0, 2, 3, 5]
    assert (cuts == cuts[0]).all()


def test_a_cost_without_single_cells_is_refused():
    """Length 1 must be allowed, or some domains could not be covered."""
    with pytest.raises(InvalidInput, match="length 1"):
        opened([1, 2, 3], 1).partition(Deviations(lengths=(2, 3)), 1)


def test_a_statistic_is_computed_once_for_all_trials():
    """What depends on the counts alone is computed once a data vector and shared by its trials."""
    Squares.calls.clear()
    for one in opened([1, 2], 5, epsilon=Fraction(1)).each_trial():
        one.laplace(SquaresTotal(), Fraction(1, 2))
        one.laplace(SquaresTotal(), Fraction(1, 2))
    assert len(Squares.calls) == 1


def test_regions_do_not_share_statistics():
    """Each region computes its own."""
    left, right = PrivateData.open([1, 2, 3, 4], 1, NoNoise(1)).parts([slice(0, 2), slice(2, 4)], 1)
    assert left.laplace(SquaresTotal(), 1).tolist() == [5.0]
    assert right.laplace(SquaresTotal(), 1).tolist() == [25.0]
