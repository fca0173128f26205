"""The posterior of counts that split down boxes, against slow twins and by its symmetries."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from dpbench.domain import Domain
from dpbench.errors import InvalidInput
from dpbench.mathematics.cascade import Fineness, Squares, first_weights, given, posterior
from dpbench.mathematics.leaning import leaning
from dpbench.mathematics.settled import sample
from reference import cascade as reference

FINE = (97, 9.0)
"""Points and reach of grids that hardly err."""


def squares_of(shape, answers, gaussian=False):
    """A tree of squares of the given levels: ``answers`` are (level, values, scale) from the whole domain down."""
    squares = Squares(Domain(shape), gaussian=gaussian)
    inside = np.zeros(1, dtype=np.int64)
    for number, (level, values, scale) in enumerate(answers):
        if number:
            inside = squares.cut(inside, level)
        squares.put(inside, np.asarray(values, dtype=float), scale)
    return squares


def noisy(shape, levels, scale=10.0, seed=0, mean=6.0, gaussian=False):
    """Noisy counts of Poisson data on every level."""
    rng = np.random.default_rng(seed)
    x = rng.poisson(mean * rng.gamma(0.5, 2, size=shape))
    squares = Squares(Domain(shape), gaussian=gaussian)
    inside = np.zeros(1, dtype=np.int64)
    for number, level in enumerate([max(squares.height, 0), *levels]):
        if number:
            inside = squares.cut(inside, level)
        labels = squares.labels(inside)
        totals = np.bincount(labels, weights=x.reshape(-1), minlength=len(inside))
        squares.put(inside, totals + rng.laplace(scale=scale, size=len(totals)), scale)
    return squares


class TestAgainstDrawsFromThePrior:
    """Importance sampling: 10^6 draws from the prior, weighed by their likelihood.

    A cell is within 5 standard errors of the sample and 2 % of the noise scale, which fine grids err by at most.
    Few answers are far from the draws, so a standard error is meaningful; false alarms below 1e-5.
    """

    def compare(self, shape, answers, gaussian=False):
        squares = squares_of(shape, answers, gaussian)
        mean = given(squares, first_weights(squares), *FINE).mean
        scale = answers[-1][2]
        listed = [
            (box, value, noise)
            for level, values, noise in answers
            for box, value in zip(blocks(shape, level), np.ravel(values), strict=True)
        ]
        largest = max(0, *(np.sum(values) for _, values, _ in answers)) + 25 * scale
        cap = 2 * scale**2 / (4 if gaussian else 2)
        cells = reference.draws(shape, 1_000_000, largest, np.random.default_rng(7), cap)
        expected, error = reference.weighed(cells, listed, gaussian)
        off = np.abs(mean.reshape(expected.shape) - expected)
        assert (off < 5 * error + 0.02 * scale).all(), (mean, expected, error)

    @pytest.mark.parametrize("cells", [[20, 5], [-30, 10], [190, 12], [0, 0]])
    @pytest.mark.parametrize("gaussian", [False, True])
    def test_two_cells(self, cells, gaussian):
        """One split: every term at once."""
        self.compare((2,), [(1, [sum(cells) + 9], 40.0), (0, cells, 30.0)], gaussian)

    @pytest.mark.parametrize("cells", [[100, 80, -5, 12], [40, 40, 40, 40]])
    def test_four_cells(self, cells):
        """Two levels, of which the middle one is not measured: even boxes have even descendants."""
        self.compare((4,), [(2, [sum(cells)], 40.0), (0, cells, 20.0)])

    def test_four_cells_with_blocks(self):
        """Two levels, both measured."""
        self.compare((4,), [(2, [150], 40.0), (1, [110, 20], 30.0), (0, [70, 50, 5, 0], 30.0)])

    def test_a_square_of_four(self):
        """Both axes: rows differ, columns do not."""
        self.compare((2, 2), [(1, [200], 40.0), (0, [95, 110, 3, -8], 25.0)])


def blocks(shape, level):
    """Boxes of a level as slices, row by row."""
    rows, columns = (*shape, 1)[:2]
    side = 2**level
    for row in range(0, rows, side):
        for column in range(0, columns, side):
            yield slice(row, row + side), slice(column, column + side)


def test_large_counts_leave_the_likelihood_alone():
    """Two cells of 10^6 records: what is left of the prior does not show, and the mean is that of the answers.

    The exact mean is a quadrature of exp(-|s| / 30 - |s - d| / 40) over what the two cells are off by.
    """
    squares = squares_of((2,), [(1, [1e6 + 60], 40.0), (0, [3e5, 7e5], 30.0)])
    mean = given(squares, first_weights(squares), *FINE).mean

    def over_sums(power):
        def density(s):  # the two offs add up to s: their Laplace densities convolved
            return s**power * np.exp(-abs(s) / 30) * (1 + abs(s) / 30) * np.exp(-abs(s - 60) / 40)

        return quad(density, -900, 900, points=[0, 60], limit=500)[0]

    total = over_sums(1) / over_sums(0)
    assert mean.sum() == pytest.approx(1e6 + total, abs=0.5)
    np.testing.assert_allclose(mean, [3e5 + total / 2, 7e5 + total / 2], atol=0.5)


@pytest.mark.parametrize("answers", [(-20, -30, 10), (0, 0, 0), (5, -40, -40), (30, 20, 5)])
def test_small_counts_are_not_pulled_to_zero(answers):
    """On the usual grid the total is within 7 % of that on a fine one; a full step at 0 makes it a third too low."""
    squares = squares_of((2,), [(1, [answers[0]], 40.0), (0, answers[1:], 40.0)])
    weights = first_weights(squares)
    usual, fine = given(squares, weights, 17, 6.0).mean, given(squares, weights, *FINE).mean
    assert usual.sum() == pytest.approx(fine.sum(), rel=0.07)


@pytest.mark.parametrize("gaussian", [False, True])
def test_a_mirrored_line_has_the_mirrored_posterior(gaussian):
    """Reversing cells and answers reverses the estimate, to rounding; with learned weights to 1e-4 of the noise."""
    squares = noisy((64,), (4, 2, 0), gaussian=gaussian)
    mirrored = noisy((64,), (4, 2, 0), gaussian=gaussian)
    for level in (4, 2, 0):
        mine = np.flatnonzero(mirrored.logs[:, 0] == level)
        mirrored.answer[mine] = mirrored.answer[mine[::-1]]
    for rounds, tolerance in ((0, 1e-6), (2, 1e-3)):
        one, other = (posterior(each, Fineness(points=13, rounds=rounds)).mean for each in (squares, mirrored))
        np.testing.assert_allclose(one, other[::-1], atol=tolerance)


def test_a_transposed_table_has_the_transposed_posterior():
    """Both axes are alike, to 1e-3 of the noise: a box of next to no mass is cut along its first axis."""
    squares = noisy((8, 32), (2, 0))
    transposed = Squares(Domain((32, 8)))
    inside = np.zeros(1, dtype=np.int64)
    transposed.put(inside, squares.answer[:1, 0], 10.0)
    for level in (2, 0):
        inside = transposed.cut(inside, level)
        place = {
            tuple(corner): number
            for number, corner in enumerate(squares.corner.tolist())
            if squares.logs[number, 0] == level
        }
        same = np.array([place[column, row] for row, column in transposed.corner[inside].tolist()])
        transposed.put(inside, squares.answer[same, 0], 10.0)
    one, other = posterior(squares).mean, posterior(transposed).mean
    np.testing.assert_allclose(one, other.T, atol=1e-2)


@pytest.mark.parametrize("shape", [(64,), (100,), (3,), (16, 16), (10, 6), (1, 20), (20, 1), (4, 40)])
def test_cells_add_up_to_the_roots_mean(shape):
    """The total is the mean of the root's posterior, whatever the splits: to 1e-6 of it, also beyond powers of two."""
    squares = noisy(shape, (2, 0) if max(shape) > 4 else (0,))
    found = posterior(squares)
    assert found.mean.sum() == pytest.approx(found.total, rel=1e-6)
    assert (found.mean >= 0).all()
    assert found.mean.shape == shape


def test_squares_without_answers_inside_are_even():
    """What nothing was asked about is spread evenly."""
    squares = squares_of((8,), [(3, [50], 5.0), (2, [40, 12], 5.0)])
    mean = posterior(squares).mean
    np.testing.assert_allclose(mean[:4], mean[0])
    np.testing.assert_allclose(mean[4:], mean[4])


def test_two_answers_are_two_likelihoods():
    """A second answer counts as one more; two equal ones of scale b act as one of scale b / 2 under Laplace noise."""
    twice = squares_of((2,), [(1, [50], 10.0), (0, [30, 18], 10.0)])
    twice.put(np.array([1, 2]), np.array([30.0, 18.0]), 10.0)
    once = squares_of((2,), [(1, [50], 10.0), (0, [30, 18], 5.0)])
    one, other = (given(each, first_weights(each), *FINE) for each in (twice, once))
    np.testing.assert_allclose(one.mean, other.mean, rtol=0.02)


def test_what_does_not_fit_in_memory_is_worked_out_twice(monkeypatch):
    """The same numbers, without likelihoods to draw from."""
    squares = noisy((32, 32), (4, 2, 0))
    kept = posterior(squares)
    monkeypatch.setattr("dpbench.mathematics.cascade.LARGEST_WORKSPACE", 1000)
    again = posterior(squares)
    np.testing.assert_array_equal(again.mean, kept.mean)
    assert again.likelihoods is None
    assert kept.likelihoods is not None


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("values", [[0, 0, 0, 0], [10**8, 0, 0, 0], [-5, 5, -5, 5], [7, 7, 7, 7]])
def test_extremes_are_finite(scale, values):
    """Exact zeros, ties, one huge cell, noise far below and far above the counts."""
    squares = squares_of(
        (4,), [(2, [sum(values)], scale), (1, [sum(values[:2]), sum(values[2:])], scale), (0, values, scale)]
    )
    mean = posterior(squares).mean
    assert np.isfinite(mean).all()
    assert (mean >= 0).all()
    if scale < 1e-3:
        np.testing.assert_allclose(mean, np.maximum(values, 0), atol=6)


def test_answers_far_apart_fall_back_to_least_squares():
    """A block whose answer contradicts its cells by a thousand scales has no likelihood anywhere on the grids."""
    squares = squares_of((4,), [(2, [10_000], 1.0), (1, [9000, 1000], 1.0), (0, [10, 10, 10, 10], 1.0)])
    assert np.isfinite(posterior(squares).mean).all()


def test_squares_are_cut_once_and_into_smaller_ones():
    """One line each."""
    squares = Squares(Domain((16,)))
    squares.cut(np.zeros(1, dtype=np.int64), 2)
    with pytest.raises(InvalidInput, match="cut once"):
        squares.cut(np.zeros(1, dtype=np.int64), 1)
    with pytest.raises(InvalidInput, match="1 or 2 axes"):
        Squares(Domain((2, 2, 2)))
    with pytest.raises(InvalidInput, match="cut it before"):
        posterior(Squares(Domain((4,))))


def test_what_stands_out_is_left_to_least_squares():
    """Counts far above their noise are those of least squares, cell by cell; small counts beside them are not."""
    x = np.concatenate([np.full(32, 50_000.0) + 300 * np.arange(32), np.zeros(32)])
    rng = np.random.default_rng(3)
    squares = Squares(Domain((64,)))
    inside = np.zeros(1, dtype=np.int64)
    for number, level in enumerate([6, 4, 2, 0]):
        if number:
            inside = squares.cut(inside, level)
        totals = np.bincount(squares.labels(inside), weights=x)
        squares.put(inside, totals + rng.laplace(scale=10.0, size=len(totals)), 10.0)
    found = posterior(squares)
    by_least_squares = squares.spread(squares.moments()[2])
    np.testing.assert_allclose(found.mean[:32], by_least_squares[:32], atol=5.0)
    assert np.ptp((found.mean - by_least_squares)[:16]) < 1e-6
    assert (found.mean >= 0).all()
    assert found.mean.sum() == pytest.approx(found.total, rel=1e-6)
    assert found.squares is squares
    assert not np.allclose(found.mean[32:], by_least_squares[32:], atol=1.0)


def gridded(cells, noise=None):
    """Squares of 8 x 8 and their cells, each with an answer of scale 10, exact or with the noise of a generator."""
    squares = Squares(Domain(cells.shape))
    inside = np.zeros(1, dtype=np.int64)
    for number, level in enumerate([6, 3, 0]):
        if number:
            inside = squares.cut(inside, level)
        totals = np.bincount(squares.labels(inside), weights=cells.reshape(-1))
        squares.put(inside, totals if noise is None else totals + noise.laplace(scale=10.0, size=len(totals)), 10.0)
    return squares


def lean_of(squares):
    """Of the squares of 8 x 8."""
    _, _, mean, variance = squares.moments()
    return leaning(squares, mean, variance)[squares.logs[:, 0] == 3]


@pytest.mark.parametrize("axis", [0, 1])
def test_a_slope_leans(axis):
    """By its part of the density per cell along its axis, less some noise, and not along the other."""
    along = 40.0 + 2 * np.arange(64)
    cells = np.broadcast_to(along[:, None] if axis == 0 else along, (64, 64))
    squares = gridded(cells)
    lean = lean_of(squares)
    corner = squares.corner[squares.logs[:, 0] == 3, axis]
    np.testing.assert_allclose(lean[:, axis], 2 / (40 + 2 * (corner + 3.5)), rtol=0.15)
    np.testing.assert_allclose(lean[:, 1 - axis], 0.0, atol=1e-9)


def test_noise_and_steps_hardly_lean():
    """Even data under noise: nine of ten squares have no slope along an axis. A step has none on its level sides."""
    assert (lean_of(gridded(np.full((64, 64), 50.0), np.random.default_rng(0))) == 0).mean() > 0.9
    cells = np.full((64, 64), 5.0)
    cells[32:] = 500.0
    np.testing.assert_allclose(lean_of(gridded(cells)), 0.0, atol=1e-9)


def test_long_edges_of_a_slope_are_not_biased():
    """What pulls each pair of cells to its middle adds up along a row: the error of half a square is near its noise.

    Rows of 64 cells on a slope, odd ones less even ones, 20 draws of noise; without leaning the mean is beyond -40.
    """
    cells = np.broadcast_to(60.0 + 2.0 * np.arange(64)[:, None], (64, 64))
    off = []
    for seed in range(20):
        mean = posterior(gridded(cells, np.random.default_rng(seed))).mean
        off.append((mean - cells)[5:36:2].sum(axis=1) - (mean - cells)[6:37:2].sum(axis=1))
    off = np.array(off).mean(axis=1)
    assert abs(off.mean()) < 20.0


def test_three_huge_cells_at_next_to_no_noise_are_finite():
    """10^8 records in each of three cells, noise far below the last digit of a grid."""
    cells = np.zeros(64)
    cells[[3, 17, 40]] = 1e8
    totals = cells.reshape(4, 16).sum(axis=1)
    squares = squares_of((64,), [(6, [3e8], 3e-3), (4, totals, 5e-4), (0, cells, 3e-4)])
    np.testing.assert_allclose(posterior(squares).mean, cells, atol=1.0)


def test_weights_are_learned_from_squares_of_all_counts():
    """Of 64 blocks about 8 are left whole, from the emptiest to the fullest; a mirrored line has the mirrored ones."""
    squares, mirrored = noisy((1024,), (4, 0)), noisy((1024,), (4, 0))
    for level in (4, 0):
        mine = np.flatnonzero(mirrored.logs[:, 0] == level)
        mirrored.answer[mine] = mirrored.answer[mine[::-1]]
    (some, numbers), (other, _) = sample(squares, 8), sample(mirrored, 8)
    np.testing.assert_array_equal(some.corner, squares.corner[numbers])
    left = some.corner[(some.first_child >= 0) & (some.logs[:, 0] == 4), 0]
    assert len(left) == 8
    np.testing.assert_array_equal(
        np.sort(1008 - other.corner[(other.first_child >= 0) & (other.logs[:, 0] == 4), 0]), np.sort(left)
    )
    mean = squares.moments()[2]
    blocks = np.flatnonzero(squares.logs[:, 0] == 4)
    ranks = np.argsort(np.argsort(mean[blocks]))[left // 16]
    np.testing.assert_array_equal(np.sort(ranks) // 8, np.arange(8))
    assert sample(squares, 64)[0] is squares


def test_a_sample_teaches_what_all_squares_teach():
    """256 blocks, 12 of them learned from: the estimate is off by less than a tenth of its error."""
    rng = np.random.default_rng(5)
    x = rng.poisson(6 * rng.gamma(0.5, 2, size=4096)).astype(float)
    squares = Squares(Domain((4096,)))
    inside = np.zeros(1, dtype=np.int64)
    for number, level in enumerate([12, 10, 7, 4, 0]):
        if number:
            inside = squares.cut(inside, level)
        totals = np.bincount(squares.labels(inside), weights=x)
        squares.put(inside, totals + rng.laplace(scale=10.0, size=len(totals)), 10.0)
    some, everything = (posterior(squares, Fineness(learned_from=many)).mean for many in (12, 10**9))
    assert np.linalg.norm(some - everything) < 0.1 * np.linalg.norm(everything - x)
