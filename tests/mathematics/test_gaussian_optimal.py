"""The optimal strategy for Gaussian noise."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from dpbench.domain import Domain
from dpbench.errors import InvalidInput, Unsupported
from dpbench.mathematics.gaussian_error import unit_error
from dpbench.mathematics.gaussian_optimal import (
    LONGEST,
    Dual,
    GaussianOptimal,
    OptimalAxis,
    _optimal_axis,
    second_moments,
)
from dpbench.mathematics.square_root import SquareRoot
from dpbench.workloads import AllRange, Identity, Prefix, RandomRange, RandomSmall, Ranges


def distribution(kind, domain):
    return kind(domain) if kind in {Prefix, AllRange, Identity} else kind(domain, queries=None)


TWICE_P2 = [
    # workload, n, twice the optimum and twice the bound of uniform d, by the publication's singular values
    (Prefix, 64, 8.8188, 8.3242),
    (Prefix, 256, 12.7453, 12.2161),
    (AllRange, 64, 10.6004, 10.3723),
    (RandomRange, 64, 11.5113, 11.4725),
    (RandomRange, 256, 17.9397, 17.9125),
    (RandomSmall, 64, 3.9795, 3.9617),
]
LONG = [
    (AllRange, 256, 16.8367, 16.5469),
    (RandomSmall, 256, 7.5761, 7.5258),
    (Prefix, 1024, 17.4694, 16.9314),
    (AllRange, 1024, 24.7116, 24.3929),
    (RandomRange, 1024, 25.9714, 25.9377),
    (RandomSmall, 1024, 12.9019, 12.8161),
]


@pytest.mark.parametrize(
    ("kind", "n", "optimum", "uniform"), [*TWICE_P2, *(pytest.param(*row, marks=pytest.mark.slow) for row in LONG)]
)
def test_the_optimum_is_certified(kind, n, optimum, uniform):
    """Lower and upper bound agree to a part of 1e-6 and with the known value to all digits given; so does the error."""
    workload = distribution(kind, n)
    strategy = GaussianOptimal.of(workload)
    lower, upper = strategy.bounds
    assert lower <= upper <= lower * (1 + 1e-6)
    assert 2 * lower == pytest.approx(optimum, abs=6e-5)
    assert unit_error(strategy, workload) == pytest.approx(upper, rel=1e-9)
    start = Dual.best(second_moments(workload)[0], steps=1)
    assert 2 * start.lower == pytest.approx(uniform, abs=6e-5)
    assert (start.weights == 1 / n).all()


@pytest.mark.slow
def test_the_optimum_of_prefixes_to_seven_digits():
    """6.372668 at 256 cells and 8.734696 at 1024, where the bounds are driven to a part of 1e-8."""
    for n, optimum in ((256, 6.372668), (1024, 8.734696)):
        found = Dual.best(second_moments(Prefix(n))[0], gap=1e-8)
        assert found.lower == pytest.approx(optimum, abs=6e-7)
        assert found.upper <= found.lower * (1 + 1e-8)


SQUARES = [(32, 4.45507, 39.6952), (64, 5.75566, 66.2552), (128, 7.26144, 105.4570), (256, 8.96984, 160.9162)]


@pytest.mark.parametrize(("side", "axis", "square"), SQUARES)
def test_a_product_has_the_product_of_the_optima(side, axis, square):
    """Random boxes: 2 P2 of the square is twice the square of P2 of an axis."""
    strategy = GaussianOptimal.of(RandomRange((side, side), queries=None))
    assert strategy.axes[0] is strategy.axes[1]
    assert strategy.axes[0].lower == pytest.approx(axis, abs=6e-6)
    assert 2 * strategy.bounds[0] == pytest.approx(square, abs=1e-4)
    assert unit_error(strategy, RandomRange((side, side), queries=None)) == pytest.approx(strategy.bounds[1], rel=1e-9)


def test_all_two_way_marginals():
    """3 x 4 x 2 cells: the optimum is (sum over attribute sets of sqrt(p v))^2 = 50.850421, though K is singular."""
    sides, blocks = (3, 4, 2), []
    for kept in itertools.combinations(range(3), 2):
        block = np.ones((1, 1))
        for axis, side in enumerate(sides):
            block = np.kron(block, np.eye(side) if axis in kept else np.ones((1, side)))
        blocks.append(block)
    W = np.concatenate(blocks)
    found = Dual.best(W.T @ W)
    assert found.lower == pytest.approx(50.850421, abs=6e-7)
    assert found.upper == pytest.approx(found.lower, rel=1e-6)
    assert np.linalg.matrix_rank(W) < W.shape[1]


@pytest.mark.parametrize("kind", [Prefix, AllRange, RandomRange])
def test_no_strategy_is_below_the_lower_bound(kind):
    """Random strategies, with their columns scaled to norm 1, never do better; nor does the square root."""
    n = 12
    moment = second_moments(distribution(kind, n))[0]
    lower = OptimalAxis.of(moment).lower
    rng = np.random.default_rng(0)
    for _ in range(200):
        rows = rng.normal(size=(n + int(rng.integers(0, 10)), n))
        rows = rows / np.sqrt((rows**2).sum(axis=0))
        assert np.trace(moment @ np.linalg.inv(rows.T @ rows)) >= lower
    assert unit_error(SquareRoot(Domain((n,))), distribution(kind, n)) >= lower


def test_bounds_hold_at_every_step():
    """However few the steps, lower <= P2 <= upper; more steps never widen the interval."""
    moment = second_moments(Prefix(40))[0]
    final = Dual.best(moment, gap=1e-10)
    before = None
    for steps in range(1, 8):
        found = Dual.best(moment, gap=0.0, steps=steps)
        assert found.lower <= final.upper
        assert found.upper >= final.lower
        if before is not None:
            assert before.lower <= found.lower <= found.upper <= before.upper
        before = found


DOMAINS = [(1,), (2,), (9,), (5, 1), (4, 6), (2, 3, 4)]


@pytest.mark.parametrize("shape", DOMAINS)
def test_answers_are_those_of_the_kronecker_product(shape):
    """Along each axis in turn, on any leading axes; reconstruction gives the counts back."""
    strategy = GaussianOptimal.of(AllRange(shape))
    assert strategy.shape == shape
    x = np.random.default_rng(0).integers(0, 1000, size=(2, 3, *shape))
    A = np.ones((1, 1))
    for axis in strategy.axes:
        A = np.kron(A, axis.rows)
    answers = strategy.answer(x)
    np.testing.assert_allclose(answers.reshape(6, -1), x.reshape(6, -1) @ A.T, atol=1e-9)
    np.testing.assert_allclose(strategy.answer(x[0, 0]), answers[0, 0], atol=1e-9)
    np.testing.assert_allclose(strategy.reconstruct(answers), x, atol=1e-9)


@pytest.mark.parametrize("shape", DOMAINS)
def test_sensitivities_are_rounded_up(shape):
    """The squared L2 sensitivity bounds every column and exceeds 1 by rounding alone; so does the L1 one its own."""
    strategy = GaussianOptimal.of(AllRange(shape))
    A = np.ones((1, 1))
    for axis in strategy.axes:
        A = np.kron(A, axis.rows)
    assert (A**2).sum(axis=0).max() <= float(strategy.squared_l2_sensitivity) <= 1 + 1e-12
    assert np.abs(A).sum(axis=0).max() == pytest.approx(float(strategy.sensitivity), rel=1e-12)
    assert np.abs(A).sum(axis=0).max() <= float(strategy.sensitivity)


@pytest.mark.parametrize(
    "workload",
    [
        Prefix(10),
        AllRange((4, 5)),
        RandomRange((6, 7), queries=40),
        Ranges(12, [0, 3, 5], [4, 9, 6], weights=[1.0, -2.0, 0.5]),
    ],
)
def test_the_error_is_that_of_dense_algebra(workload):
    """Products and lists, with weights, and with cells that no query covers."""
    strategy = GaussianOptimal.of(workload)
    A = np.ones((1, 1))
    for axis in strategy.axes:
        A = np.kron(A, axis.rows)
    variance = ((workload.matrix() @ np.linalg.inv(A)) ** 2).sum() / workload.queries
    assert unit_error(strategy, workload) == pytest.approx(variance * float(strategy.squared_l2_sensitivity), rel=1e-9)


def test_second_moments_of_a_list_are_those_of_its_matrix():
    """One axis: W^T W / q, weights included; a product has those of its axes."""
    listed = Ranges(12, [0, 3, 5, 3], [4, 9, 6, 9], weights=[1.0, -2.0, 0.5, 1.0])
    np.testing.assert_allclose(second_moments(listed)[0], listed.matrix().T @ listed.matrix() / 4, atol=1e-15)
    n = 30
    np.testing.assert_allclose(
        second_moments(Prefix(n))[0], (n - np.maximum.outer(np.arange(n), np.arange(n))) / n, atol=1e-14
    )
    listed_all = AllRange((3, 5)).ranges()
    for moment, product in zip(second_moments(listed_all), second_moments(AllRange((3, 5))), strict=True):
        np.testing.assert_allclose(moment, product, atol=1e-14)


def test_what_no_query_asks_for_costs_little():
    """Three ranges on 20 cells: every cell is estimated all the same, at 1 % more error on the ranges."""
    strategy = GaussianOptimal.of(Ranges(20, [0, 3, 7], [5, 9, 8]))
    lower, upper = strategy.bounds
    assert lower <= upper < 1.01 * lower
    x = np.arange(20)
    np.testing.assert_allclose(strategy.reconstruct(strategy.answer(x)), x, atol=1e-7)


def test_identity_needs_no_search():
    """Single cells: measure the cells, error 1."""
    strategy = GaussianOptimal.of(Identity(9))
    assert strategy.bounds == pytest.approx((1, 1), abs=1e-12)


def test_long_axes_and_empty_workloads_are_refused():
    """One line that says what to do."""
    with pytest.raises(Unsupported, match="coarsen"):
        GaussianOptimal.of(Prefix(LONGEST + 1))
    with pytest.raises(InvalidInput, match="covers a cell"):
        Dual.best(np.zeros((3, 3)))


def test_the_strategy_does_not_depend_on_the_number_of_threads():
    """To the bit: results must be the same in this process and in a worker, which has one thread."""
    found = []
    for threads in (1, 2):
        _optimal_axis.cache_clear()
        with threadpool_limits(threads):
            found.append(GaussianOptimal.of(Prefix(256)).axes[0])
    assert np.array_equal(found[0].rows, found[1].rows)
    assert np.array_equal(found[0].inverse, found[1].inverse)


def test_the_strategy_does_not_depend_on_the_signs_of_eigenvectors(monkeypatch):
    """Linear algebra for another processor may give each with the other sign; seeds have to give the same errors."""
    eigh, moment = np.linalg.eigh, second_moments(Prefix(40))[0].tobytes()
    usual = _optimal_axis.__wrapped__(40, moment)

    def flipped(matrix):
        values, vectors = eigh(matrix)
        return values, vectors * np.resize([1.0, -1.0, -1.0], len(values))

    monkeypatch.setattr(np.linalg, "eigh", flipped)
    other = _optimal_axis.__wrapped__(40, moment)
    np.testing.assert_allclose(other.rows, usual.rows, atol=1e-12)
    np.testing.assert_allclose(other.inverse, usual.inverse, atol=1e-10)
