"""Trees of nested blocks."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench.domain import Domain
from dpbench.mathematics.block_tree import block_shapes, block_tree
from dpbench.mathematics.tree import TreeCounts, complete_tree


def shapes(domain, sides):
    return [tuple(shape) for shape in block_shapes(Domain(domain), np.array([sides], dtype=np.int64))[0].tolist()]


def test_blocks_are_squares_under_a_root_that_takes_in_the_domain():
    """The root is padded to whole blocks of the level below."""
    assert shapes((10, 10), (6, 3, 1)) == [(12, 12), (6, 6), (3, 3), (1, 1)]
    assert shapes((256,), (80, 10, 1)) == [(320,), (80,), (10,), (1,)]
    assert shapes((1,), ()) == [(1,)]


def test_blocks_are_cut_to_short_axes():
    """Padded to a multiple of the block below, so that blocks nest; an axis of one cell is left alone."""
    assert shapes((4, 1, 100), (64, 8, 1)) == [(4, 1, 128), (4, 1, 64), (4, 1, 8), (1, 1, 1)]
    assert shapes((20, 100), (64, 8, 1)) == [(24, 128), (24, 64), (8, 8), (1, 1)]


@pytest.mark.parametrize(
    ("shape", "branching", "height"), [((27,), 3, 3), ((20,), 3, 3), ((8, 8), 2, 3), ((7, 7), 2, 3)]
)
def test_equal_branchings_give_the_complete_tree(shape, branching, height):
    """The same nodes, order and weights, where the padding is the same."""
    weights = np.arange(height + 1) / 10
    sides = [branching**level for level in range(height - 1, -1, -1)]
    ours, theirs = block_tree(Domain(shape), sides, weights), complete_tree(Domain(shape), branching, weights)
    for part in ("order", "start", "stop", "first_child", "weight"):
        np.testing.assert_array_equal(getattr(ours, part), getattr(theirs, part))


@pytest.mark.parametrize(
    ("shape", "sides"),
    [((10, 10), (6, 3, 1)), ((4, 1, 17), (8, 4, 1)), ((20, 9), (6, 1)), ((5,), (1,)), ((2, 3), (1,))],
)
def test_a_node_counts_the_records_of_its_block(shape, sides):
    """Every node of a level, in some order, is a block of that level's shape, and each cell is in one of them."""
    domain = Domain(shape)
    tree = block_tree(domain, sides, np.ones(len(sides) + 1))
    x = np.random.default_rng(0).integers(0, 50, size=shape)
    answers = TreeCounts(tree).answer(x)
    for (first, last), block in zip(tree.levels, shapes(shape, sides), strict=True):
        blocks = {}
        for cell in np.ndindex(shape):
            place = tuple(np.array(cell) // block)
            blocks[place] = blocks.get(place, 0) + x[cell]
        padding = (last - first) - len(blocks)
        assert sorted(answers[first:last]) == sorted([*blocks.values(), *[0] * padding])
        assert last - first == np.prod(-(-np.array(shapes(shape, sides)[0]) // block))


def test_weights_go_by_level():
    """A record moves the answers by the sum of the levels' weights."""
    tree = block_tree(Domain((10,)), (5, 1), (0.0, 0.25, 0.75))
    assert TreeCounts(tree).sensitivity == pytest.approx(1, rel=1e-15)
    assert TreeCounts(tree).shape == (2 + 10,)
