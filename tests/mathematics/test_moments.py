"""Second moments of ranges along an axis."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench.errors import InvalidWorkload
from dpbench.mathematics.moments import Lengths, Listed, counted, grouped_axes, typical
from dpbench.workloads import AllRange, AxisRanges, Identity, Prefix, RandomRange, RandomSmall, Ranges
from reference import p_identity as reference

LINES = [
    *(Prefix(n) for n in (1, 2, 37)),
    *(AllRange(n) for n in (1, 2, 29)),
    *(kind(n, queries=None) for kind in (RandomRange, RandomSmall) for n in (1, 5, 40)),
    Identity(9),
]


@pytest.mark.parametrize("workload", LINES, ids=repr)
def test_the_moment_is_that_of_the_ranges(workload):
    """Applied to the unit vectors it is E[w w^T]; its diagonal is known without that."""
    ((edges, moment),) = grouped_axes(workload)
    dense = reference.second_moment(workload)
    np.testing.assert_array_equal(edges, np.arange(workload.domain.size + 1))
    np.testing.assert_allclose(moment.dense(), dense, atol=1e-13)
    np.testing.assert_allclose(moment.diagonal, np.diag(dense), atol=1e-14)


def test_the_moment_between_some_cells_is_a_part_of_it():
    """In any order, from running sums alone."""
    moment = Lengths(17, RandomRange(17, queries=None).axes[0])
    some, others = np.array([3, 0, 16]), np.array([16, 8, 3, 2])
    np.testing.assert_allclose(moment.between(some, others), moment.dense()[np.ix_(some, others)], atol=1e-14)


def test_listed_weights_count_squared_and_zeros_not_at_all():
    """The mean is over all queries, those of weight 0 included."""
    workload = Ranges(12, [0, 3, 5, 0, 3], [4, 9, 12, 1, 9], [1, -2, 0.5, 0, 1])
    ((edges, moment),) = grouped_axes(workload)
    groups = reference.grouping(edges)
    dense = reference.second_moment(workload)
    np.testing.assert_allclose(groups.T @ moment.dense() @ groups, dense, atol=1e-14)
    assert 1 not in edges


def test_cells_that_no_range_tells_apart_are_one():
    """Groups end where ranges do; what no range covers is a group with a moment of 0."""
    ((edges, moment),) = grouped_axes(Ranges(100, [3, 40], [30, 60]))
    assert edges.tolist() == [0, 3, 30, 40, 60, 100]
    assert moment.diagonal.tolist() == [0, 0.5, 0, 0.5, 0]


def test_axes_of_a_list_have_moments_of_their_own():
    """Along each axis, the ranges of the boxes with the boxes' weights."""
    boxes = Ranges((4, 6), [[0, 1], [2, 2]], [[4, 3], [3, 6]], [1, 3])
    (_, first), (_, second) = grouped_axes(boxes)
    assert (first.lower.tolist(), first.upper.tolist(), first.share.tolist()) == ([0, 1], [3, 2], [0.5, 4.5])
    assert second.share.tolist() == [0.5, 4.5]


def test_moments_are_values():
    """Equal where their ranges are, whatever the unit of the shares; a key is fit for a file."""
    one, other = (Lengths(9, AxisRanges.up_to(9, 9)) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert one != Lengths(9, AxisRanges.up_to(9, 8))
    ends = np.array([0]), np.array([2])
    assert Listed(3, *ends, np.array([1.0])) == Listed(3, *ends, np.array([2.0]))
    assert Listed(3, *ends, np.array([1.0])) != Listed(4, *ends, np.array([1.0]))
    assert one.key.replace("-", "").isalnum()


def test_many_random_ranges_stand_for_their_distribution():
    """At least as many as the longest axis has cells; fewer are a list of their own."""
    assert typical(RandomSmall((20, 30), queries=30, seed=5)) == RandomSmall((20, 30), queries=None)
    assert typical(RandomRange((20, 30), queries=29)) == RandomRange((20, 30), queries=29)
    listed = RandomRange(20, queries=40).ranges()
    assert typical(listed) is listed
    assert typical(RandomRange(20, queries=None)) == RandomRange(20, queries=None)


def test_a_workload_without_weight_is_refused():
    """In one line that says what to do."""
    with pytest.raises(InvalidWorkload, match=r"^every query of Ranges\(5, 2 ranges\) has weight 0; give at least one"):
        counted(Ranges(5, [0, 1], [2, 3], [0, 0]))
