"""QuadTree: squares cut into four, with a budget that grows towards the leaves."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench import algorithms
from dpbench.algorithms.quad_tree import level_weights
from dpbench.audit import check_algorithm
from dpbench.domain import Domain
from dpbench.errors import InvalidInput, UnknownName, Unsupported
from dpbench.mathematics.authors_tree import RawPrecision
from dpbench.mathematics.least_squares import TreeLeastSquares
from dpbench.mathematics.tree import complete_tree, complete_tree_of_blocks
from dpbench.privacy import NoNoise, Recording
from dpbench.workloads import AllRange, Identity, RandomRange
from reference import quad_tree as reference
from reference import tree as dense
from reference.grid import block_average, mean_squared_error
from reference.sampling import standard_errors

QUADTREE = algorithms.get("QuadTree")
PUBLISHED = algorithms.get("QuadTree", variant="published")
SHAPES = [(1, 1), (2, 2), (3, 1), (1, 7), (5, 12), (8, 8), (9, 4)]

TABLE = {
    # side: geometric, uniform
    32: (724.70, 1553.47),
    64: (1836.69, 4475.30),
    128: (4395.37, 12115.09),
    256: (10076.25, 31337.62),
}


def asked(algorithm, shape):
    """The one question that a run asks."""
    recording = Recording()
    algorithm._outcome(np.zeros(shape, dtype=int), RandomRange(shape, queries=1), 0.5, channel=recording, seed=0)
    ((question, _),) = recording.exchanges
    return question


@pytest.mark.parametrize("algorithm", [QUADTREE, PUBLISHED], ids=lambda form: form.variant)
def test_both_forms_are_private(algorithm):
    """Each has every property of an algorithm."""
    check_algorithm(algorithm, cases=8)


class TestExpectedError:
    @pytest.mark.parametrize("side", TABLE)
    def test_the_table(self, side):
        """Every entry for random rectangles of a square, to its last digit."""
        workload = RandomRange((side, side), queries=None)
        for budget, error in zip(("geometric", "uniform"), TABLE[side], strict=True):
            quadtree = algorithms.get("QuadTree", budget=budget)
            assert quadtree.expected_error(workload, 1) == pytest.approx(error, abs=0.00501)
            assert quadtree.expected_error(workload, 0.1) == pytest.approx(100 * error, rel=1e-4)

    @pytest.mark.parametrize(("side", "ratio"), [(8, 1.005), (16, 1.006), (32, 1.009), (64, 1.011)])
    def test_what_the_authors_weights_cost(self, side, ratio):
        """About one per cent of the squared error, as the specification rounds it."""
        workload = RandomRange((side, side), queries=None)
        cost = PUBLISHED.expected_error(workload, 1) / QUADTREE.expected_error(workload, 1)
        assert cost == pytest.approx(ratio, abs=0.0006)

    @pytest.mark.parametrize("shape", [(1, 1), (3, 1), (1, 7), (2, 2), (3, 7), (8, 8)])
    @pytest.mark.parametrize("budget", ["geometric", "uniform"])
    def test_it_is_the_dense_trace(self, shape, budget):
        """Of least squares, and of the authors' two passes as a linear map, on every shape."""
        workload, height = RandomRange(shape, queries=20), (max(shape) - 1).bit_length()
        tree = complete_tree(Domain(shape), 2, level_weights(height, budget))
        least_squares = algorithms.get("QuadTree", budget=budget).expected_error(workload, 0.5)
        assert least_squares == pytest.approx(8 * dense.mean_variance(tree, workload.matrix()), rel=1e-9)
        authors = algorithms.get("QuadTree", variant="published", budget=budget).expected_error(workload, 0.5)
        assert authors == pytest.approx(8 * reference.mean_variance(tree, workload.matrix()), rel=1e-9)

    @pytest.mark.parametrize("algorithm", [QUADTREE, PUBLISHED], ids=lambda form: form.variant)
    @pytest.mark.parametrize("shape", [(16, 16), (5, 12)])
    def test_it_is_the_sampled_one(self, algorithm, shape):
        """The mean of 1000 runs is within 4 standard errors. False alarms: 4 at 6.3e-5, one choice of seeds in 4000."""
        workload = RandomRange(shape, queries=50, seed=1)
        noise = algorithm.run(np.zeros(shape, dtype=int), workload, 1, trials=1000, seed=8)
        assert abs(standard_errors(workload.mean_squared(noise), algorithm.expected_error(workload, 1))) < 4

    def test_blocks_have_none(self):
        """Where leaves are blocks the error depends on the data, and the refusal says which height would do."""
        with pytest.raises(Unsupported, match=r"height 3 depends on the data on 9x4, .*use height=4 or run it"):
            algorithms.get("QuadTree", height=3).expected_error(AllRange((9, 4)), 1)


class TestBudget:
    def test_shares_of_eight_cuts(self):
        """The shares of the specification, which add up to 1."""
        wanted = [0.0371, 0.0468, 0.0589, 0.0743, 0.0936, 0.1179, 0.1485, 0.1871, 0.2358]
        np.testing.assert_allclose(level_weights(8, "geometric"), wanted, atol=5e-5)
        assert level_weights(8, "geometric").sum() == pytest.approx(1, rel=1e-15)
        np.testing.assert_allclose(level_weights(8, "uniform"), 1 / 9)

    @pytest.mark.parametrize("shape", SHAPES)
    def test_one_record_moves_the_answers_by_one(self, shape):
        """The claim is 1 up to its rounding up, and every cell's weights add up to no more."""
        question = asked(QUADTREE, shape)
        height = (max(shape) - 1).bit_length()
        fanout = 2 ** sum(side > 1 for side in shape)
        assert question.shape == (sum(fanout**depth for depth in range(height + 1)),)
        assert 1 <= question.sensitivity < 1 + 1e-14 or height == 0
        tree = complete_tree_of_blocks(Domain(shape), 2, height, level_weights(height, "geometric"))
        moved = dense.unit_answers(tree).sum(axis=1)
        np.testing.assert_allclose(moved, 1, rtol=1e-14)
        assert (moved <= float(question.sensitivity)).all()

    def test_one_cell_gets_noise_of_one_over_epsilon(self):
        """A single node."""
        assert asked(QUADTREE, (1, 1)).sensitivity == 1
        assert asked(QUADTREE, (1, 1)).level == 2
        assert QUADTREE.expected_error(AllRange((1, 1)), 1) == pytest.approx(2)


class TestTwoPasses:
    @pytest.mark.parametrize("shape", SHAPES)
    def test_the_tree_of_blocks_down_to_cells_is_the_complete_tree(self, shape):
        """The same nodes in the same order have the same counts, and the same answers the same solution."""
        height = (max(shape) - 1).bit_length()
        weights = level_weights(height, "geometric")
        one = TreeLeastSquares(complete_tree(Domain(shape), 2, weights))
        other = TreeLeastSquares(complete_tree_of_blocks(Domain(shape), 2, height, weights))
        x = np.random.default_rng(1).integers(0, 99, size=shape)
        np.testing.assert_allclose(one.strategy.answer(x), other.strategy.answer(x), rtol=1e-14)
        answers = np.random.default_rng(0).normal(size=(3, one.tree.nodes))
        np.testing.assert_array_equal(one.solve(answers), other.solve(answers))

    @pytest.mark.parametrize("shape", [(4, 4), (5, 3), (1, 6)])
    def test_the_authors_passes(self, shape):
        """Equal to the dense map, and unbiased: exact answers come back."""
        height = (max(shape) - 1).bit_length()
        tree = complete_tree(Domain(shape), 2, level_weights(height, "geometric"))
        solver = RawPrecision(tree)
        answers = np.random.default_rng(0).normal(size=(3, tree.nodes))
        wanted = dense.spread(tree) @ reference.raw_precision_map(tree) @ answers.T
        np.testing.assert_allclose(solver.solve(answers).reshape(3, -1), wanted.T, atol=1e-12)
        x = np.arange(np.prod(shape)).reshape(shape)
        np.testing.assert_allclose(solver.solve(solver.strategy.answer(x)[None])[0], x, atol=1e-12)

    def test_the_published_form_uses_them_and_has_no_limit(self):
        """The parameters of the two forms."""
        assert (QUADTREE.inference, QUADTREE.height) == ("ols", 10)
        assert (PUBLISHED.inference, PUBLISHED.height) == ("ref", 31)

    @pytest.mark.parametrize("algorithm", [QUADTREE, PUBLISHED], ids=lambda form: form.variant)
    def test_the_noise_does_not_depend_on_the_data(self, algorithm):
        """With one seed, estimates on x and on nothing differ by x."""
        x, workload = np.random.default_rng(0).integers(0, 1000, size=(5, 12)), Identity((5, 12))
        difference = algorithm.run(x, workload, 0.5, 3, 1) - algorithm.run(np.zeros_like(x), workload, 0.5, 3, 1)
        np.testing.assert_allclose(difference, np.broadcast_to(x, difference.shape), atol=1e-9)


class TestLimitedHeight:
    def blocks(self, shape, height):
        """The block of every cell: its coordinates without their last bits."""
        bits = (max(shape) - 1).bit_length() - height
        rows, columns = np.indices(shape) >> bits
        return np.unique(rows * 1000 + columns, return_inverse=True)[1].reshape(shape)

    @pytest.mark.parametrize("shape", [(8, 8), (5, 12), (1, 9), (7, 3)])
    @pytest.mark.parametrize("height", [0, 1, 2])
    def test_without_noise_blocks_are_averaged(self, shape, height):
        """Over those of their cells that are in the domain."""
        x = np.random.default_rng(3).integers(0, 50, size=shape)
        quadtree = algorithms.get("QuadTree", height=height)
        estimate = quadtree._outcome(x, Identity(shape), 1, noise=NoNoise(1)).estimate[0]
        np.testing.assert_allclose(estimate, block_average(x, self.blocks(shape, height)), atol=1e-9)

    @pytest.mark.parametrize("shape", [(8, 8), (6, 7)])
    def test_the_error_is_bias_and_variance(self, shape):
        """The mean of 1000 runs is within 4 standard errors of bias^2 + variance.

        False alarms: 2 comparisons at 6.3e-5 each, one choice of seeds in 8000.
        """
        x = np.random.default_rng(3).integers(0, 9, size=shape)
        workload = RandomRange(shape, queries=30)
        tree = complete_tree_of_blocks(Domain(shape), 2, 3, level_weights(2, "geometric"))
        keep = [i for i, leaf in enumerate(dense.leaves(tree)) if tree.real_cells[leaf]]
        labels = np.empty(x.size, dtype=int)
        for number, i in enumerate(keep):
            leaf = dense.leaves(tree)[i]
            labels[tree.order[tree.start[leaf] : tree.stop[leaf]]] = number
        leaf_map = _leaf_operator(tree)[keep]
        expected = mean_squared_error(x, labels.reshape(shape), workload.matrix(), 2 * leaf_map @ leaf_map.T)
        error = algorithms.get("QuadTree", height=2).run(x, workload, 1, trials=1000, seed=4) - x
        assert abs(standard_errors(workload.mean_squared(error), expected)) < 4

    def test_a_long_thin_domain(self):
        """A strip of 1100 cells has blocks of two, and the sum of all is an unbiased total."""
        x = np.arange(1100).reshape(1, 1100)
        estimate = QUADTREE.run(x, RandomRange((1, 1100), queries=5), 1e6, seed=0)[0, 0]
        np.testing.assert_allclose(estimate[0::2], estimate[1::2])
        np.testing.assert_allclose(estimate[0::2], (x[0, 0::2] + x[0, 1::2]) / 2, atol=1e-3)


def _leaf_operator(tree):
    """Least squares of the leaves ``(leaves, nodes)`` where padded leaves, without positions, are unknowns too."""
    nodes, leaves = len(tree.start), dense.leaves(tree)

    def below(node):
        return [node] if node in leaves else [leaf for child in dense.children(tree, node) for leaf in below(child)]

    matrix = np.zeros((nodes, len(leaves)))
    for node in range(nodes):
        for leaf in below(node):
            matrix[node, leaves.index(leaf)] = tree.weight[node]
    return np.linalg.pinv(matrix)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"height": -1}, InvalidInput, "height is -1; give a whole number from 0 to 31"),
        ({"height": 32}, InvalidInput, "height is 32"),
        ({"budget": "even"}, UnknownName, "no budget named 'even'"),
        ({"inference": "exact"}, UnknownName, "no inference named 'exact'"),
    ],
)
def test_bad_parameters_are_quoted(parameters, error, message):
    """With the range wanted."""
    with pytest.raises(error, match=message):
        algorithms.get("QuadTree", **parameters)


def test_other_dimensions_are_refused():
    """Two axes only."""
    with pytest.raises(Unsupported, match="2-D"):
        QUADTREE.run(np.arange(4), AllRange(4), 1, seed=0)
