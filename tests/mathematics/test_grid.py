"""Grids and boxes of cells."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench.domain import Domain
from dpbench.errors import InvalidInput
from dpbench.mathematics.grid import BoxCounts, GridCounts, SummedAreas, box_tree, nearly_equal, steps
from dpbench.mathematics.kernels.boxes import cut_boxes, long_boxes, quarters
from dpbench.mathematics.kernels.grid import cut_into_squares
from reference.grid import block_average, labels_of, square_labels

SHAPES = [(1,), (13,), (1, 1), (5, 12), (1, 7), (4, 6, 3), (2, 1, 3, 2)]


def counts_on(shape):
    return np.random.default_rng(len(shape)).integers(0, 2**40, size=shape)


def random_boxes(shape, rng, cuts=6):
    """Boxes that tile a domain, by random cuts."""
    boxes = [((0,) * len(shape), shape)]
    for _ in range(cuts):
        low, high = boxes.pop(int(rng.integers(len(boxes))))
        axis = int(rng.integers(len(shape)))
        if high[axis] - low[axis] < 2:
            boxes.append((low, high))
            continue
        cut = int(rng.integers(low[axis] + 1, high[axis]))
        boxes.append((low, (*high[:axis], cut, *high[axis + 1 :])))
        boxes.append(((*low[:axis], cut, *low[axis + 1 :]), high))
    lower, upper = zip(*boxes, strict=True)
    return np.array(lower), np.array(upper)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_grid_counts_and_spreads(shape):
    """Every cell of the grid by itself, exactly; spread evenly over its cells, for many trials at once."""
    x = counts_on(shape)
    for step in (1, 2, 5, 100):
        grid = GridCounts(Domain(shape), tuple(steps(side, step) for side in shape))
        labels = square_labels(shape, step)
        answer = grid.answer(SummedAreas().of(x))
        assert answer.shape == grid.shape == tuple(-(-side // step) for side in shape)
        assert [*answer.reshape(-1)] == [x[labels == part].sum() for part in range(labels.max() + 1)]
        np.testing.assert_array_equal(grid.sizes.reshape(-1), np.bincount(labels.reshape(-1)))
        np.testing.assert_allclose(grid.spread(np.stack([answer, 2 * answer]))[1], 2 * block_average(x, labels))
        np.testing.assert_array_equal(labels_of(shape, *grid.boxes), labels)


def test_cuts():
    """Every so many cells, or nearly equal parts."""
    assert [*steps(7, 3)] == [0, 3, 6, 7]
    assert [*steps(6, 3)] == [0, 3, 6]
    assert [*steps(2, 9)] == [0, 2]
    assert [*nearly_equal(7, 3)] == [0, 2, 4, 7]
    assert [*nearly_equal(3, 3)] == [0, 1, 2, 3]


@pytest.mark.parametrize("cuts", [([0, 2], [0, 3, 3]), ([0, 1], [0, 3]), ([1, 2], [0, 3]), ([0, 2, 1, 2], [0, 3])])
def test_a_grid_that_does_not_tile_its_domain_is_refused(cuts):
    """Its claim of sensitivity 1 rests on that."""
    with pytest.raises(InvalidInput, match="ascend from 0 to each side"):
        GridCounts(Domain((2, 3)), tuple(map(np.array, cuts)))


@pytest.mark.parametrize("shape", SHAPES)
def test_boxes_count_and_spread(shape):
    """Each box by itself, exactly; spread evenly over its cells."""
    rng, x = np.random.default_rng(0), counts_on(shape)
    for _ in range(5):
        lower, upper = random_boxes(shape, rng)
        boxes, labels = BoxCounts(Domain(shape), lower, upper), labels_of(shape, lower, upper)
        np.testing.assert_array_equal(boxes.labels, labels.reshape(-1))
        answer = boxes.answer(SummedAreas().of(x))
        assert [*answer] == [x[labels == box].sum() for box in range(len(lower))]
        np.testing.assert_array_equal(boxes.sizes, np.bincount(labels.reshape(-1)))
        np.testing.assert_allclose(boxes.spread(answer), block_average(x, labels))


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        ([[0, 0], [1, 2]], [[2, 3], [3, 4]]),
        ([[0, 0]], [[3, 5]]),
        ([[-1, 0]], [[3, 4]]),
        ([[1, 1]], [[1, 2]]),
    ],
    ids=["overlap", "outside", "negative", "empty"],
)
@pytest.mark.parametrize("others", [0, 4], ids=["few", "many"])
def test_boxes_that_are_not_disjoint_boxes_of_cells_are_refused(lower, upper, others):
    """Their claim of sensitivity 1 rests on that; few are looked at in pairs, many are painted."""
    far = [[4, column] for column in range(others)]
    lower, upper = lower + far, upper + [[5, column + 1] for _, column in far]
    with pytest.raises(InvalidInput, match="boxes of 5x4 overlap, are empty or lie outside"):
        BoxCounts(Domain((5, 4)), np.array(lower), np.array(upper))


def test_boxes_need_not_tile_the_domain():
    """Cells in none have the label -1."""
    boxes = BoxCounts(Domain((2, 3)), np.array([[0, 1]]), np.array([[2, 2]]))
    np.testing.assert_array_equal(boxes.labels, [-1, 0, -1, -1, 0, -1])


@pytest.mark.parametrize("shape", [(9, 7), (1, 12), (16, 2), (1, 1)])
@pytest.mark.parametrize("single_cells", [False, True])
def test_cutting_in_two(shape, single_cells):
    """Every box that is longer than one cell, at the boundary that was chosen; parts know whose they are."""
    rng = np.random.default_rng(1)
    lower, upper = random_boxes(shape, rng, cuts=40)
    owner = 100 + np.arange(len(lower))
    for axis in range(2):
        long = upper[:, axis] - lower[:, axis] > 1
        low, high = long_boxes(lower, upper, axis)
        np.testing.assert_array_equal(low, lower[long])
        np.testing.assert_array_equal(high, upper[long])
        chosen = rng.integers(0, high[:, axis] - low[:, axis] - 1)
        low, high, owners = cut_boxes(lower, upper, axis, chosen, owner, single_cells)
        kept = np.ones(len(lower), dtype=bool) if single_cells else (upper - lower > 1).any(axis=1)
        np.testing.assert_array_equal(owners, np.repeat(owner, np.where(kept, 1 + long, 0)))
        np.testing.assert_array_equal(
            np.prod(upper - lower, axis=1)[kept],
            [np.prod(high - low, axis=1)[owners == each].sum() for each in owner[kept]],
        )
        cuts = high[:-1, axis][owners[:-1] == owners[1:]]
        np.testing.assert_array_equal(cuts, lower[long, axis] + 1 + chosen)
        np.testing.assert_array_equal(low[1:, axis][owners[:-1] == owners[1:]], cuts)


@pytest.mark.parametrize("shape", SHAPES)
def test_cutting_into_squares(shape):
    """Every so many cells from each box's corner, row by row."""
    rng = np.random.default_rng(2)
    lower, upper = random_boxes(shape, rng)
    side = rng.integers(1, 6, size=len(lower))
    low, high, many = cut_into_squares(lower, upper, side)
    wanted = []
    for a, b, step in zip(lower, upper, side, strict=True):
        starts = np.meshgrid(*(np.arange(x, y, step) for x, y in zip(a, b, strict=True)), indexing="ij")
        wanted.append(np.stack(starts, axis=-1).reshape(-1, len(shape)))
    np.testing.assert_array_equal(low, np.concatenate(wanted))
    np.testing.assert_array_equal(many, [len(part) for part in wanted])
    owner = np.repeat(np.arange(len(lower)), many)
    np.testing.assert_array_equal(high, np.minimum(low + side[owner][:, None], upper[owner]))


@pytest.mark.parametrize("first", [0, 1])
def test_quarters(first):
    """The middle of both axes, larger parts first, a side of one cell whole, a single cell not at all."""
    lower, upper = np.array([[0, 0], [5, 0], [5, 3], [6, 3]]), np.array([[5, 3], [6, 3], [6, 4], [8, 4]])
    low, high, fanout, begins = quarters(lower, upper, first, 2, 0)
    np.testing.assert_array_equal(begins[:3], [0, 4, 12])
    np.testing.assert_array_equal(fanout[:12], [4, 2, 0, 2, 4, *([2, 4] if first == 0 else [4, 2]), 2, 2, 0, 0, 0])
    np.testing.assert_array_equal(fanout[12:], 0)
    sizes = np.prod(high - low, axis=1)
    np.testing.assert_array_equal(sizes[:4], [15, 3, 1, 2])
    np.testing.assert_array_equal(sizes[4:12], [6, 3, 4, 2, 2, 1, 1, 1] if first == 0 else [6, 4, 3, 2, 2, 1, 1, 1])
    # with room in front for others they are the same
    later = quarters(lower, upper, first, 2, 3)
    np.testing.assert_array_equal(later[0][3:], low)
    np.testing.assert_array_equal(later[1][3:], high)
    np.testing.assert_array_equal(later[2][3:], fanout)
    np.testing.assert_array_equal(later[3], begins + 3)
    # what is below a box adds up to it
    parents = np.repeat(np.arange(12), fanout[:12])
    np.testing.assert_array_equal(np.bincount(parents, sizes[4:], 12), np.where(fanout[:12] > 0, sizes[:12], 0))


@pytest.mark.parametrize("depths", [0, 1, 3, 8])
def test_quarters_of_any_boxes(depths):
    """Leaves tile the boxes and are single cells where the depth allows it: all boxes have found room."""
    rng = np.random.default_rng(depths)
    for shape in ((1, 1), (1, 40), (33, 17), (64, 64), (5, 3)):
        lower, upper = random_boxes(shape, rng, cuts=10)
        low, high, fanout, begins = quarters(lower, upper, 0, depths, 0)
        leaves = fanout == 0
        labels_of(shape, low[leaves], high[leaves])
        assert begins[-1] == len(low) == len(lower) + fanout.sum()
        longest = (upper - lower).max()
        assert (high - low)[leaves].max() == max(-(-longest // 2**depths), 1)


def test_a_tree_of_boxes():
    """Nodes are intervals of a line that holds every cell once, and paths add up to 1."""
    lower = np.array([[0, 0], [0, 0], [0, 1], [0, 0], [1, 0]])  # the whole, its halves, the cells of the first
    upper = np.array([[2, 3], [2, 1], [2, 3], [1, 1], [2, 1]])
    fanout, ends = np.array([2, 2, 0, 0, 0]), np.array([1, 3, 5])
    tree = box_tree(Domain((2, 3)), lower, upper, fanout, ends, np.array([0.2, 0.3, 0.5]))
    np.testing.assert_array_equal(tree.order, [0, 3, 1, 2, 4, 5])
    np.testing.assert_array_equal(tree.start, [0, 0, 2, 0, 1])
    np.testing.assert_array_equal(tree.stop, [6, 2, 6, 1, 2])
    np.testing.assert_array_equal(tree.first_child, [1, 3, 5, 5, 5, 5])
    np.testing.assert_allclose(tree.weight, [0.2, 0.3, 0.8, 0.5, 0.5])
