"""From the top down: non-negative halves, whole numbers."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench.domain import Domain
from dpbench.mathematics.top_down import halves, integral, top_down

SHAPES = [(1,), (2,), (17,), (200,), (1, 5), (4, 6), (2, 3, 4)]


def noisy(shape, trials=6, seed=0, scale=10.0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 20, size=shape) + rng.laplace(scale=scale, size=(trials, *shape))


def boxes(lower, upper):
    """Every box of the tree of halves, the longest axis cut first: a slow obvious twin."""
    yield lower, upper
    sides = [high - low for low, high in zip(lower, upper, strict=True)]
    axis = sides.index(max(sides))
    if sides[axis] > 1:
        middle = lower[axis] + (sides[axis] + 1) // 2
        first_end, second_start = list(upper), list(lower)
        first_end[axis] = second_start[axis] = middle
        yield from boxes(lower, tuple(first_end))
        yield from boxes(tuple(second_start), upper)


def in_box(values, lower, upper):
    return values[tuple(slice(low, high) for low, high in zip(lower, upper, strict=True))]


def shared_out(z):
    """The recursion in plain words, on one array."""
    result = np.empty(z.shape)

    def share(lower, upper, value):
        mine = list(boxes(lower, upper))
        if len(mine) == 1:
            result[lower] = value
            return
        (first_lower, first_upper) = mine[1]
        second = next(box for box in mine[2:] if box[1] == upper)
        first, other = in_box(z, first_lower, first_upper).sum(), in_box(z, *second).sum()
        half = (value - first - other) / 2
        left = min(max(first + half, 0.0), value)
        share(first_lower, first_upper, left)
        share(*second, value - left)

    share((0,) * z.ndim, z.shape, max(z.sum(), 0.0))
    return result


@pytest.mark.parametrize("shape", SHAPES)
def test_the_tree_is_the_one_in_plain_words(shape):
    """Every cell is one leaf, and there are as many nodes as boxes."""
    tree = halves(Domain(shape))
    assert len(tree.child) == len(list(boxes((0,) * len(shape), shape)))
    assert sorted(tree.cell[tree.child < 0].tolist()) == list(range(int(np.prod(shape))))


@pytest.mark.parametrize("shape", [(2,), (17,), (64,), (1, 5), (4, 6), (2, 3, 4)])
def test_it_is_the_recursion(shape):
    """Box by box the same as the slow twin; never negative; the total is kept, or 0."""
    estimate = noisy(shape)
    result = top_down(estimate)
    np.testing.assert_allclose(result, [shared_out(one) for one in estimate], atol=1e-9)
    assert (result >= 0).all()
    axes = tuple(range(1, estimate.ndim))
    np.testing.assert_allclose(result.sum(axis=axes), np.maximum(estimate.sum(axis=axes), 0), atol=1e-9)


def test_a_pair_is_the_nearest_of_all():
    """Of two cells: no other non-negative pair with that total is nearer, of 10,000 tried."""
    rng = np.random.default_rng(1)
    for z in rng.normal(scale=5, size=(20, 2)):
        nearest = top_down(z[None])[0]
        first = rng.uniform(0, nearest.sum(), size=10_000)
        others = np.stack([first, nearest.sum() - first], axis=1)
        if z.sum() > 0:
            assert (((others - z) ** 2).sum(axis=1) >= ((nearest - z) ** 2).sum() - 1e-9).all()


def test_what_has_no_negative_box_stays():
    """Nothing is cut, so nothing moves."""
    estimate = np.abs(noisy((30,)))
    np.testing.assert_allclose(top_down(estimate), estimate, rtol=1e-12)


def test_a_negative_total_empties_the_table():
    """The nearest non-negative table without records."""
    np.testing.assert_array_equal(top_down(np.array([[-5.0, 2.0, 1.0]])), np.zeros((1, 3)))


class TestIntegral:
    @pytest.mark.parametrize("shape", SHAPES)
    def test_every_box_is_within_one_of_its_estimate(self, shape):
        """Whole numbers, the rounded total, and no box of halves further away than 1."""
        estimate = noisy(shape)
        result = integral(estimate)
        assert result.shape == estimate.shape
        np.testing.assert_array_equal(result, np.rint(result))
        axes = tuple(range(1, estimate.ndim))
        np.testing.assert_array_equal(result.sum(axis=axes), np.floor(estimate.sum(axis=axes) + 0.5))
        for one, whole in zip(estimate, result, strict=True):
            for box in boxes((0,) * one.ndim, one.shape):
                assert abs(in_box(whole - one, *box).sum()) < 1

    def test_non_negative_stays_non_negative(self):
        """Small positive cells become 0 or 1, never -1."""
        estimate = np.random.default_rng(3).exponential(0.3, size=(50, 64))
        assert (integral(estimate) >= 0).all()

    def test_whole_numbers_stay(self):
        """Nothing moves where there is nothing to round, negative numbers included."""
        estimate = np.array([[3.0, -2.0, 0.0], [7.0, 1.0, 2.0**40]])
        np.testing.assert_array_equal(integral(estimate), estimate)
