import numpy as np
import pytest

from dpbench.domain import Domain
from dpbench.mathematics.box_tree import BoxTree

SHAPES = [(1,), (2,), (13,), (16,), (1, 1), (1, 7), (5, 12), (64, 5), (4, 4), (3, 4, 5)]


def boxes(tree):
    return [tuple(slice(a, b) for a, b in zip(*each, strict=True)) for each in zip(tree.lower, tree.upper, strict=True)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_children_tile_their_box_down_to_single_cells(shape):
    """Every cell of a box is in exactly one of its children; a box without children is one cell."""
    tree = BoxTree(Domain(shape))
    inside = boxes(tree)
    for node, box in enumerate(inside):
        children = range(tree.first_child[node], tree.first_child[node + 1])
        covered = np.zeros(shape, dtype=int)
        for child in children:
            covered[inside[child]] += 1
        wanted = np.zeros(shape, dtype=int)
        wanted[box] = bool(children)
        assert np.array_equal(covered, wanted)
        assert children or wanted[box].size == 1
        assert len(children) <= tree.fanout


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_counts_are_the_sums_of_boxes(shape):
    """From the summed-area table, and by adding up."""
    tree = BoxTree(Domain(shape))
    counts = np.random.default_rng(0).integers(0, 9, shape)
    assert tree.counts(counts).tolist() == [int(counts[box].sum()) for box in boxes(tree)]


def test_long_boxes_are_cut_along_their_length():
    """A strip is halved until it is nearly square; only then are both axes cut."""
    tree = BoxTree(Domain((32, 4)))
    sides = (tree.upper - tree.lower).tolist()
    assert sides[:4] == [[32, 4], [16, 4], [16, 4], [8, 4]]
    assert [4, 4] in sides
    assert [2, 2] in sides
    assert [2, 4] not in sides


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_labels_say_which_leaf_each_cell_is_in(shape):
    """Of a random decomposition, painted box by box."""
    tree, rng = BoxTree(Domain(shape)), np.random.default_rng(1)
    cut = (rng.random(tree.nodes) < 0.6) & (np.diff(tree.first_child) > 0)
    reached = np.concatenate([[True], np.repeat(cut, np.diff(tree.first_child))])
    for node in range(tree.nodes):  # a region is cut only where the region around it is
        cut[node] &= reached[node]
        reached[tree.first_child[node] : tree.first_child[node + 1]] = cut[node]
    leaves = tree.leaves(cut)
    painted = np.full(shape, -1)
    for number, leaf in enumerate(leaves):
        painted[boxes(tree)[leaf]] = number
    assert np.array_equal(tree.labels(leaves), painted.reshape(-1))
