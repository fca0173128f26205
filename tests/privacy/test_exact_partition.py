"""Partitions in whole numbers: the law of the mechanism, and a loss that includes what rounding costs."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dpbench.mathematics.buckets import MedianCost
from dpbench.privacy.exact_noise import ExactNoise
from dpbench.privacy.exact_partition import ExactPartition
from dpbench.privacy.expansion import exp_bounds
from dpbench.privacy.mechanisms import Partition

CELLS = 5


def every_partition(cells):
    """All sequences of cuts, allowed or not."""
    return [np.array([1, *inner, 1], dtype=bool) for inner in product((0, 1), repeat=cells - 1)]


def law(counts, cost, loss):
    mechanism = Partition(cost, len(counts))
    truth = mechanism.exact_truth(cost.statistic.of(np.array(counts)))
    prices = [Fraction(float(np.exp(-cost.penalty - mechanism.level(loss) * extra))) for extra in cost.surcharges]
    return ExactPartition(truth, mechanism.lengths, prices, loss, mechanism.claim)


COSTS = [MedianCost(CELLS, penalty=0.7), MedianCost(CELLS, penalty=0.6, surcharge=1.5, aligned=True)]


@pytest.mark.parametrize("cost", COSTS, ids=["any", "aligned"])
@pytest.mark.parametrize("loss", [Fraction(1, 3), Fraction(8)], ids=str)
def test_no_partition_tells_neighbours_apart_by_more_than_the_loss(cost, loss):
    """The ratio of exact chances, over all partitions and many pairs, below exp(loss) rounded down; no tolerance."""
    most = Fraction(1 << 200, exp_bounds(loss, 200)[1])  # at most exp(loss)
    rng = np.random.default_rng(1)
    closest = Fraction(0)
    for _ in range(40):
        counts = rng.choice([0, 1, 7, 40], CELLS)
        more = counts.copy()
        more[rng.integers(CELLS)] += 1
        one, other = law(counts, cost, loss), law(more, cost, loss)
        chances = [(one.chance(cuts), other.chance(cuts)) for cuts in every_partition(CELLS)]
        assert sum(p for p, _ in chances) == 1
        for p, q in chances:
            assert (p == 0) == (q == 0)
            if p:
                closest = max(closest, p / q, q / p)
                assert p <= most * q
                assert q <= most * p
    assert closest > 1


def test_a_rate_that_is_too_high_is_seen():
    """One record decides between a bucket and two cells: at four times the rate the loss is passed."""
    loss, cost = Fraction(1, 2), MedianCost(2, penalty=0.0)
    ratios = []
    for factor in (1, 4):
        chances = [law(x, cost, factor * loss).chance(np.array([1, 0, 1], bool)) for x in ([0, 9], [0, 10])]
        ratios.append(chances[0] / chances[1])
    most = Fraction(1 << 200, exp_bounds(loss, 200)[1])
    assert ratios[0] <= most < ratios[1]


@pytest.mark.parametrize("cost", COSTS, ids=["any", "aligned"])
def test_chances_are_those_of_the_laboratory(cost):
    """Every partition, to the precision of floats."""
    counts, loss = np.array([3, 0, 4, 4, 9]), Fraction(1, 2)
    mechanism, exact = Partition(cost, CELLS), law(counts, cost, loss)
    truth = mechanism.truth(cost.statistic.of(counts))
    for cuts in every_partition(CELLS):
        expected = np.exp(mechanism.log_density(cuts[np.newaxis], truth, mechanism.level(loss)))[0]
        assert float(exact.chance(cuts)) == pytest.approx(expected, rel=1e-8)


def test_draws_have_their_chances():
    """5,000 draws; false alarms once in 10,000."""
    from scipy.stats import chisquare

    exact = law([3, 0, 4, 4, 9], COSTS[0], Fraction(2))
    noise = ExactNoise(np.random.default_rng(5).bytes)
    drawn = [exact.draw(noise) for _ in range(5_000)]
    allowed = [cuts for cuts in every_partition(CELLS) if exact.chance(cuts) * 5_000 > 5]
    found = [sum((cuts == each).all() for each in drawn) for cuts in allowed]
    expected = np.array([float(exact.chance(cuts)) for cuts in allowed])
    rest = [5_000 - sum(found)], [1 - expected.sum()]
    assert chisquare([*found, *rest[0]], np.array([*expected, *rest[1]]) * 5_000).pvalue > 1e-4


@pytest.mark.parametrize("loss", [Fraction(1, 10**12), Fraction(10**9)], ids=["tiny", "huge"])
def test_extremes_are_drawn(loss):
    """Costs of 10^12 and losses of any size: numbers are as long as they have to be, and no longer."""
    counts = np.array([0, 10**12, 0, 10**12, 5, 5, 5, 5])
    cuts = law(counts, MedianCost(8, penalty=1.0), loss).draw(ExactNoise())
    assert cuts[0]
    assert cuts[-1]
    if loss > 1:  # cells that differ are cut apart; among equal ones the penalty decides, whatever the loss
        assert cuts[:5].all()


def test_weights_far_apart_are_drawn_by_their_ratio():
    """Weights whose distance is far beyond any unit, and weights that are cut by the unit."""
    noise = ExactNoise(np.random.default_rng(2).bytes)
    assert {noise.choose_scaled([(1, 0), (1, -(10**15))], 64) for _ in range(100)} == {0}
    # 1, 3/8 and 1/8 with a unit of 1/2: the last two are rests, drawn again and again
    found = np.bincount([noise.choose_scaled([(1, 0), (3, -3), (1, -3)], 2) for _ in range(15_000)])
    assert np.abs(found / 15_000 - np.array([8, 3, 1]) / 12).max() < 0.02  # 5 standard errors
