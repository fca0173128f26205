"""AGrid: a coarse grid whose cells are cut again where they hold many records."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, sqrt

import numpy as np
import pytest

from dpbench import algorithms
from dpbench.audit import check_algorithm
from dpbench.domain import Domain
from dpbench.errors import CheckFailed, InvalidInput, UnknownName
from dpbench.mathematics.least_squares import TreeLeastSquares
from dpbench.mathematics.tree import Tree
from dpbench.privacy import NoNoise, Recording
from dpbench.workloads import Identity, RandomRange
from reference.grid import labels_of, mean_squared_error, square_labels
from reference.sampling import standard_errors

AGRID = algorithms.get("AGrid")
PUBLISHED = algorithms.get("AGrid", variant="published")
SHAPES = [(1, 1), (1, 7), (9, 1), (5, 12), (40, 25), (1, 400), (64, 64)]


def counts_on(shape, scale, seed=0):
    """``scale`` records on a shape, crowded towards the first cells."""
    chance = 1.0 / (1 + np.arange(np.prod(shape)))
    return np.random.default_rng(seed).multinomial(scale, chance / chance.sum()).reshape(shape)


def told(algorithm, x, epsilon, *, noise=None, trials=1, seed=0):
    """The answers of both calls of one trial, with their questions, and the estimate."""
    recording = Recording()
    estimate = algorithm._outcome(
        x, Identity(x.shape), epsilon, trials, seed, noise=noise, channel=recording, side_information="public"
    ).estimate
    exchanges = recording.only(0).exchanges
    return [(question, answers[0]) for question, answers in exchanges], estimate[0]


def fl1(value):
    """Rounded down, at least 1."""
    return max(1, floor(value))


def second_grid(algorithm, shape, side, blocks, epsilon):
    """Boxes of the rule, written out: for each coarse block m2, and lower and upper corners of its squares."""
    found = []
    for i, top in enumerate(range(0, shape[0], side)):
        for j, left in enumerate(range(0, shape[1], side)):
            bottom, right = min(top + side, shape[0]), min(left + side, shape[1])
            signal = blocks[i, j] * (1 - algorithm.alpha) * epsilon / algorithm.c2
            root = sqrt(max(signal, 0))
            m2 = max(1, ceil(root)) if algorithm.rounding == "ceil" else fl1(root)
            g2 = fl1(sqrt((bottom - top) * (right - left) / m2**2))
            squares = [
                ((r, c), (min(r + g2, bottom), min(c + g2, right)))
                for r in range(top, bottom, g2)
                for c in range(left, right, g2)
            ]
            found.append((m2, squares))
    return found


class TestGrids:
    @pytest.mark.parametrize(("side", "step"), [(32, 3), (64, 6), (128, 12), (256, 25)])
    def test_the_coarse_grids_of_the_paper(self, side, step):
        """Eleven blocks an axis while N epsilon is below 19360."""
        for signal in (0.0, 100.0, 19359.0):
            grid = AGRID._coarse_grid(Domain((side, side)), signal)
            assert grid.shape == (11, 11)
            assert grid.cuts[0][1] == step

    @pytest.mark.parametrize("rounding", ["floor", "ceil"])
    @pytest.mark.parametrize(("signal", "floored", "rounded_up"), [(19_360, 11, 11), (19_361, 11, 12), (10**6, 79, 80)])
    def test_the_number_of_parts(self, rounding, signal, floored, rounded_up):
        """A quarter of sqrt(N epsilon / c), rounded, and at least 10."""
        grid = algorithms.get("AGrid", rounding=rounding)._coarse_grid(Domain((512, 512)), signal)
        parts = floored if rounding == "floor" else rounded_up
        assert grid.cuts[0][1] == floor(512 / parts)

    @pytest.mark.parametrize("shape", SHAPES)
    @pytest.mark.parametrize("rounding", ["floor", "ceil"])
    @pytest.mark.parametrize("scale", [0, 300, 10**5])
    def test_the_squares_of_the_rule(self, shape, rounding, scale):
        """Each block is cut as its noisy count says, row by row, and the squares tile the domain."""
        agrid, x = algorithms.get("AGrid", rounding=rounding), counts_on(shape, scale)
        ((coarse, blocks), (fine, squares)), _ = told(agrid, x, 0.5, seed=scale)
        side = fl1(sqrt(x.size / max(10, floor(sqrt(scale * 0.5 / 10) / 4)) ** 2))
        grid = second_grid(agrid, shape, side, blocks, 0.5)
        lower, upper = zip(*(square for _, part in grid for square in part), strict=True)
        labels = labels_of(shape, lower, upper)
        np.testing.assert_array_equal(fine.truth, np.bincount(labels.reshape(-1), weights=x.reshape(-1)))
        assert coarse.amount == fine.amount == Fraction(1, 4)
        assert coarse.sensitivity == fine.sensitivity == 1
        assert len(squares) == len(lower)

    def test_negative_counts_are_not_cut(self):
        """A block of noisy count 0 or less has one square, if it is square itself."""
        parts = AGRID._parts(np.array([-5.0, 0.0, 4.9, 5.0, 20.0, 1e15]))
        np.testing.assert_array_equal(parts, [1, 1, 1, 1, 2, floor(sqrt(2e14))])


class TestAverage:
    @pytest.mark.parametrize("alpha", [0.5, 0.3])
    @pytest.mark.parametrize("shape", [(5, 12), (40, 25)])
    def test_it_is_least_squares_on_a_tree(self, shape, alpha):
        """With kappa = k the estimate is that of the tree: an unmeasured root, blocks, squares."""
        agrid, x = algorithms.get("AGrid", alpha=alpha), counts_on(shape, 2000)
        ((_, blocks), (_, squares)), estimate = told(agrid, x, 1.0)
        side = fl1(sqrt(x.size / 100))
        grid = second_grid(agrid, shape, side, blocks, 1.0)
        boxes = [square for _, part in grid for square in part]
        cells = np.arange(x.size).reshape(shape)
        line = [cells[r:rr, c:cc].reshape(-1) for (r, c), (rr, cc) in boxes]
        sizes = np.array([len(piece) for piece in line])
        many = np.array([len(part) for _, part in grid])
        stops = np.cumsum(sizes)
        block_stops = stops[np.cumsum(many) - 1]
        fanouts = np.concatenate([[len(many)], many, np.zeros(len(boxes), dtype=int)])
        weight = np.repeat([0, alpha, 1 - alpha], [1, len(many), len(boxes)])
        tree = Tree(
            domain=Domain(shape),
            order=np.concatenate(line),
            start=np.concatenate([[0], [0], block_stops[:-1], [0], stops[:-1]]),
            stop=np.concatenate([[x.size], block_stops, stops]),
            first_child=1 + np.concatenate([[0], np.cumsum(fanouts)]),
            weight=weight,
        )
        answers = weight[1:] * np.concatenate([blocks.reshape(-1), squares])
        np.testing.assert_allclose(estimate, TreeLeastSquares(tree).solve(answers[None])[0], rtol=1e-9, atol=1e-9)

    @pytest.mark.parametrize(("k", "m2", "excess"), [(144, 50, 0.006), (16, 3, 0.03), (2, 1, 0.125)])
    def test_what_the_authors_average_costs(self, k, m2, excess):
        """The variance of a block with kappa = m2^2 against that with kappa = k."""

        def variance(algorithm):
            unit = np.eye(k + 1)
            weights = [algorithm._combine(row[:1], row[1:], np.array([k]), np.array([float(m2)])).sum() for row in unit]
            assert sum(weights[1:]) / k + weights[0] == pytest.approx(1)
            return sum(2 / 0.5**2 * weight**2 for weight in weights)

        assert variance(AGRID) == pytest.approx(1 / (0.5**2 / 2 + 0.5**2 / (2 * k)))
        assert variance(PUBLISHED) / variance(AGRID) == pytest.approx(1 + excess, rel=0.005)

    def test_a_block_that_is_not_cut_is_measured_twice(self):
        """With alpha a half, the estimate is the plain average of both."""
        agrid = algorithms.get("AGrid", fewest=1)
        ((_, blocks), (_, squares)), estimate = told(agrid, np.zeros((3, 3), dtype=int), 1.0, seed=1)
        assert blocks.shape == (1, 1)
        assert squares.shape == (1,)
        np.testing.assert_allclose(estimate, (blocks[0, 0] + squares[0]) / 2 / 9)

    def test_without_noise_squares_are_averaged(self):
        """Exact counts are kept by the average, whatever kappa."""
        x = counts_on((40, 25), 3000)
        for agrid in (AGRID, PUBLISHED):
            ((_, _), (_, squares)), estimate = told(agrid, x, 1.0, noise=NoNoise(1))
            assert estimate.sum() == pytest.approx(3000)
            assert len(np.unique(estimate)) <= len(squares)


class TestError:
    @pytest.mark.parametrize("algorithm", [AGRID, PUBLISHED], ids=lambda form: form.variant)
    def test_it_is_bias_and_variance_given_the_squares(self, algorithm):
        """Where nothing is cut again, the mean of 1500 runs is within 4 standard errors of the exact error.

        c2 is so large that every block keeps one grid, so the partition is known: blocks of 4 x 4, each measured twice.
        False alarms: 2 comparisons at 6.3e-5 each, one choice of seeds in 8000.
        """
        shape = (16, 16)
        x, workload = counts_on(shape, 500), RandomRange(shape, queries=40)
        agrid = algorithms.get("AGrid", variant=algorithm.variant, c2=1e9, fewest=4)
        labels = square_labels(shape, 4)
        covariance = np.eye(16) / (2 * 0.5**2 * 0.5**2 / 2)
        expected = mean_squared_error(x, labels, workload.matrix(), covariance)
        error = agrid.run(x, workload, 0.5, trials=1500, seed=6, side_information="public") - x
        assert abs(standard_errors(workload.mean_squared(error), expected)) < 4

    @pytest.mark.parametrize("shape", SHAPES)
    def test_it_goes_to_zero(self, shape):
        """At epsilon 1e6 squares with records are cells, and the others hold nothing."""
        x = counts_on(shape, 1000)
        for agrid in (AGRID, PUBLISHED):
            np.testing.assert_allclose(agrid.run(x, Identity(shape), 1e6, seed=0)[0], x, atol=1e-3)


class TestForms:
    def test_the_private_form_estimates_the_scale(self):
        """With a twentieth of epsilon."""
        ledger = AGRID.outcome(counts_on((8, 8), 100), Identity((8, 8)), 1, seed=0).ledger
        assert [charge.amount for charge in ledger.charges] == [Fraction(1, 20), Fraction(19, 20)]

    def test_the_published_form_uses_the_true_scale_and_says_so(self):
        """Its ledger is marked, unless the scale is estimated."""
        assert (AGRID.kappa, PUBLISHED.kappa) == ("k", "m2")
        assert not PUBLISHED.is_private
        x, workload = counts_on((8, 8), 100), Identity((8, 8))
        assert not PUBLISHED.outcome(x, workload, 1, seed=0).ledger.private
        assert PUBLISHED.outcome(x, workload, 1, side_information="estimated", seed=0).ledger.private
        check_algorithm(PUBLISHED, side_information="estimated", cases=8)
        with pytest.raises(CheckFailed, match="true scale"):
            check_algorithm(PUBLISHED)

    def test_scale_and_epsilon_are_exchangeable(self):
        """Eight times the counts with an eighth of the budget give eight times the estimate, bit for bit."""
        x, workload = counts_on((19, 34), 4000), Identity((19, 34))
        for agrid in (AGRID, PUBLISHED, algorithms.get("AGrid", rounding="ceil")):
            scaled = agrid.run(8 * x, workload, 0.0625, trials=5, seed=4)
            np.testing.assert_array_equal(scaled, 8 * agrid.run(x, workload, 0.5, trials=5, seed=4))


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"alpha": 0}, InvalidInput, "alpha is 0; give a share between 0 and 1"),
        ({"alpha": 1.0}, InvalidInput, "alpha is 1.0"),
        ({"c": -2}, InvalidInput, "c is -2; give a finite number greater than 0"),
        ({"c2": float("nan")}, InvalidInput, "c2 is nan"),
        ({"fewest": 0}, InvalidInput, "fewest is 0; give a whole number of at least 1"),
        ({"rounding": "up"}, UnknownName, "no rounding named 'up'"),
        ({"kappa": "n"}, UnknownName, "no kappa named 'n'"),
    ],
)
def test_bad_parameters_are_quoted(parameters, error, message):
    """With the range wanted."""
    with pytest.raises(error, match=message):
        algorithms.get("AGrid", **parameters)
