"""Non-negative least squares on box totals, against scipy's dense one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

from dpbench.domain import Domain
from dpbench.mathematics.kernels.box_newton import fit, nodes_above, total_in_both
from dpbench.mathematics.nonnegative_boxes import RIDGE, BoxFit, halvings_of


def random_box(rng, shape):
    ends = np.sort(rng.integers(0, np.array(shape) + 1, (2, len(shape))), axis=0)
    lower = np.minimum(ends[0], np.array(shape) - 1)
    return lower, np.maximum(ends[1], lower + 1)


def dense(shape, lower, upper):
    rows = np.zeros((len(lower), *shape))
    for row, low, high in zip(rows, lower, upper, strict=True):
        row[tuple(slice(*sides) for sides in zip(low, high, strict=True))] = 1
    return rows.reshape(len(lower), -1)


@pytest.mark.parametrize("shape", [(1,), (32,), (21,), (5, 6), (8, 8), (3, 2, 4)], ids=str)
@pytest.mark.parametrize("rounds", [1, 3, 9])
@pytest.mark.parametrize("noise", [0.5, 20.0])
def test_the_fit_is_that_of_a_dense_solver(shape, rounds, noise):
    """Totals of three precisions, a box and a part of a depth per round: the least objective, and no cell below 0.

    With few rounds many cells are told apart by no box, and have one number between them.
    """
    rng = np.random.default_rng(7)
    counts = rng.poisson(4, shape) * (rng.random(shape) < 0.5)
    total = counts.sum() + 3.0
    halvings = halvings_of(Domain(shape))
    rows, answers, weights = [np.ones((1, counts.size))], [np.array([total])], [np.array([0.3])]
    found = BoxFit(halvings, total, 0.3)
    for number in range(rounds):
        depth, precision = min(number + 1, len(halvings.boxes) - 1), 1.0 if number < 2 else 2.5
        level = halvings.boxes[depth]
        lower, upper = random_box(rng, shape)
        apart = rng.random(level.queries) < 0.8
        truth = dense(shape, [lower, *level.lower], [upper, *level.upper])
        noisy = truth @ counts.ravel() + rng.normal(0, noise, len(truth))
        found.learn((lower, upper), noisy[0], depth, noisy[1:], apart, precision)
        measured = np.concatenate([[True], apart])
        rows.append(truth[measured])
        answers.append(noisy[measured])
        weights.append(np.full(measured.sum(), precision))
    weight = np.concatenate(weights)
    root = np.sqrt(weight / weight.max())
    A = np.concatenate([np.concatenate(rows) * root[:, None], np.sqrt(RIDGE) * np.eye(counts.size)])
    y = np.concatenate([np.concatenate(answers) * root, np.full(counts.size, np.sqrt(RIDGE) * total / counts.size)])
    wanted, _ = nnls(A, y)
    cells = found.estimate.ravel()
    assert (cells >= 0).all()
    assert np.sum((A @ cells - y) ** 2) <= np.sum((A @ wanted - y) ** 2) * (1 + 1e-9) + 1e-12
    np.testing.assert_allclose(cells, wanted, atol=1e-5 * wanted.max())


def test_cells_that_no_box_tells_apart_are_equal():
    """On a domain of 65,536 cells, of which one box tells two halves apart, and no box of a depth is measured."""
    halvings = halvings_of(Domain((256, 256)))
    found = BoxFit(halvings, 2.0**16, 1.0)
    none = np.zeros(4)
    found.learn((np.array([0, 0]), np.array([128, 256])), 2.0**16, 1, none, none > 0, 1.0)
    halves = found.estimate.reshape(2, 128, 256)
    assert np.ptp(halves, axis=(1, 2)).max() <= 1e-9
    assert halves[0, 0, 0] > 1 > halves[1, 0, 0]


def test_large_counts_lose_no_digits_that_matter():
    """10^9 records, quarters and a box across them, none of them contradicting another: all are met to 10^-3."""
    halvings = halvings_of(Domain((256, 256)))
    counts = np.random.default_rng(3).integers(0, 30_000, (256, 256))
    found = BoxFit(halvings, float(counts.sum()), 1.0)
    box, inside = (np.array([10, 20]), np.array([100, 200])), counts[10:100, 20:200].sum()
    quarters = halvings.boxes[1].answer(counts)
    found.learn(box, float(inside), 1, quarters.astype(float), np.ones(4, dtype=bool), 1.0)
    np.testing.assert_allclose(halvings.boxes[1].answer(found.estimate), quarters, atol=1e-3, rtol=0)
    np.testing.assert_allclose(found.estimate[10:100, 20:200].sum(), inside, atol=1e-3, rtol=0)


def test_before_any_round_it_is_uniform_and_a_negative_total_is_none():
    assert BoxFit(halvings_of(Domain((4, 5))), 40.0, 1.0).estimate.tolist() == [[2.0] * 5] * 4
    assert not BoxFit(halvings_of(Domain((3,))), -7.0, 1.0).estimate.any()


@pytest.mark.parametrize("shape", [(1,), (13,), (5, 6), (3, 2, 4)], ids=str)
def test_halvings_know_the_box_of_every_cell(shape):
    """At each depth: the smallest of the boxes up to it that holds the cell, and sides that are all among the edges."""
    halvings = halvings_of(Domain(shape))
    lower = np.concatenate([level.lower for level in halvings.boxes])
    upper = np.concatenate([level.upper for level in halvings.boxes])
    size = (upper - lower).prod(axis=1)
    assert ((size == 1) == halvings.cells)[1:].all()
    for node in range(1, len(size)):
        above = halvings.above[node]
        assert (lower[above] <= lower[node]).all()
        assert (upper[above] >= upper[node]).all()
        assert size[above] > size[node]
    for span, leaves, edges in zip(halvings.spans, halvings.leaves, halvings.edges, strict=True):
        for cell in np.ndindex(*shape):
            holds = ((lower[: span.stop] <= cell) & (upper[: span.stop] > cell)).all(axis=1)
            assert leaves[cell] == np.flatnonzero(holds)[np.argmin(size[: span.stop][holds])]
        for axis, sides in enumerate(edges):
            assert sides.tolist() == sorted({*lower[: span.stop, axis], *upper[: span.stop, axis]})


@pytest.mark.parametrize("shape", [(9,), (4, 7), (3, 4, 5)], ids=str)
def test_sums_over_what_two_boxes_share(shape):
    rng = np.random.default_rng(1)
    values = rng.normal(size=shape)
    running, sides = np.cumsum(values, axis=-1).ravel(), np.array(shape)
    boxes = [random_box(rng, shape) for _ in range(12)]
    lower, upper = (np.array([box[side] for box in boxes]) for side in (0, 1))
    inside = dense(shape, lower, upper)
    for one in range(12):
        for other in range(12):
            wanted = (inside[one] * inside[other]) @ values.ravel()
            found = total_in_both(running, sides, lower, upper, one, other, np.empty((3, len(shape)), dtype=np.int64))
            assert found == pytest.approx(wanted, abs=1e-12)


def test_nodes_above_a_box():
    """A root over two nodes, of which the second has two parts of four."""
    above, leaf, places = np.array([0, 0, 0, 2], np.int32), np.array([1, 1, 2, 3], np.int32), np.empty(5, np.int32)
    for lower, upper, wanted in ((0, 2, [0, 1]), (1, 3, [0, 1, 2]), (3, 4, [0, 2, 3])):
        box = np.array([lower]), np.array([upper])
        many = nodes_above(above, leaf, np.array([4]), *box, np.empty(1, dtype=np.int64), places)
        assert places[:many].tolist() == wanted


def test_it_says_how_many_steps_it_took():
    """Nothing to change is one step: two parts with a pull each, and a root that measures nothing."""
    nothing, mass = np.zeros((0, 1), dtype=np.int64), np.ones(2)
    root = np.zeros(1, np.int32), np.zeros(1), np.zeros(1), np.zeros(2, np.int32)
    boxes = np.array([2]), nothing, nothing, np.zeros(0), np.zeros(0)
    assert fit(*root, np.array([1.0, 2.0]), np.array([3.0, 5.0]), *boxes, mass, 9) == 1
    assert mass.tolist() == [3.0, 2.5]
    assert fit(*root, np.array([1.0, 2.0]), np.array([3.0, -5.0]), *boxes, mass, 9) == 2
    assert mass.tolist() == [3.0, 0.0]
