"""UGrid: an even grid whose cells fit the number of records."""

from __future__ import annotations

from fractions import Fraction
from math import floor, sqrt

import numpy as np
import pytest

from dpbench import algorithms
from dpbench.audit import check_algorithm
from dpbench.errors import CheckFailed, InvalidInput, UnknownName
from dpbench.privacy import NoNoise, Recording
from dpbench.workloads import Identity, RandomRange
from reference.grid import block_average, mean_squared_error, square_labels
from reference.sampling import standard_errors

UGRID = algorithms.get("UGrid")
PUBLISHED = algorithms.get("UGrid", variant="published")
SHAPES = [(1, 1), (1, 7), (9, 1), (5, 12), (16, 16), (7, 30), (16, 64)]


def counts_on(shape, scale, seed=0):
    """``scale`` records on a shape, crowded towards the first cells."""
    chance = 1.0 / (1 + np.arange(np.prod(shape)))
    return np.random.default_rng(seed).multinomial(scale, chance / chance.sum()).reshape(shape)


def asked(algorithm, x, epsilon, **more):
    """What a run asks, without noise."""
    recording = Recording()
    algorithm._outcome(x, Identity(x.shape), epsilon, noise=NoNoise(1), channel=recording, **more)
    return recording.exchanges


class TestGrid:
    @pytest.mark.parametrize("shape", SHAPES)
    @pytest.mark.parametrize(("scale", "epsilon"), [(50, 0.1), (1000, 0.1), (1000, 1), (10**5, 1), (10**8, 0.1)])
    def test_blocks_of_the_rule(self, shape, scale, epsilon):
        """The side is sqrt(cells c / (N epsilon)) rounded down, at least 1; without noise blocks are averaged."""
        x = counts_on(shape, scale)
        side = max(1, floor(sqrt(x.size * 10 / (scale * epsilon))))
        ((question, _),) = asked(UGRID, x, epsilon, side_information="public")
        assert question.shape == tuple(-(-length // side) for length in shape)
        assert question.sensitivity == 1
        assert question.amount == Fraction(str(epsilon))
        estimate = UGRID._outcome(x, Identity(shape), epsilon, noise=NoNoise(1), side_information="public").estimate[0]
        np.testing.assert_allclose(estimate, block_average(x, square_labels(shape, side)), rtol=1e-12)

    def test_cells_are_asked_for_one_by_one_from_where_the_rule_says(self):
        """Exactly where N epsilon exceeds c n1 n2 / 4."""
        x = np.zeros((8, 8), dtype=int)
        for scale, shape in [(160, (4, 4)), (161, (8, 8))]:
            x[0, 0] = scale
            ((question, _),) = asked(UGRID, x, 1, side_information="public")
            assert question.shape == shape

    @pytest.mark.parametrize("shape", SHAPES)
    def test_no_records_are_one_block(self, shape):
        """Known to be none; estimated, the scale is never less than 1 / epsilon."""
        x = np.zeros(shape, dtype=int)
        ((question, _),) = asked(UGRID, x, 0.1, side_information="public")
        assert question.shape == (1, 1)
        assert np.isfinite(UGRID.run(x, Identity(shape), 1e-6, trials=3, seed=0)).all()

    @pytest.mark.parametrize(
        ("shape", "scale", "parts"), [((16, 64), 1000, (10, 10)), ((3, 64), 1000, (3, 10)), ((5, 5), 2, (1, 1))]
    )
    def test_m_by_m(self, shape, scale, parts):
        """The publication's grid: round(sqrt(N epsilon / c)) nearly equal parts of each axis, at most its cells."""
        x = counts_on(shape, scale)
        grid = algorithms.get("UGrid", mode="m_by_m")
        ((question, _),) = asked(grid, x, 1, side_information="public")
        assert question.shape == parts
        estimate = grid._outcome(x, Identity(shape), 1, noise=NoNoise(1), side_information="public").estimate[0]
        labels = [np.arange(side) for side in shape]
        for axis, (side, many) in enumerate(zip(shape, parts, strict=True)):
            cuts = [side * i // many for i in range(1, many)]
            labels[axis] = np.searchsorted(cuts, np.arange(side), side="right")
            sizes = np.bincount(labels[axis])
            assert len(sizes) == many
            assert np.ptp(sizes) <= 1
        wanted = block_average(x, labels[0][:, None] * 1000 + labels[1][None, :])
        np.testing.assert_allclose(estimate, wanted, rtol=1e-12)


class TestError:
    @pytest.mark.parametrize(("shape", "scale"), [((16, 16), 200), ((5, 12), 300), ((16, 16), 3000)])
    def test_it_is_bias_and_variance(self, shape, scale):
        """With N known, the mean of 1500 runs is within 4 standard errors of the exact error.

        False alarms: 3 comparisons at 6.3e-5 each, one choice of seeds in 5000.
        """
        x, workload = counts_on(shape, scale), RandomRange(shape, queries=40)
        labels = square_labels(shape, max(1, floor(sqrt(x.size * 10 / (scale * 0.5)))))
        covariance = 2 / 0.5**2 * np.eye(labels.max() + 1)
        expected = mean_squared_error(x, labels, workload.matrix(), covariance)
        error = UGRID.run(x, workload, 0.5, trials=1500, seed=5, side_information="public") - x
        assert abs(standard_errors(workload.mean_squared(error), expected)) < 4

    @pytest.mark.parametrize("shape", SHAPES)
    def test_it_goes_to_zero(self, shape):
        """At epsilon 1e6 blocks are cells and the noise is small."""
        x = counts_on(shape, 1000)
        np.testing.assert_allclose(UGRID.run(x, Identity(shape), 1e6, seed=0)[0], x, atol=1e-3)


class TestScale:
    def test_an_estimated_scale_gives_each_trial_a_grid_of_its_own(self):
        """Grids differ between trials, and every trial is what it is alone."""
        x, workload = counts_on((16, 16), 300), RandomRange((16, 16), queries=5)
        recording = Recording()
        release = UGRID._outcome(x, workload, 0.05, trials=8, seed=3, channel=recording)
        shapes = {recording.only(trial).exchanges[0][0].shape for trial in range(8)}
        assert len(shapes) > 1
        np.testing.assert_array_equal(release.estimate[:5], UGRID.run(x, workload, 0.05, trials=5, seed=3))
        np.testing.assert_array_equal(release.estimate[:1], UGRID.run(x, workload, 0.05, seed=3))

    def test_what_it_costs(self):
        """A twentieth of epsilon; the rest goes to the blocks and into the rule."""
        x = np.full((16, 16), 1)  # 256 records, one a cell
        (scale, _), (blocks, _) = asked(UGRID, x, 1)
        assert scale.amount == Fraction(1, 20)
        assert blocks.amount == Fraction(19, 20)
        assert blocks.shape == (-(-16 // floor(sqrt(256 * 10 / (256 * 0.95)))),) * 2

    def test_the_published_form_uses_the_true_one_and_says_so(self):
        """Its ledger is marked; with an estimated scale it is the private form."""
        assert not PUBLISHED.is_private
        x, workload = counts_on((8, 8), 100), Identity((8, 8))
        told = PUBLISHED.outcome(x, workload, 1, seed=0)
        assert not told.ledger.private
        np.testing.assert_array_equal(told.estimate, UGRID.run(x, workload, 1, side_information="public", seed=0))
        estimated = PUBLISHED.outcome(x, workload, 1, side_information="estimated", seed=0)
        assert estimated.ledger.private
        np.testing.assert_array_equal(estimated.estimate, UGRID.run(x, workload, 1, seed=0))
        with pytest.raises(CheckFailed, match="true scale"):
            check_algorithm(PUBLISHED)


def test_the_private_form_is_private():
    """It has every property of an algorithm."""
    check_algorithm(UGRID, cases=8)


@pytest.mark.parametrize("mode", ["square", "m_by_m"])
def test_scale_and_epsilon_are_exchangeable(mode):
    """Eight times the counts with an eighth of the budget give eight times the estimate, bit for bit."""
    x, workload, grid = counts_on((9, 14), 400), Identity((9, 14)), algorithms.get("UGrid", mode=mode)
    scaled = grid.run(8 * x, workload, 0.0625, trials=5, seed=4)
    np.testing.assert_array_equal(scaled, 8 * grid.run(x, workload, 0.5, trials=5, seed=4))


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"c": 0}, InvalidInput, "c is 0; give a finite number greater than 0"),
        ({"c": float("inf")}, InvalidInput, "c is inf"),
        ({"mode": "round"}, UnknownName, "no mode named 'round'"),
    ],
)
def test_bad_parameters_are_quoted(parameters, error, message):
    """With the range wanted."""
    with pytest.raises(error, match=message):
        algorithms.get("UGrid", **parameters)
