"""Trees of counts along a line."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from dpbench.domain import Domain
from dpbench.errors import InvalidInput
from dpbench.mathematics.least_squares import TreeLeastSquares
from dpbench.mathematics.tree import Tree, TreeCounts, complete_tree, without_unmeasured
from reference import tree as reference

COMPLETE = [
    ((1,), 2, 0),
    ((8,), 2, 3),
    ((5,), 2, 3),
    ((27,), 3, 3),
    ((10,), 4, 2),
    ((1, 1), 2, 0),
    ((4, 4), 2, 2),
    ((3, 7), 2, 3),
    ((1, 9), 3, 2),
    ((5, 1), 5, 1),
    ((2, 3, 4), 2, 2),
    ((1, 4, 1), 2, 2),
]


def weights_for(height):
    return np.array([0.5 + 0.25 * level for level in range(height + 1)])


def random_trees(count, **options):
    for seed in range(count):
        yield reference.random_tree(np.random.default_rng(seed), **options)


def every_tree():
    yield from random_trees(60)
    for shape, branching, height in COMPLETE:
        yield complete_tree(Domain(shape), branching, weights_for(height))


def check_shape(tree):
    """Children tile their parent side by side; parents come before children; levels and depths agree."""
    assert (tree.start[0], tree.stop[0]) == (0, len(tree.order))
    seen = [0]
    for node in range(tree.nodes):
        below = reference.children(tree, node)
        if below:
            assert min(below) > node
            assert tree.start[below[0]] == tree.start[node]
            assert tree.stop[below[-1]] == tree.stop[node]
            assert all(tree.stop[a] == tree.start[b] for a, b in itertools.pairwise(below))
        assert all(tree.parent[child] == node for child in below)
        assert all(tree.depth[child] == tree.depth[node] + 1 for child in below)
        seen += below
    assert seen == list(range(tree.nodes))
    assert tree.parent[0] == tree.depth[0] == 0
    assert [node for first, last in tree.levels for node in range(first, last)] == seen
    for level, (first, last) in enumerate(tree.levels):
        assert (tree.depth[first:last] == level).all()
    assert tree.leaves.tolist() == reference.leaves(tree)


def test_trees_are_breadth_first_and_tile():
    """What parent, depth, levels and leaves say is what the lists of children say."""
    for tree in every_tree():
        check_shape(tree)


def test_real_cells_leave_padding_out():
    """Positions of a node that hold a cell of the domain."""
    for tree in every_tree():
        expected = [
            sum(tree.order[position] >= 0 for position in reference.positions(tree, node)) for node in range(tree.nodes)
        ]
        assert tree.real_cells.tolist() == expected


def test_the_sensitivity_is_the_heaviest_path():
    """It bounds the L1 change by any one record, and exceeds the largest by rounding only."""
    for tree in every_tree():
        change = reference.unit_answers(tree).sum(axis=1).max()
        claimed = TreeCounts(tree).sensitivity
        heaviest = max(_path_weight(tree, leaf) for leaf in reference.leaves(tree))
        assert change <= claimed * (1 + 1e-15)
        # the claim is over all leaves, those of padding alone included, where no record can be
        assert claimed == pytest.approx(heaviest, rel=1e-13)
        assert claimed >= heaviest


def _path_weight(tree, node):
    weight = 0.0
    while True:
        weight += float(tree.weight[node])
        if node == 0:
            return weight
        node = int(tree.parent[node])


def test_a_sensitivity_of_whole_weights_is_exact():
    """Three levels of weight 1 cost 3, with no rounding up."""
    assert TreeCounts(complete_tree(Domain((4,)), 2, np.ones(3))).sensitivity == 3.0


def test_a_sensitivity_that_rounds_is_never_below_the_exact_sum():
    """0.1 on each of ten levels: the sum of the floats, taken exactly, does not exceed the claim."""
    tree = complete_tree(Domain((512,)), 2, np.full(10, 0.1))
    exact = 10 * Fraction(0.1)
    assert exact <= Fraction(TreeCounts(tree).sensitivity) <= exact * (1 + Fraction(1, 10**13))


def test_answers_are_weighted_node_counts():
    """One answer for each measured node, w times the records in it."""
    for tree in every_tree():
        x = np.random.default_rng(7).integers(0, 50, size=tree.domain.shape)
        strategy = TreeCounts(tree)
        expected = reference.unit_answers(tree).T @ x.reshape(-1)
        assert strategy.shape == expected.shape
        np.testing.assert_allclose(strategy.answer(x), expected, rtol=1e-13)


@pytest.mark.parametrize(("shape", "branching", "height"), COMPLETE)
def test_a_complete_tree_counts_boxes(shape, branching, height):
    """Node by node, its counts are sums over slices of the zero-padded array; an axis of one cell is not padded."""
    long_axes = [side for side in shape if side > 1]
    x = np.random.default_rng(3).integers(0, 50, size=shape)
    tree = complete_tree(Domain(shape), branching, np.ones(height + 1))
    np.testing.assert_array_equal(
        TreeCounts(tree).answer(x), reference.box_counts(x.reshape(long_axes or [1]), branching, height)
    )
    assert sorted(tree.order[tree.order >= 0].tolist()) == list(range(x.size))
    assert len(tree.order) == branching ** (height * len(long_axes))


def test_a_complete_tree_has_one_weight_a_level():
    """Root first; an unmeasured root has no answer."""
    tree = complete_tree(Domain((3, 4)), 2, np.array([0.0, 2.0, 3.0]))
    assert tree.weight.tolist() == [0.0] + [2.0] * 4 + [3.0] * 16
    assert tree.unmeasured == 1
    assert TreeCounts(tree).shape == (20,)


@pytest.mark.parametrize("weight", [[1.0, 0.0, 1.0], [1.0, 1.0, 0.0], [0.0, -1.0, 1.0]])
def test_a_node_without_weight_is_refused(weight):
    """Only the root may go unmeasured."""
    with pytest.raises(InvalidInput, match="without weight"):
        Tree(
            domain=Domain((2,)),
            order=np.arange(2),
            start=np.array([0, 0, 1]),
            stop=np.array([2, 1, 2]),
            first_child=np.array([1, 3, 3, 3]),
            weight=np.array(weight),
        )


def test_a_single_node_without_weight_is_refused():
    """A root that is a leaf has to be measured."""
    with pytest.raises(InvalidInput, match="without weight"):
        complete_tree(Domain((1,)), 2, np.zeros(1))


def test_taking_unmeasured_nodes_out_leaves_least_squares_unchanged():
    """Dense least squares with the weight-0 nodes left in and the tree without them give the same cells."""
    dropped = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        grown = reference.random_tree(rng, collapse=0.1)
        inner = np.diff(grown.first_child) > 0
        weight = np.where(inner & (rng.random(grown.nodes) < 0.6), 0.0, grown.weight)
        parts = {name: getattr(grown, name) for name in ("domain", "order", "start", "stop", "first_child")}
        pruned = without_unmeasured(**parts, weight=weight)
        check_shape(pruned)
        assert pruned.nodes == len({0, *np.flatnonzero(weight).tolist()})
        dropped += grown.nodes - pruned.nodes

        full = SimpleNamespace(**parts, weight=weight)  # a Tree itself refuses unmeasured nodes
        answers = rng.normal(size=(2, np.count_nonzero(weight)))
        by_node = dict(zip(map(partial(_key, full), reference.measured(full)), answers.T, strict=True))
        matched = np.stack([by_node[_key(pruned, node)] for node in reference.measured(pruned)], axis=1)
        # 1e-11: rounding of a dense least squares problem with condition number below 1e3 on answers near 1
        np.testing.assert_allclose(
            TreeLeastSquares(pruned).solve(matched), reference.least_squares(full, answers), atol=1e-11
        )
    assert dropped > 60


def _key(tree, node):
    """What tells nodes apart in both trees: the interval, and the random weight for an only child."""
    return int(tree.start[node]), int(tree.stop[node]), float(tree.weight[node])
