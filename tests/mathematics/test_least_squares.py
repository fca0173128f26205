"""Weighted least squares on trees, and its variance without running it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpbench.domain import Domain
from dpbench.mathematics.greedy import greedy_tree
from dpbench.mathematics.hilbert import order
from dpbench.mathematics.kernels.tree import FEW
from dpbench.mathematics.least_squares import TreeLeastSquares, complete_tree_solver, complete_tree_variance
from dpbench.mathematics.tree import complete_tree
from dpbench.workloads import AllRange, Identity, Prefix, RandomRange, Ranges
from reference import tree as reference

TREES = 200


def random_trees(**options):
    for seed in range(TREES):
        rng = np.random.default_rng(seed)
        yield rng, reference.random_tree(rng, **options)


def listed(domain, queries, seed):
    """Random boxes with random weights."""
    drawn = RandomRange(domain, queries=queries, seed=seed).ranges()
    weights = np.random.default_rng(seed).normal(size=queries)
    return Ranges(domain, drawn.lower, drawn.upper, weights)


class TestSolve:
    def test_the_worked_example(self):
        """Root 10 and leaves 3 and 4, all of precision 1, become 4 and 5."""
        solver = TreeLeastSquares(complete_tree(Domain((2,)), 2, np.ones(2)))
        np.testing.assert_allclose(solver.solve(np.array([[10.0, 3.0, 4.0]])), [[4.0, 5.0]], rtol=1e-15)

    def test_random_uneven_trees_match_dense_least_squares(self):
        """On 200 trees with unmeasured roots, leaves of several cells and padding, two passes are exact."""
        kinds = set()
        for rng, tree in random_trees():
            answers = rng.normal(scale=10, size=(3, len(reference.measured(tree))))
            # 1e-11: rounding of a dense problem with condition number below 1e3 and answers near 10
            np.testing.assert_allclose(
                TreeLeastSquares(tree).solve(answers), reference.least_squares(tree, answers), atol=1e-11
            )
            if tree.unmeasured:
                kinds.add("unmeasured root")
            if (tree.order < 0).any():
                kinds.add("padding")
            if (tree.real_cells[tree.leaves] == 0).any():
                kinds.add("leaf of padding")
            if (tree.real_cells[tree.leaves] > 1).any():
                kinds.add("leaf of several cells")
            if (np.diff(tree.first_child) == 1).any():
                kinds.add("only child")
        assert len(kinds) == 5

    @pytest.mark.parametrize("domain", [(4, 6), (2, 3, 4)])
    def test_several_axes_are_a_matter_of_order(self, domain):
        """Over a shuffled line through a box, the cells come back in their places."""
        for seed in range(20):
            rng = np.random.default_rng(seed)
            tree = reference.random_tree(rng, domain=domain)
            answers = rng.normal(scale=10, size=(2, len(reference.measured(tree))))
            solved = TreeLeastSquares(tree).solve(answers)
            assert solved.shape == (2, *domain)
            np.testing.assert_allclose(solved, reference.least_squares(tree, answers), atol=1e-11)

    def test_exact_answers_give_the_counts_back(self):
        """Without noise every single-cell leaf is exact, and a larger one is its average."""
        for rng, tree in random_trees(collapse=0.2):
            x = rng.integers(0, 1000, size=tree.domain.size)
            solver = TreeLeastSquares(tree)
            expected = np.empty(x.size)
            for leaf in reference.leaves(tree):
                cells = [cell for cell in tree.order[tree.start[leaf] : tree.stop[leaf]] if cell >= 0]
                expected[cells] = x[cells].sum() / max(len(cells), 1)
            solved = solver.solve(solver.strategy.answer(x)[None, :])[0]
            np.testing.assert_allclose(solved, expected, rtol=1e-12, atol=1e-10)

    def test_spreading_evenly_is_the_shortest_least_squares_solution(self):
        """Without padding, the pseudo-inverse over cells, which knows no leaves, gives the same."""
        for rng, tree in random_trees(padding=0, collapse=0.5):
            A = np.array(reference.unit_answers(tree)).T
            answers = rng.normal(size=(2, len(A)))
            np.testing.assert_allclose(TreeLeastSquares(tree).solve(answers), answers @ np.linalg.pinv(A).T, atol=1e-11)

    def test_extreme_weights_keep_their_precision(self):
        """Weights over eight orders of magnitude: the cells add up to what a root of overwhelming weight says."""
        tree = complete_tree(Domain((16,)), 2, np.array([1e4, 1.0, 1e-2, 1.0, 1e-4]))
        answers = np.random.default_rng(0).normal(size=(1, tree.nodes))
        total = TreeLeastSquares(tree).solve(answers).sum()
        # the root's share of the total is 1 - 1e-8
        assert total == pytest.approx(answers[0, 0] / 1e4, abs=1e-6)


class TestMeanVariance:
    def test_intervals_on_uneven_trees(self):
        """For lists of weighted intervals over a line in order, the tabulated terms are trace(W C W^T) / q."""
        for seed in range(100):
            rng = np.random.default_rng(seed)
            domain = Domain((int(rng.integers(1, 25)),))
            tree = reference.grow(rng, domain, np.arange(domain.size), collapse=0.3)
            workload = listed(domain, 15, seed)
            expected = reference.mean_variance(tree, workload.matrix())
            assert TreeLeastSquares(tree).mean_variance(workload) == pytest.approx(expected, rel=1e-10)

    @pytest.mark.parametrize("size", [1, 2, 7, 24])
    def test_products_and_prefixes_on_uneven_trees(self, size):
        """Workloads without a list have the variance of their list."""
        for seed in range(10):
            rng = np.random.default_rng(seed)
            tree = reference.grow(rng, Domain((size,)), np.arange(size), collapse=0.3)
            for workload in (Prefix(size), AllRange(size), Identity(size)):
                expected = reference.mean_variance(tree, workload.matrix())
                assert TreeLeastSquares(tree).mean_variance(workload) == pytest.approx(expected, rel=1e-10)

    def test_random_ranges_as_a_distribution(self):
        """The mean over all ranges by their chances, through the second moment of the dense reference."""
        rng = np.random.default_rng(0)
        tree = reference.grow(rng, Domain((19,)), np.arange(19), collapse=0.3)
        workload = RandomRange(19, queries=None)
        expected = np.trace(reference.covariance(tree) @ workload.axes[0].second_moment())
        assert TreeLeastSquares(tree).mean_variance(workload) == pytest.approx(expected, rel=1e-10)

    @pytest.mark.parametrize("domain", [(13,), (4, 6), (1, 7), (2, 3, 4)])
    def test_boxes_on_shuffled_and_padded_trees(self, domain):
        """For weighted boxes over any order with padding, one pass a query gives trace(W C W^T) / q."""
        for seed in range(30):
            tree = reference.random_tree(np.random.default_rng(seed), domain=domain)
            workload = listed(domain, 15, seed)
            expected = reference.mean_variance(tree, workload.matrix())
            assert TreeLeastSquares(tree).mean_variance(workload) == pytest.approx(expected, rel=1e-10)

    def test_boxes_along_the_hilbert_curve(self):
        """The line that GreedyH takes through two unequal axes."""
        domain = Domain((5, 7))
        tree = reference.grow(np.random.default_rng(4), domain, order(domain), collapse=0.2)
        workload = listed(domain, 30, 1)
        expected = reference.mean_variance(tree, workload.matrix())
        assert TreeLeastSquares(tree).mean_variance(workload) == pytest.approx(expected, rel=1e-10)

    @pytest.mark.parametrize("domain", [(16, 16), (13, 9)])
    def test_boxes_on_nodes_with_many_single_cells(self, domain):
        """Single cells below one node are added up by a table, which a box may cut, hold or miss."""
        rng = np.random.default_rng(5)
        for branching in (16, 64):
            tree = greedy_tree(listed(domain, 400, 2), branching, 100, "gram")
            assert np.diff(tree.first_child).max() > FEW
            tree = replace(tree, weight=tree.weight * rng.uniform(0.5, 2, tree.nodes))
            workload = listed(domain, 60, 3)
            expected = reference.mean_variance(tree, workload.matrix())
            assert TreeLeastSquares(tree).mean_variance(workload) == pytest.approx(expected, rel=1e-10)


COMPLETE = [
    ((1,), 2, [1.0]),
    ((2,), 2, [0.0, 1.0]),
    ((16,), 2, [1.0, 1.0, 1.0, 1.0, 1.0]),
    ((11,), 2, [0.3, 1.0, 2.0, 0.7, 0.2]),
    ((27,), 3, [1.0, 1.0, 1.0, 1.0]),
    ((27,), 3, [0.0, 1.0, 2.0, 1.5]),
    ((20,), 5, [0.0, 1.0, 1.0]),
    ((8, 8), 2, [0.4, 0.5, 0.7, 0.9]),
    ((8, 8), 2, [0.0, 1.0, 1.0, 1.0]),
    ((5, 7), 3, [0.0, 1.0, 1.0]),
    ((1, 4), 2, [1.0, 1.0, 1.0]),
    ((3, 2, 4), 2, [0.0, 1.0, 0.5]),
]


class TestCompleteTrees:
    @pytest.mark.parametrize(("shape", "branching", "weights"), COMPLETE)
    def test_the_closed_form_is_the_dense_trace(self, shape, branching, weights):
        """For lists and for products of axes, in one to three axes, padded or not."""
        tree = complete_tree(Domain(shape), branching, np.array(weights))
        covariance = reference.covariance(tree)
        for workload in (listed(shape, 12, 0), AllRange(shape), Identity(shape)):
            W = workload.matrix()
            expected = np.trace(W @ covariance @ W.T) / len(W)
            found = complete_tree_variance(workload, branching, np.array(weights))
            assert found == pytest.approx(expected, rel=1e-10)

    @pytest.mark.parametrize(("shape", "branching", "weights"), COMPLETE)
    def test_the_closed_form_is_the_recurrence(self, shape, branching, weights):
        """The general recurrence on the same tree gives the same mean variance."""
        workload = listed(shape, 40, 3)
        solver = complete_tree_solver(Domain(shape), branching, tuple(weights))
        found = complete_tree_variance(workload, branching, np.array(weights))
        assert found == pytest.approx(solver.mean_variance(workload), rel=1e-11)

    def test_a_solver_is_kept(self):
        """The same public parameters give the same object, others another."""
        first = complete_tree_solver(Domain((9,)), 3, (0.0, 1.0, 1.0))
        assert complete_tree_solver(Domain((9,)), 3, (0.0, 1.0, 1.0)) is first
        assert complete_tree_solver(Domain((9,)), 3, (1.0, 1.0, 1.0)) is not first
