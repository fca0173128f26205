from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from dpbench.audit.many_trials import ManyTrials
from dpbench.domain import Domain
from dpbench.errors import InvalidInput
from dpbench.mathematics.box_tree import BoxTree
from dpbench.privacy import PrivateData, PrivTree, RandomNoise
from privacy.mechanisms.questions import decompositions


def mechanism_on(*shape, threshold=0.0):
    return PrivTree(BoxTree(Domain(shape)), threshold)


def path(depth):
    """A chain of nested regions, each with a leaf beside it: the longest path that so many nodes can have."""
    first_child = np.r_[1, 3, np.repeat(np.arange(5, 2 * depth + 5, 2), 2)][: 2 * depth + 2]
    return np.minimum(first_child, 2 * depth + 1)


@dataclass(frozen=True)
class Chain:
    """Counts of the regions that hold the first cell at every depth; every other region is empty."""

    depth: int
    fanout: int = 2
    sensitivity: int = 1

    @property
    def first_child(self):
        return path(self.depth)

    def counts(self, counts):
        total = np.zeros(2 * self.depth + 1)
        total[np.r_[0, np.arange(1, 2 * self.depth, 2)]] = counts[0]
        return total


@pytest.mark.parametrize("shape", [(8,), (7,), (2, 4), (3, 3)])
def test_the_largest_loss_is_that_of_the_worst_decomposition(shape):
    """The dynamic programme against every decomposition, both directions, attained."""
    mechanism = mechanism_on(*shape)
    outcomes = np.array(list(decompositions(mechanism.first_child)))
    rng = np.random.default_rng(0)
    for loss in (Fraction(1, 2), Fraction(5)):
        counts = rng.integers(0, 9, shape)
        more = counts.copy()
        more.flat[rng.integers(more.size)] += 1
        one, other, level = mechanism.truth(counts), mechanism.truth(more), mechanism.level(loss)
        worst = np.abs(mechanism.log_ratio(outcomes, one, other, level)).max()
        assert mechanism.largest_loss(one, other, level) == pytest.approx(worst, rel=1e-12)
        assert worst <= float(loss)


def test_an_empty_tree_is_cut_as_the_paper_says():
    """The root with probability 1/2, all below it with 1 / (2 B): 4,000 draws, false alarm 1e-6 each (4.9 sd)."""
    mechanism = mechanism_on(16, 16)
    truth, level = mechanism.truth(np.zeros((16, 16), dtype=int)), mechanism.level(Fraction(1, 10))
    cut = mechanism.draw(truth, level, ManyTrials([3], 4000))
    for asked, chance in ((cut[:, 0], 1 / 2), (cut[cut[:, 0], 1:5], 1 / 8)):
        assert abs(asked.mean() - chance) < 4.9 * np.sqrt(chance * (1 - chance) / asked.size)


@pytest.mark.parametrize("loss", [Fraction(1, 100), Fraction(1), Fraction(10), Fraction(50)])
def test_the_depth_costs_nothing(loss):
    """A path of 100 regions, whatever its count: never more than is paid, at small and at large losses."""
    mechanism = PrivTree(Chain(100))
    level, shares = mechanism.level(loss), []
    for count in np.unique(np.geomspace(1, 60 * (1 + level), 30).astype(int)):
        one, other = (mechanism.truth(np.array([each])) for each in (count, count - 1))
        shares.append(mechanism.largest_loss(one, other, level) / float(loss))
    assert max(shares) <= 1
    assert max(shares) > 0.6


def test_the_loss_is_nearly_attained_where_it_is_small():
    """With noise much larger than a record and many children the series of the proof is filled: 0.97 of the price."""
    mechanism = PrivTree(Chain(4, fanout=32))
    level = mechanism.level(Fraction(1, 100))
    count = int(level * np.log(32)) + 2  # the root at the threshold, the next region just above its floor
    one, other = (mechanism.truth(np.array([each])) for each in (count, count - 1))
    assert 0.0097 < mechanism.largest_loss(one, other, level) <= 0.01


def test_with_much_budget_all_records_end_in_cells_of_their_own():
    """Every box with records is cut down to its cells, and no box without."""
    counts = np.array([[0, 5, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [3, 0, 0, 9]])
    data = PrivateData.open(counts, 10**6, RandomNoise.seeded(0, 2))
    tree = BoxTree(data.domain)
    for cut in data.ask(PrivTree(tree), 10**6):
        assert np.array_equal(cut, (tree.counts(counts) > 0) & (np.diff(tree.first_child) > 0))


@pytest.mark.parametrize("shape", [(1,), (2,), (13,), (1, 7), (5, 12), (3, 4, 5)])
def test_any_domain_is_decomposed(shape):
    """Odd sides, thin boxes, single cells: leaves tile the domain, and every outcome has a probability."""
    mechanism = mechanism_on(*shape)
    truth, level = mechanism.truth(np.arange(np.prod(shape)).reshape(shape)), mechanism.level(Fraction(2))
    cut = mechanism.draw(truth, level, RandomNoise.seeded(1, 5))
    assert np.isfinite(mechanism.log_density(cut, truth, level)).all()
    for each in cut:
        assert truth[mechanism.tree.leaves(each)].sum() == truth[0]


def test_a_million_cells_and_a_large_plane():
    """2^20 cells on a line and 256 x 256: two trials each, drawn and priced."""
    for shape in ((2**20,), (256, 256)):
        counts = np.random.default_rng(0).poisson(0.01, shape)
        counts.flat[:40] = 5000
        mechanism = mechanism_on(*shape)
        truth, level = mechanism.truth(counts), mechanism.level(Fraction(1, 10))
        cut = mechanism.draw(truth, level, RandomNoise.seeded(0, 2))
        assert (cut.sum(axis=1) > 40).all()
        assert np.isfinite(mechanism.log_density(cut, truth, level)).all()


def test_impossible_outcomes_have_no_probability():
    """A region that is cut below one that is not, and a cell that is cut."""
    mechanism = mechanism_on(4)
    outcomes = np.zeros((3, 7), dtype=bool)
    outcomes[0, 1], outcomes[1, [0, 1, 3]] = True, True
    logs = mechanism.log_density(outcomes, mechanism.truth(np.ones(4, dtype=int)), 1.0)
    assert np.isfinite(logs).tolist() == [False, False, True]


@pytest.mark.parametrize(
    ("first_child", "counts", "cause"),
    [
        ([1, 3, 3, 3], [5, 9, 0], "more records than the region around it"),
        ([1, 3, 3, 3], [5, 2], "another shape than \\(3,\\)"),
        ([1, 4, 4, 4, 4], [5, 2, 1, 1], "more children than its fan-out"),
        ([0, 3, 3, 3], [5, 2, 1], "no tree"),
        ([1, 3, 3, 3], [5, np.nan, 1], "NaN"),
    ],
)
def test_what_is_no_tree_of_counts_is_refused(first_child, counts, cause):
    """In one line, without quoting a count."""

    class Given:
        sensitivity = 1
        fanout = 2

        def __init__(self):
            self.first_child = np.array(first_child)

        def counts(self, _):
            return np.array(counts)

    with pytest.raises(InvalidInput, match=cause):
        PrivateData.open([1, 2], 1, RandomNoise.seeded(0, 1)).ask(PrivTree(Given()), 1)
