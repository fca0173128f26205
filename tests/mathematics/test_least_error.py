"""Bounds on the least error of a strategy."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from dpbench.errors import Unsupported
from dpbench.mathematics import least_error
from dpbench.mathematics.least_error import Boxes, dual_bound, dual_iteration, singular_bound
from dpbench.workloads import AllRange, Prefix, RandomRange, RandomSmall, Ranges
from reference import p_identity as reference


def svd(workload):
    """(sum of singular values)^2 / (n q), from the matrix."""
    queries = workload.matrix()
    return np.linalg.svd(queries, compute_uv=False).sum() ** 2 / queries.size


@pytest.mark.parametrize("n", [1, 2, 5, 16, 37])
def test_closed_forms_are_the_singular_values(n):
    """Of prefixes and of all ranges."""
    for workload in (Prefix(n), AllRange(n)):
        assert singular_bound(workload)[0] == pytest.approx(svd(workload), rel=1e-10)


@pytest.mark.parametrize("n", [1, 2, 5, 16, 37])
def test_symmetric_halves_are_the_whole(n):
    """Distributions without a closed form, odd and even sides."""
    for workload in (RandomRange(n, queries=None), RandomSmall(n, queries=None)):
        values = np.linalg.eigvalsh(reference.second_moment(workload))
        bound = np.sqrt(np.maximum(values, 0)).sum() ** 2 / n
        assert singular_bound(workload)[0] == pytest.approx(bound, rel=1e-10)


def test_lists_are_bounded_by_their_overlaps():
    """Random boxes that tell all cells apart: the bound of the matrix."""
    workload = RandomRange((6, 7), queries=300, seed=2)
    assert singular_bound(workload)[0] == pytest.approx(svd(workload), rel=1e-9)


def test_cells_that_no_query_tells_apart_do_not_loosen_the_bound():
    """A box of 5 cells and one of 1000 are two numbers to be measured: the bound is 1; with d over cells, 0.57."""
    assert singular_bound(Ranges(2000, [0, 900], [5, 1900]))[0] == pytest.approx(1, rel=1e-9)
    assert dual_bound(Ranges(2000, [0, 900], [5, 1900]))[0] == pytest.approx(1, rel=1e-5)


def test_many_boxes_are_bounded_over_some_of_the_cells(monkeypatch):
    """As by their overlaps where the cells are all there, and below that where they are not."""
    workload = RandomRange((6, 7), queries=300, seed=2)
    exact = singular_bound(workload)[0]
    monkeypatch.setattr(least_error, "LARGEST", 100)
    assert singular_bound(workload)[0] == pytest.approx(exact, rel=1e-9)
    monkeypatch.setattr(least_error, "WORK", 300 * 20**2)
    assert 0.2 * exact < singular_bound(workload)[0] < exact


def test_long_axes_are_bounded_over_some_of_the_cells(monkeypatch):
    """Every other cell of 200 gives less than all, by a fifth."""
    exact = singular_bound(RandomRange(200, queries=None))[0]
    least_error._singular_axis.cache_clear()
    monkeypatch.setattr(least_error, "LARGEST", 100)
    assert 0.75 * exact < singular_bound(RandomRange(200, queries=None))[0] < 0.9 * exact
    least_error._singular_axis.cache_clear()


def random_strategies(n, seed):
    """Matrices of many kinds whose columns have an L2 norm of 1."""
    rng = np.random.default_rng(seed)
    for rows in (n, 2 * n):
        for power in (1, 3):
            yield rng.normal(size=(rows, n)) ** power
            yield np.abs(rng.normal(size=(rows, n))) ** power
    yield np.concatenate([np.eye(n), np.tril(np.ones((n, n)))])
    yield np.concatenate([np.eye(n), np.ones((1, n)), np.repeat(np.eye(n // 4), 4, axis=1)])


@pytest.mark.parametrize(
    "workload", [Prefix(24), AllRange(24), RandomRange(24, queries=30), RandomSmall(24, None)], ids=repr
)
def test_no_strategy_is_below_the_bounds(workload):
    """Random and structured matrices; the dual bound is the higher, and the Gaussian optimum is attained."""
    k = reference.second_moment(workload)
    low, high = dual_iteration(k)[-1]
    assert singular_bound(workload)[0] <= low * (1 + 1e-9) <= high * (1 + 1e-9)
    assert high <= 1.000002 * low
    for matrix in random_strategies(24, 0):
        scaled = matrix / np.sqrt((matrix**2).sum(axis=0)).max()
        assert np.trace(k @ np.linalg.pinv(scaled.T @ scaled)) >= low


def test_the_iteration_closes_in_from_both_sides():
    """Lower bounds never fall, and stay below the upper ones; tests/test_limits.py has the specification's numbers."""
    bounds = dual_iteration(reference.second_moment(Prefix(64)))
    lows, highs = np.array(bounds).T
    assert (np.diff(lows) >= -1e-12).all()
    assert (lows <= highs).all()
    assert highs[-1] == pytest.approx(lows[-1], rel=2e-6)


def test_marginals_have_their_known_optimum():
    """All two-way marginals of 3 x 4 x 2: sum of variances 50.850421, as the closed form of their residuals says."""
    shape, lower, upper = (3, 4, 2), [], []
    for pair in combinations(range(3), 2):
        for place in product(*(range(shape[axis]) for axis in pair)):
            low, high = [0, 0, 0], list(shape)
            for axis, cell in zip(pair, place, strict=True):
                low[axis], high[axis] = cell, cell + 1
            lower.append(low)
            upper.append(high)
    workload = Ranges(shape, lower, upper)
    assert len(lower) * dual_bound(workload)[0] == pytest.approx(50.850421, rel=2e-6)
    assert len(lower) * singular_bound(workload)[0] == pytest.approx(50.850421, rel=2e-6)


def test_products_multiply():
    """The bounds of a rectangle are the products of those of its sides, as the whole matrix says."""
    workload = AllRange((4, 6))
    listed = workload.ranges()
    assert singular_bound(workload)[0] == pytest.approx(singular_bound(listed)[0], rel=1e-9)
    assert dual_bound(workload)[0] == pytest.approx(dual_bound(listed)[0], rel=3e-6)


def test_weights_count_squared():
    """Three times the weight, nine times the bound; a query of weight 0 halves it."""
    boxes = [0, 4], [9, 7]
    bound = singular_bound(Ranges(10, *boxes))[0]
    assert singular_bound(Ranges(10, *boxes, [3, 3]))[0] == pytest.approx(9 * bound)
    zeros = Ranges(10, [0, 4, 1, 1], [9, 7, 2, 3], [1, 1, 0, 0])
    assert singular_bound(zeros)[0] == pytest.approx(bound / 2)


def test_boxes_are_counted_over_groups():
    """Equal boxes are one, and cells between edges are one."""
    boxes = Boxes.of(Ranges((6, 9), [[0, 2], [0, 2], [3, 2]], [[6, 5], [6, 5], [6, 5]], [1, 1, 2]))
    assert boxes.groups == (2, 3)
    assert [cells.tolist() for cells in boxes.cells] == [[3, 3], [2, 3, 4]]
    np.testing.assert_allclose(boxes.share, [2 / 3, 4 / 3])


@pytest.mark.parametrize("workload", [AllRange(3000), RandomRange((64, 64))], ids=repr)
def test_the_iteration_refuses_what_takes_hours(workload):
    """With what to do instead."""
    with pytest.raises(Unsupported, match=r'up to 2,048 cells; here are [34],\d+; use method="svd"$'):
        dual_bound(workload)
