"""H: a binary hierarchy with equal noise on every level."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench import algorithms
from dpbench.domain import Domain
from dpbench.errors import InvalidInput, Unsupported
from dpbench.mathematics.tree import complete_tree
from dpbench.privacy import Recording
from dpbench.workloads import AllRange, Prefix, RandomRange
from reference import tree as reference

H = algorithms.get("H")


@pytest.mark.parametrize(
    ("n", "branching", "height"), [(1, 2, 0), (2, 2, 1), (5, 2, 3), (256, 2, 8), (27, 3, 3), (28, 3, 4)]
)
def test_every_level_is_measured_the_root_included(n, branching, height):
    """h + 1 levels over a padded domain, each record in one node of each."""
    recording = Recording()
    x = np.random.default_rng(0).integers(0, 9, size=n)
    algorithms.get("H", branching=branching)._outcome(x, Prefix(n), 0.5, channel=recording, seed=0)
    ((question, _),) = recording.exchanges
    assert question.sensitivity == height + 1
    np.testing.assert_array_equal(question.truth, reference.box_counts(x, branching, height))


@pytest.mark.parametrize("branching", [2, 3])
@pytest.mark.parametrize("workload", [Prefix(1), Prefix(13), Prefix(27), AllRange(8), RandomRange(20, 9)], ids=repr)
def test_the_expected_error_is_the_dense_trace(workload, branching):
    """2 (h + 1)^2 / epsilon^2 trace(W (A^T A)^+ W^T) / q."""
    size = workload.domain.size
    height = next(h for h in range(9) if branching**h >= size)
    tree = complete_tree(Domain((size,)), branching, np.ones(height + 1))
    expected = 2 * (height + 1) ** 2 / 0.25 * reference.mean_variance(tree, workload.matrix())
    assert algorithms.get("H", branching=branching).expected_error(workload, 0.5) == pytest.approx(expected, rel=1e-11)


def test_two_axes_are_refused():
    """The publication has one."""
    with pytest.raises(Unsupported, match="1-D"):
        H.run(np.ones((2, 2)), AllRange((2, 2)), 1, seed=0)


def test_a_branching_below_two_is_refused():
    """The message quotes it."""
    with pytest.raises(InvalidInput, match="branching is 1"):
        algorithms.get("H", branching=1)
