"""Totals of disjoint groups of cells."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench.errors import InvalidInput
from dpbench.mathematics.groups import GroupTotals
from dpbench.privacy import NoNoise, PrivateData


def brute_force(labels, counts, groups):
    return [sum(int(count) for label, count in zip(labels, counts, strict=True) if label == g) for g in range(groups)]


@pytest.mark.parametrize("shape", [(1,), (13,), (3, 5), (2, 3, 4)])
def test_each_trial_gets_the_totals_of_its_own_groups(shape):
    """Records are added up label by label, in row-major order."""
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 10**12, size=shape)
    labels = rng.integers(0, 4, size=(3, counts.size))
    found = GroupTotals(labels, 6).answer(counts)
    np.testing.assert_array_equal(found, [brute_force(row, counts.reshape(-1), 6) for row in labels])
    np.testing.assert_array_equal(GroupTotals(labels[1], 6).answer(counts), found[1])


def test_totals_are_exact_up_to_the_largest_allowed():
    """2^53 records in all: not one is lost."""
    counts = np.array([2**53 - 3, 1, 1, 1])
    np.testing.assert_array_equal(GroupTotals(np.zeros(4, dtype=np.int32), 1).answer(counts), [2**53])
    np.testing.assert_array_equal(GroupTotals(np.array([0, 1, 1, 0]), 2).answer(counts), [2**53 - 2, 2])


def test_a_cell_may_be_in_no_group():
    """The label -1 leaves a cell out, and a group without cells has no records."""
    np.testing.assert_array_equal(GroupTotals(np.array([-1, 2, -1]), 4).answer(np.array([5, 6, 7])), [0, 0, 6, 0])


def test_any_whole_number_type_will_do():
    """Labels near the top of a small type do not wrap around."""
    labels = np.array([255, 0], dtype=np.uint8)
    assert GroupTotals(labels, 256).answer(np.array([3, 4]))[[255, 0]].tolist() == [3, 4]


@pytest.mark.parametrize("per_trial", [False, True])
def test_a_handle_answers_it(per_trial):
    """One answer a group, one record moves them by 1."""
    labels = np.array([0, 1, 1])
    strategy = GroupTotals(np.stack([labels, labels]) if per_trial else labels, 2)
    data = PrivateData.open([1, 2, 3], 1, NoNoise(2))
    np.testing.assert_array_equal(data.laplace(strategy, 1), [[1, 5], [1, 5]])
    assert strategy.sensitivity == 1
    assert strategy.shape == (2,)


@pytest.mark.parametrize(
    ("labels", "groups", "words"),
    [
        (np.array([0, 3]), 3, r"labels run from 0 to 3; give -1 \.\.\. 2"),
        (np.array([-2, 1]), 3, "labels run from -2 to 1"),
        (np.array([0.0, 1.0]), 3, "float64"),
        (np.zeros((1, 1, 2), dtype=int), 3, "shape"),
    ],
)
def test_bad_labels_are_refused(labels, groups, words):
    """In one line that quotes them."""
    with pytest.raises(InvalidInput, match=words):
        GroupTotals(labels, groups)


def test_labels_for_another_domain_are_refused():
    """Every cell needs its label."""
    with pytest.raises(InvalidInput, match="2 labels for 3 cells"):
        GroupTotals(np.array([0, 1]), 2).answer(np.array([1, 2, 3]))
