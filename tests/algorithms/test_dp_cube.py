"""DPCube: a kd-tree on noisy cells, then fresh counts of its boxes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpbench import algorithms
from dpbench.audit import check_algorithm
from dpbench.domain import Domain
from dpbench.errors import CheckFailed, InvalidInput, UnknownName
from dpbench.mathematics.grid import GridCounts, boxes_by_penalty, boxes_by_variance, steps
from dpbench.privacy import NoNoise, Recording
from dpbench.workloads import Identity, Prefix
from reference import dp_cube as reference
from reference.grid import block_average, labels_of, square_labels

DPCUBE = algorithms.get("DPCube")
PUBLISHED = algorithms.get("DPCube", variant="published")
SHAPES = [(1,), (2,), (7,), (12,), (1, 1), (3, 4), (4, 4), (1, 9), (5, 2), (2, 3, 2), (3, 3, 3)]


def as_boxes(lower, upper):
    """Boxes as pairs of tuples."""
    return [(tuple(map(int, low)), tuple(map(int, high))) for low, high in zip(lower, upper, strict=True)]


def told(algorithm, x, epsilon, seed=0):
    """Questions and answers of one trial, and its estimate."""
    recording = Recording()
    estimate = algorithm._outcome(x, Identity(x.shape), epsilon, 1, seed, channel=recording).estimate
    exchanges = recording.exchanges + recording.only(0).exchanges
    return [(question, answers[0]) for question, answers in exchanges], estimate[0]


def boxes_of(algorithm, cells, first):
    """The boxes that the private form makes of noisy cells."""
    threshold = algorithm.tolerance * 2 / first**2
    return boxes_by_variance(cells, threshold, algorithm.small, 2 * threshold, at_median=algorithm.split == "median")


class TestSplits:
    @pytest.mark.parametrize("shape", SHAPES)
    @pytest.mark.parametrize("at_median", [False, True])
    def test_by_variance(self, shape, at_median):
        """The same boxes in the same order as trying every cut on every cell."""
        rng = np.random.default_rng(len(shape))
        for threshold, small in [(0.0, 0), (0.5, 0), (2.0, 3), (8.0, 10), (1e9, 0)]:
            y = rng.laplace(size=shape) * 2 + rng.integers(0, 2, size=shape) * 4
            lower, upper = boxes_by_variance(y, threshold, small, 2 * threshold, at_median=at_median)
            wanted = reference.by_variance(y, threshold, small, "median" if at_median else "sse")
            assert as_boxes(lower, upper) == wanted

    @pytest.mark.parametrize(("shape", "block"), [((1,), 11), ((25,), 4), ((30,), 11), ((9, 13), 3), ((5, 6, 4), 2)])
    def test_by_penalty(self, shape, block):
        """The same boxes as trying every boundary between cells: one inside a block never is the best."""
        rng = np.random.default_rng(block)
        grid = GridCounts(Domain(shape), tuple(steps(side, block) for side in shape))
        for penalty in (0.5, 5.0, 50.0, 1e9):
            totals = rng.laplace(size=grid.shape) * 9 + rng.integers(0, 3, size=grid.shape) * 20
            lower, upper = boxes_by_penalty(totals, grid, penalty)
            assert as_boxes(lower, upper) == reference.by_penalty(grid.spread(totals[None])[0], penalty)

    @pytest.mark.parametrize("side", [64, 500])
    def test_a_huge_cell_does_not_hide_small_ones(self, side):
        """One cell of 1e8 beside counts of 0 and 1: with almost no noise every difference is still found."""
        x = np.zeros(side)
        x[side // 2 :: 7] = 1
        x[3] = 1e8
        lower, upper = boxes_by_variance(x, 1e-12, 10, 2e-12, at_median=False)
        labels = labels_of(x.shape, lower, upper)
        np.testing.assert_array_equal(block_average(x, labels), x)


class TestSecondPhase:
    @pytest.mark.parametrize("shape", [(12,), (40,), (6, 5), (3, 4, 2)])
    @pytest.mark.parametrize("rho", [0.5, 0.2])
    def test_both_counts_are_averaged(self, shape, rho):
        """Totals are averages by precision, evenly spread, or by dense least squares over cells; box totals agree."""
        x = np.random.default_rng(1).integers(0, 9, size=shape)
        dpcube = algorithms.get("DPCube", rho=rho)
        ((first, cells), (second, counts)), estimate = told(dpcube, x, 1)
        assert (first.amount, second.amount) == (Fraction(str(rho)), 1 - Fraction(str(rho)))
        assert first.sensitivity == second.sensitivity == 1
        labels = labels_of(shape, *boxes_of(dpcube, cells, rho))
        m = np.bincount(labels.reshape(-1))
        sums = np.bincount(labels.reshape(-1), weights=cells.reshape(-1))
        total = (m * (1 - rho) ** 2 * counts + rho**2 * sums) / (m * (1 - rho) ** 2 + rho**2)
        np.testing.assert_allclose(estimate, (total / m)[labels], atol=1e-9)
        np.testing.assert_array_equal(second.truth, np.bincount(labels.reshape(-1), weights=x.reshape(-1)))

        on_cells = algorithms.get("DPCube", rho=rho, spread="cells")
        _, spread = told(on_cells, x, 1)
        wanted = reference.least_squares_of_cells(cells, labels, counts, rho, 1 - rho)
        np.testing.assert_allclose(spread, wanted, atol=1e-9)
        np.testing.assert_allclose(np.bincount(labels.reshape(-1), weights=spread.reshape(-1)), total, atol=1e-9)

    def test_even_data_become_few_boxes(self):
        """Constant counts leave noise alone in the cells, which a loose threshold takes for what it is."""
        x = np.full(512, 20)
        ((_, _), (second, _)), _ = told(algorithms.get("DPCube", tolerance=1.5), x, 1)
        assert second.shape[0] < 10


class TestPublished:
    def test_one_axis(self):
        """Blocks of 11, boxes by penalty, fresh noise, no average."""
        x = np.random.default_rng(0).integers(0, 50, size=100)
        ((first, blocks), (second, counts)), estimate = told(PUBLISHED, x, 1)
        assert first.shape == (10,)
        np.testing.assert_array_equal(first.truth, np.add.reduceat(x, np.arange(0, 100, 11)))
        grid = GridCounts(Domain((100,)), (steps(100, 11),))
        labels = labels_of((100,), *boxes_by_penalty(blocks, grid, 2.0))
        np.testing.assert_array_equal(second.truth, np.bincount(labels, weights=x))
        np.testing.assert_allclose(estimate, (counts / np.bincount(labels))[labels])
        assert PUBLISHED.outcome(x, Prefix(100), 1, seed=0).ledger.private

    @pytest.mark.parametrize(("shape", "rho"), [((40, 25), 0.5), ((23, 23), 0.25), ((12, 12, 12), 0.5)])
    def test_on_several_axes_the_noise_is_used_twice(self, shape, rho):
        """The i-th box has the noise of the i-th block, scaled to its budget; the ledger says so."""
        x = np.random.default_rng(0).integers(0, 50, size=shape)
        published = algorithms.get("DPCube", variant="published", rho=rho)
        ((first, blocks),), estimate = told(published, x, 1)
        noise = (blocks - first.truth).reshape(-1) * rho / (1 - rho)
        grid = GridCounts(Domain(shape), tuple(steps(side, 11) for side in shape))
        labels = labels_of(shape, *boxes_by_penalty(blocks, grid, 1 / (1 - rho)))
        sizes = np.bincount(labels.reshape(-1))
        totals = np.bincount(labels.reshape(-1), weights=x.reshape(-1)) + noise[: len(sizes)]
        np.testing.assert_allclose(estimate, (totals / sizes)[labels], rtol=1e-9, atol=1e-9)
        release = published.outcome(x, Identity(shape), 1, seed=0)
        assert not release.ledger.private
        assert release.ledger.forfeited == 1 - Fraction(str(rho))

    def test_it_is_caught(self):
        """It is declared not private, and the check says why."""
        assert not PUBLISHED.is_private
        with pytest.raises(CheckFailed, match="in 2-D both phases draw with one seed"):
            check_algorithm(PUBLISHED)

    def test_its_rule_with_fresh_noise_is_private(self):
        """rule="penalty" in the private form reveals nothing on two axes."""
        fresh = algorithms.get("DPCube", rule="penalty")
        assert fresh.outcome(np.zeros((30, 30), dtype=int), Identity((30, 30)), 1, seed=0).ledger.private
        assert not fresh.consistent
        assert not fresh.exchangeable

    @pytest.mark.parametrize("shape", [(100,), (30, 20)])
    def test_a_bias_stays(self, shape):
        """At epsilon 1e9 and without noise the estimate is the average of the blocks."""
        x = np.random.default_rng(0).integers(0, 50, size=shape)
        estimate = PUBLISHED._outcome(x, Identity(shape), 1e9, noise=NoNoise(1)).estimate[0]
        np.testing.assert_allclose(estimate, block_average(x, square_labels(shape, 11)), rtol=1e-9)

    def test_it_is_not_exchangeable(self):
        """Penalty and deviations grow differently: a hundred times the counts at a hundredth of epsilon, more boxes."""
        x = np.random.default_rng(0).poisson(np.linspace(1, 4, 2000))
        few, many = (told(PUBLISHED, x * a, 1 / a)[0][1][0].shape[0] for a in (1, 100))
        assert few < many / 2


class TestPrivate:
    @pytest.mark.parametrize("shape", [(1,), (13,), (5, 12), (1, 7), (4, 6, 3)])
    def test_it_is_consistent_and_exchangeable(self, shape):
        """Exact at epsilon 1e6 and 1e9; eight times the counts at an eighth of epsilon, bit for bit."""
        x, workload = np.random.default_rng(2).integers(0, 1000, size=shape), Identity(shape)
        for epsilon in (1e6, 1e9):
            np.testing.assert_allclose(DPCUBE.run(x, workload, epsilon, seed=0)[0], x, atol=1e-3)
        for split in ("sse", "median"):
            dpcube = algorithms.get("DPCube", split=split)
            scaled = dpcube.run(8 * x, workload, 0.0625, trials=5, seed=4)
            np.testing.assert_array_equal(scaled, 8 * dpcube.run(x, workload, 0.5, trials=5, seed=4))

    def test_on_four_axes(self):
        """Any number of axes."""
        x = np.random.default_rng(2).integers(0, 9, size=(2, 3, 2, 3))
        np.testing.assert_allclose(DPCUBE.run(x, Identity(x.shape), 1e6, seed=0)[0], x, atol=1e-3)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"rho": 1.0}, InvalidInput, "rho is 1.0; give a share between 0 and 1"),
        ({"tolerance": -1}, InvalidInput, "tolerance is -1; give a finite number of at least 0"),
        ({"small": -1}, InvalidInput, "small is -1; give a number of cells of at least 0"),
        ({"block": 0}, InvalidInput, "block is 0; give a whole number of at least 1"),
        ({"rule": "both"}, UnknownName, "no rule named 'both'"),
        ({"split": "mean"}, UnknownName, "no split named 'mean'"),
        ({"spread": "even"}, UnknownName, "no spread named 'even'"),
    ],
)
def test_bad_parameters_are_quoted(parameters, error, message):
    """With the range wanted."""
    with pytest.raises(error, match=message):
        algorithms.get("DPCube", **parameters)
