"""HbW: a hierarchy whose branchings and weights fit the workload. The choice: tests/mathematics."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench import algorithms
from dpbench.errors import InvalidEpsilon, InvalidWorkload
from dpbench.mathematics.block_tree import block_tree
from dpbench.mathematics.weighted_tree import fit_hierarchy
from dpbench.privacy import Recording
from dpbench.workloads import AllRange, Identity, Prefix, RandomRange, RandomSmall, Ranges
from reference import tree as reference
from reference.sampling import standard_errors

HBW = algorithms.get("HbW")


def asked(workload):
    """The one question that a run asks."""
    recording = Recording()
    HBW._outcome(np.zeros(workload.domain.shape, dtype=int), workload, 0.5, channel=recording, seed=0)
    ((question, _),) = recording.exchanges
    return question


@pytest.mark.parametrize(
    ("workload", "trials"), [(Prefix(256), 1000), (Prefix(1024), 400), (RandomRange((32, 32)), 600)], ids=repr
)
def test_sampled_errors(workload, trials):
    """The mean squared error of runs on nothing is within 4 standard errors of what is expected.

    False alarms: 3 comparisons at 6.3e-5 each, so one choice of seeds in 5000.
    """
    noise = HBW.run(np.zeros(workload.domain.shape, dtype=int), workload, 1, trials=trials, seed=2013)
    assert abs(standard_errors(workload.mean_squared(noise), HBW.expected_error(workload, 1))) < 4


@pytest.mark.parametrize(
    "workload",
    [Prefix(1), Prefix(70), AllRange((5, 12)), RandomRange((3, 4, 2), 20), Ranges(9, [0, 2], [9, 4], [1, 3])],
    ids=repr,
)
def test_the_expected_error_is_the_dense_trace(workload):
    """2 / epsilon^2 trace(W (A^T A)^+ W^T) / q, and one record moves the answers by 1."""
    hierarchy = fit_hierarchy(workload)
    tree = block_tree(workload.domain, hierarchy.sides, hierarchy.weights)
    expected = 8 * reference.mean_variance(tree, workload.matrix())
    assert HBW.expected_error(workload, 0.5) == pytest.approx(expected, rel=1e-10)
    assert float(asked(workload).sensitivity) == pytest.approx(1, rel=1e-14)
    np.testing.assert_allclose(reference.unit_answers(tree).sum(axis=1), 1, rtol=1e-14)


@pytest.mark.parametrize(
    "workload",
    [Prefix(256), Prefix(700), AllRange(300), RandomRange((30, 30)), RandomRange((20, 7), 9), AllRange((4, 4, 4))],
    ids=repr,
)
def test_it_is_never_worse_than_trees_it_chooses_from(workload):
    """Identity and Hb, whose branching is one of those tried, are hierarchies too."""
    for other in ("Identity", "Hb"):
        error = algorithms.get(other).expected_error(workload, 1)
        assert HBW.expected_error(workload, 1) <= error * (1 + 1e-9)


@pytest.mark.parametrize("workload", [Identity(30), RandomSmall(256), Prefix(2)], ids=repr)
def test_a_flat_tree_is_identity(workload):
    """One measured level of cells: the same estimates, draw for draw."""
    identity, x = algorithms.get("Identity"), np.arange(workload.domain.size)
    np.testing.assert_allclose(HBW.run(x, workload, 1, 2, 7), identity.run(x, workload, 1, 2, 7), rtol=1e-12)


@pytest.mark.parametrize("shape", [(1,), (1, 1), (1, 1, 1)])
def test_one_cell_gets_noise_of_one_over_epsilon(shape):
    """A single node."""
    assert asked(AllRange(shape)).shape == (1,)
    assert HBW.expected_error(AllRange(shape), 1) == 2


def test_a_long_thin_domain_is_not_padded_to_a_square():
    """Blocks are cut to the short axis: 4 x 4000 has a tree of thousands of nodes, not of millions."""
    assert np.prod(asked(RandomRange((4, 4000))).shape) < 40_000


def test_bad_input_is_refused():
    """A budget of the wrong kind, a workload without weight: one line each."""
    with pytest.raises(InvalidEpsilon):
        HBW.expected_error(Prefix(3), None)
    with pytest.raises(InvalidWorkload, match="every query of .* has weight 0"):
        HBW.run(np.ones(5), Ranges(5, [0], [3], [0]), 1, seed=0)


def test_the_published_form_is_the_private_one():
    """Nothing differs."""
    published = algorithms.get("HbW", variant="published")
    assert published.is_private
    x = np.arange(40)
    np.testing.assert_array_equal(published.run(x, Prefix(40), 1, 2, 3), HBW.run(x, Prefix(40), 1, 2, 3))
