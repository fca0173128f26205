"""Wide rows over blocks: the update of a tree's posterior against dense algebra and against least squares."""

from __future__ import annotations

import numpy as np
import pytest

import dpbench as dpb
from dpbench.domain import Domain
from dpbench.errors import InvalidInput
from dpbench.mathematics.cascade import Squares, posterior, posterior_without_slopes
from dpbench.mathematics.draws import blocks_of_draws
from dpbench.mathematics.kernels.halved import times_covariance
from dpbench.mathematics.posterior_bars import FINENESS
from dpbench.mathematics.rows_over_blocks import rows_over_blocks
from dpbench.mathematics.wide_rows import RowsLeastSquares, WideRows, nodes_of
from dpbench.workloads import Prefix


def tree_covariance(blocks, rng):
    """A covariance of blocks under random shares and splits, ``(blocks, blocks)``; blocks beyond the last are empty."""
    many = 1 << (blocks - 1).bit_length()
    path = np.full((1, 1), 1.0)  # columns: independent causes
    for depth in range(many.bit_length() - 1):
        width = many >> (depth + 1)
        alone = np.arange(1 << depth) * 2 * width + width >= blocks
        share = np.where(alone, 1.0, rng.random(1 << depth))
        split = np.where(alone, 0.0, rng.random(1 << depth))
        own = np.diag(split)
        halves = np.stack([np.hstack([share[:, None] * path, own]), np.hstack([(1 - share)[:, None] * path, -own])], 1)
        path = halves.reshape(-1, halves.shape[-1])
    return (path @ path.T)[:blocks, :blocks]


def node_variances(covariance):
    """Of every node, by adding up blocks."""
    blocks = len(covariance)
    many = 1 << (blocks - 1).bit_length()
    root = np.linalg.cholesky(covariance + 1e-13 * np.eye(blocks))
    return (np.stack([nodes_of(each, many) for each in root.T]) ** 2).sum(axis=0)


@pytest.mark.parametrize("blocks", [2, 5, 8, 13])
def test_the_update_is_that_of_dense_algebra(blocks):
    """C of a tree by its variances alone, and the gain of a prefix's rows, on trees with and without empty ends."""
    rng = np.random.default_rng(blocks)
    covariance = tree_covariance(blocks, rng)
    variance = node_variances(covariance)
    mean = np.ones(len(variance))
    np.testing.assert_allclose(times_covariance(mean, variance, np.eye(blocks)), covariance, atol=1e-9)
    wide = rows_over(blocks, np.zeros(0), 0.3)
    rows = wide.dense
    expected = covariance @ rows @ np.linalg.inv(rows.T @ covariance @ rows + 0.3 * np.eye(rows.shape[1]))
    np.testing.assert_allclose(wide.gain(mean, variance), expected, atol=1e-8)


def rows_over(blocks, answers, variance):
    """The rows of as many blocks of 16, or the first of those of 8."""
    axis = rows_over_blocks(Prefix(16 * max(blocks, 8)), 1e9).axis
    return WideRows(4, type(axis)(blocks, axis.rows[:blocks], axis.units[:blocks]), answers, variance)


def measured(x, scale, seed, gaussian, total=0.0):
    """Cells, blocks and rows of a line with noise of a scale; the total with one of its own, or none."""
    rng = np.random.default_rng(seed)
    noise = rng.normal if gaussian else rng.laplace
    chosen = rows_over_blocks(Prefix(len(x)), 1e12)
    squares = Squares(Domain(x.shape), gaussian=gaussian)
    inside = np.zeros(1, dtype=np.int64)
    if total:
        squares.put(inside, x.sum() + noise(scale=total, size=1), total)
    for level in (7, 4):
        inside = squares.cut(inside, level) if squares.height > level else inside
    true = np.add.reduceat(x, chosen.edges[:-1])
    own = scale / chosen.axis.cell
    squares.put(inside, true + noise(scale=own), own)
    cells = squares.cut(inside, 0)
    squares.put(cells, x + noise(scale=scale, size=len(x)), scale)
    wide = WideRows(4, chosen.axis, np.zeros(0), (1 if gaussian else 2) * scale**2)
    answers = wide.dense.T @ true + noise(scale=scale, size=chosen.axis.count)
    squares.wide = WideRows(4, chosen.axis, answers, wide.variance)
    return squares


def dense_problem(squares):
    """Rows with noise of scale 1 and their answers."""
    wide, size = squares.wide, squares.domain.size
    cells, blocks = (np.flatnonzero((squares.logs[:, 0] == log) & (squares.cells > 0)) for log in (0, 4))
    groups = (np.arange(size) >> 4 == np.arange(len(blocks))[:, None]) * 1.0
    scale = np.sqrt(wide.variance / (1 if squares.gaussian else 2))
    matrix = [np.eye(size) * squares.rate[cells, 0][:, None], groups * squares.rate[blocks, 0][:, None]]
    matrix.append(wide.dense.T @ groups / scale)
    rated = [squares.answer[cells, 0] * squares.rate[cells, 0], squares.answer[blocks, 0] * squares.rate[blocks, 0]]
    return np.concatenate(matrix), np.concatenate([*rated, wide.answers / scale])


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("side", [128, 135, 300])
def test_least_squares_is_that_of_dense_algebra(side, gaussian):
    """Estimate and influence, also where the last block is cut short."""
    squares = measured(np.arange(side) % 9 * 10, 3.0, 1, gaussian)
    matrix, answers = dense_problem(squares)
    solver = RowsLeastSquares(squares)
    np.testing.assert_allclose(solver.estimate, np.linalg.lstsq(matrix, answers, rcond=None)[0], atol=1e-8)
    queries = np.tri(side)[::17]
    expected = queries @ np.linalg.pinv(matrix)
    np.testing.assert_allclose(solver.influence(queries), expected, atol=1e-9)
    squares.wide = None
    with pytest.raises(InvalidInput, match="no wide rows"):
        RowsLeastSquares(squares)


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("side", [256, 300])
def test_dense_data_get_least_squares_of_all_answers(side, gaussian):
    """Counts far above their noise: prefixes within a twentieth of their standard deviation, which grids err by."""
    x = np.random.default_rng(3).integers(10_000, 20_000, size=side)
    squares = measured(x, 10.0, 2, gaussian)
    solver = RowsLeastSquares(squares)
    spread = np.sqrt((1 if gaussian else 2) * (solver.influence(np.tri(side)) ** 2).sum(axis=1))
    assert (np.abs((posterior(squares).mean - solver.estimate).cumsum()) < 0.05 * spread).all()


def test_prefixes_of_open_squares_come_close_to_least_squares():
    """Where a block in two is empty nothing is settled above, and full blocks still get what rows say.

    The error of prefixes, over 30 tables, is below that without rows and below that of least squares.
    """
    rng = np.random.default_rng(5)
    errors = []
    for seed in range(30):
        x = np.repeat(rng.random(32) < 0.5, 16) * rng.integers(50, 500, size=512)
        squares = measured(x, 10.0, seed, gaussian=False)
        estimates = [posterior(squares).mean, RowsLeastSquares(squares).estimate]
        squares.wide = None
        estimates.append(posterior(squares).mean)
        errors.append([((each - x).cumsum() ** 2).mean() for each in estimates])
    with_rows, linear, without = np.mean(errors, axis=0)
    assert with_rows < 0.8 * without
    assert with_rows < 0.8 * linear


@pytest.mark.parametrize("gaussian", [False, True])
def test_cells_add_up_to_corrected_blocks_and_are_not_negative(gaussian):
    """On sparse counts with a total, where mass meets the ends of grids."""
    x = np.zeros(300, dtype=int)
    x[[3, 40, 41, 299]] = 900
    squares = measured(x, 20.0, 7, gaussian, total=50.0)
    found = posterior(squares).mean
    assert (found >= 0).all()
    assert abs(found.sum() - x.sum()) < 300
    coarse = posterior_without_slopes(squares, FINENESS)
    np.testing.assert_allclose(coarse.mean.sum(), coarse.upper._totals.sum(), rtol=1e-9)


def test_draws_have_the_covariance_of_least_squares():
    """Dense counts, Gaussian noise, 2,000 draws: standard deviations of prefixes within 10 % of least squares'.

    Those of a draw have a standard error of 1.6 %; without the rows they would be 1.3 times as large or more.
    """
    x = np.random.default_rng(3).integers(4_000, 8_000, size=256)
    squares = measured(x, 10.0, 2, gaussian=True)
    found = posterior_without_slopes(squares, FINENESS)
    draws = np.concatenate(list(blocks_of_draws(found, FINENESS.points, FINENESS.reach, 2000, (1,))))
    assert (draws >= 0).all()
    ends = slice(31, 255, 16)
    solver = RowsLeastSquares(squares)
    expected = np.sqrt((solver.influence(np.tri(256)[ends]) ** 2).sum(axis=1))
    sums = draws.cumsum(axis=1)[:, ends]
    np.testing.assert_allclose(sums.std(axis=0), expected, rtol=0.10)
    off = (sums.mean(axis=0) - solver.estimate.cumsum()[ends]) / expected
    assert np.abs(off).max() < 0.25
    some = np.concatenate(list(blocks_of_draws(found, FINENESS.points, FINENESS.reach, 3, (1,))))
    np.testing.assert_array_equal(some, draws[:3])


def test_rows_are_measured_on_lines_of_up_to_16384_cells():
    """There Cascade has less error than Hb where every count stands out; its chain of blocks has more."""
    workload = Prefix(16_384)
    assert rows_over_blocks(workload, 1e6) is not None
    assert rows_over_blocks(Prefix(16_385), 1e9) is None
    x = np.zeros(16_384, dtype=np.int64)
    x[::7] = 4000
    cascade, hb = (dpb.algorithms.get(name) for name in ("Cascade", "Hb"))
    error = dpb.loss.scaled_error(workload, x, cascade.run(x, workload, epsilon=0.1, trials=8, seed=0))
    assert error.mean() < 0.8 * dpb.loss.scaled_error(workload, x, hb.run(x, workload, 0.1, trials=8, seed=0)).mean()
