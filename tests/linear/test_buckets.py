"""Buckets along a line: their deviations, and GreedyH's hierarchy over them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpbench.domain import Domain
from dpbench.inference.tree import TreeLeastSquares
from dpbench.kernels.least_cost import least_cost
from dpbench.kernels.partition import forward
from dpbench.linear import buckets
from dpbench.linear.buckets import Deviations, MedianCost, bucket_tree, cells_along, powers_of_two
from dpbench.linear.greedy import greedy_tree
from dpbench.linear.hilbert import order
from dpbench.workloads import AllRange, Identity, Prefix, RandomRange, Ranges
from reference import dawa as reference
from reference import greedy as dense
from reference import tree as trees

COUNTS = st.lists(st.integers(0, 50), min_size=1, max_size=12)
OBJECTIVES = ["gram", "workload"]
WORKLOADS = [
    *(Prefix(n) for n in (1, 2, 13, 64)),
    *(RandomRange(n, queries=q, seed=q) for n, q in ((32, 2), (64, 50), (300, 40))),
    *(RandomRange(shape, queries=25) for shape in ((8, 8), (5, 7), (1, 6))),
    RandomRange((16, 16), queries=300),
    Ranges(16, [[0], [3], [2]], [[16], [9], [5]], [1.0, -2.0, 0.5]),
    AllRange(16),
    AllRange((3, 4)),
    Identity((4, 4)),
]


def some_edges(positions, rng, shortness):
    """Edges of random buckets whose lengths are powers of two."""
    edges = [0]
    while edges[-1] < positions:
        power = min(int(rng.geometric(shortness)) - 1, (positions - edges[-1]).bit_length() - 1)
        edges.append(edges[-1] + 2**power)
    return np.array(edges)


class TestDeviations:
    @pytest.mark.parametrize("about", ["median", "mean"])
    @pytest.mark.parametrize("n", [1, 2, 3, 8, 13, 40])
    @pytest.mark.parametrize("largest", [0, 3, 10**8])
    def test_every_window(self, n, about, largest):
        """The sliding index finds what each window by itself gives."""
        x = np.random.default_rng(n).integers(0, largest + 1, size=n)
        expected = reference.window_deviations(x, powers_of_two(n), about)
        # 1e-12: the twin rounds each |x_i - mean|
        np.testing.assert_allclose(Deviations(about).of(x), expected, rtol=1e-12, atol=1e-12 * largest)

    def test_the_median_is_exact(self):
        """Whole numbers throughout: no rounding at counts near 2^50."""
        x = 2**50 + np.array([5, 1, 4, 0, 9, 3, 3, 8])
        np.testing.assert_array_equal(
            Deviations("median").of(x), reference.window_deviations(x - 2**50, powers_of_two(8), "median")
        )

    @pytest.mark.parametrize("about", ["median", "mean"])
    def test_two_axes_follow_the_curve(self, about):
        """With padding, or without."""
        x = np.random.default_rng(0).integers(0, 9, size=(3, 5))
        for padded in (False, True):
            line = cells_along(Domain((3, 5)), padded)
            assert len(line) == (64 if padded else 15)
            along = np.where(line >= 0, x.reshape(-1)[line], 0)
            expected = reference.window_deviations(along, powers_of_two(len(line)), about)
            np.testing.assert_allclose(Deviations(about, padded).of(x), expected, atol=1e-12)

    @settings(max_examples=200, deadline=None)
    @given(COUNTS, st.data())
    def test_one_record_moves_the_median_cost_of_no_window_by_more_than_one(self, counts, data):
        """A distance in L1 to a set is 1-Lipschitz; the deviation from the mean is not."""
        cell = data.draw(st.integers(0, len(counts) - 1))
        x = np.array(counts)
        more = x + (np.arange(len(x)) == cell)
        change = np.abs(Deviations("median").of(more) - Deviations("median").of(x))
        assert change.max() <= 1

    def test_one_record_moves_the_mean_cost_by_nearly_two(self):
        """2 - 2 / L, which is why its sensitivity is 2."""
        x, more = np.zeros(64, dtype=np.int64), np.eye(64, dtype=np.int64)[5]
        change = np.abs(Deviations("mean").of(more) - Deviations("mean").of(x))
        assert change.max() == pytest.approx(2 - 2 / 64)


class TestMedianCost:
    @settings(max_examples=100, deadline=None)
    @given(st.lists(st.integers(0, 50), min_size=1, max_size=8), st.booleans(), st.data())
    def test_one_record_moves_no_partition_by_more_than_one(self, counts, aligned, data):
        """It is in one bucket of each."""
        x = np.array(counts)
        more = x + (np.arange(len(x)) == data.draw(st.integers(0, len(x) - 1)))
        cost = MedianCost(len(x), 1.0, 3.0, aligned)
        before, after = (cost.cost(cost.statistic.of(counts)) for counts in (x, more))
        for edges in reference.partitions(len(x), cost.lengths):
            totals = [reference.total_cost(edges, costs, cost.lengths) for costs in (before, after)]
            assert totals[0] == totals[1] == np.inf or abs(totals[0] - totals[1]) <= 1

    def test_aligned_buckets_start_at_multiples_of_their_length(self):
        """All others are forbidden."""
        costs = MedianCost(13, 1.0, aligned=True).cost(np.zeros((4, 14)))
        for k, length in enumerate(powers_of_two(13)):
            allowed = [end for end in range(length, 14) if end % length == 0]
            assert np.flatnonzero(np.isfinite(costs[k, length:])).tolist() == [end - length for end in allowed]

    @pytest.mark.parametrize("split", [0.1, 0.55, 0.9])
    @pytest.mark.parametrize("n", [1, 2, 8, 64])
    def test_prices_of_aligned_buckets_are_those_of_a_random_tree(self, split, n):
        """Without data, a partition's split^(buckets - 1) (1 - split)^(long buckets) adds up to 1 over all."""
        cost = MedianCost(n, -np.log(split), -np.log1p(-split), aligned=True)
        logits = -cost.cost(np.zeros((n.bit_length(), n + 1))) - cost.penalty
        total = forward(np.ascontiguousarray(logits), np.array(cost.lengths))[-1]
        assert total == pytest.approx(np.log(split), rel=1e-12)


class TestLeastCost:
    @pytest.mark.parametrize("every_length", [False, True])
    @pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 10])
    def test_against_all_partitions(self, n, every_length):
        """Dynamic programming finds the partition that enumeration finds."""
        lengths = tuple(range(1, n + 1)) if every_length else powers_of_two(n)
        for seed in range(5):
            costs = np.random.default_rng(seed).random((len(lengths), n + 1))
            best = min(reference.partitions(n, lengths), key=lambda edges: reference.total_cost(edges, costs, lengths))
            assert np.flatnonzero(least_cost(costs, np.array(lengths))).tolist() == best

    def test_of_equal_costs_the_longer_bucket_wins(self):
        """The authors' code compares by <= while the length grows."""
        costs = np.array([[9, 1, 1, 1, 1], [9, 9, 2, 2, 2], [9, 9, 9, 9, 4.0]])
        assert np.flatnonzero(least_cost(costs, np.array([1, 2, 4]))).tolist() == [0, 4]


class TestBucketTree:
    @pytest.mark.parametrize("padded", [False, True])
    @pytest.mark.parametrize("objective", OBJECTIVES)
    @pytest.mark.parametrize("workload", WORKLOADS, ids=repr)
    def test_against_matrices(self, workload, objective, padded):
        """Cut off or not, it finds the intervals and weights of the dense recursion on the reduced workload."""
        line = cells_along(workload.domain, padded)
        W = np.where(line >= 0, workload.matrix()[:, line], 0.0)
        rng = np.random.default_rng(3)
        for shortness in (1.0, 0.7, 0.4):
            edges = some_edges(len(line), rng, shortness)
            expected = dense.strategy(reference.reduced(W, edges), 2, 100, objective)
            expected = {(int(edges[a]), int(edges[b])): weight for (a, b), weight in expected.items() if weight > 0}
            tree = bucket_tree(workload, edges, 2, 100, objective, padded)
            found = dict(zip(zip(tree.start.tolist(), tree.stop.tolist(), strict=True), tree.weight, strict=True))
            found = {interval: weight for interval, weight in found.items() if weight > 0}
            assert found.keys() == expected.keys()
            np.testing.assert_allclose([found[key] for key in expected], list(expected.values()), rtol=1e-10)

    def test_three_children(self):
        """The cut depends on the branching, and so does the discount by depth."""
        workload = RandomRange(200, queries=30)
        edges = some_edges(200, np.random.default_rng(0), 0.6)
        expected = dense.strategy(reference.reduced(workload.matrix(), edges), 3, 50, "workload")
        tree = bucket_tree(workload, edges, 3, 50, "workload")
        assert (tree.weight > 0).sum() == sum(weight > 0 for weight in expected.values())

    @pytest.mark.parametrize("workload", WORKLOADS, ids=repr)
    def test_the_weights_on_every_path_add_up_to_one(self, workload):
        """So one record moves the answers by one."""
        edges = some_edges(workload.domain.size, np.random.default_rng(1), 0.5)
        tree = bucket_tree(workload, edges, 2, 100, "workload")
        np.testing.assert_allclose(trees.unit_answers(tree).sum(axis=1), 1, rtol=1e-13)

    @pytest.mark.parametrize("n", [1, 7, 64])
    def test_buckets_of_one_cell_are_greedy_h(self, n):
        """The same nodes and the same weights."""
        for objective in OBJECTIVES:
            found = bucket_tree(Prefix(n), np.arange(n + 1), 2, 100, objective)
            expected = greedy_tree(Prefix(n), 2, 100, objective)
            np.testing.assert_array_equal(found.start, expected.start)
            np.testing.assert_allclose(found.weight, expected.weight, rtol=1e-12)

    @pytest.mark.parametrize(("n", "published"), [(64, 6.04), (256, 9.13), (1024, 14.32)])
    def test_published_prefix_errors(self, n, published):
        """Root mean squared error of a prefix at epsilon 1, single cells."""
        tree = TreeLeastSquares(bucket_tree(Prefix(n), np.arange(n + 1), 2, 100, "gram"))
        assert np.sqrt(2 * tree.mean_variance(Prefix(n))) == pytest.approx(published, abs=0.005)

    @pytest.mark.parametrize("n", [5, 16, 33])
    def test_closed_form_of_the_prefix_gram(self, n):
        """h_max off the diagonal and (L + 1)(2 L + 1) / (6 L) + n - u on it, h = (L + 1) / 2 + n - u."""
        edges = some_edges(n, np.random.default_rng(n), 0.5)
        W = reference.reduced(np.tril(np.ones((n, n))), edges)
        length, beyond = np.diff(edges), n - edges[1:]
        height = (length + 1) / 2 + beyond
        place = np.arange(len(length))
        expected = height[np.maximum(place[:, None], place[None, :])]
        np.fill_diagonal(expected, (length + 1) * (2 * length + 1) / (6 * length) + beyond)
        np.testing.assert_allclose(W.T @ W, expected, rtol=1e-12)

    @pytest.mark.parametrize("queries", [60, 400])
    def test_many_leaves_are_reduced_with_little_loss(self, monkeypatch, queries):
        """By the root of W W^T nothing is lost; by random signs the expected error rises by less than 2 %."""
        workload = RandomRange((32, 32), queries=queries)
        edges = some_edges(1024, np.random.default_rng(0), 0.7)
        exact = TreeLeastSquares(bucket_tree(workload, edges, 2, 100, "gram")).mean_variance(workload)
        monkeypatch.setattr(buckets, "LARGEST_EXACT", 100)
        monkeypatch.setattr(buckets, "SKETCH", 100)
        found = TreeLeastSquares(bucket_tree(workload, edges, 2, 100, "gram")).mean_variance(workload)
        assert found == pytest.approx(exact, rel=1e-6 if queries == 60 else 0.02)

    def test_padding_is_one_leaf(self):
        """No query tells the empty cells of the curve apart."""
        workload = RandomRange((3, 5), queries=10)
        line = order(workload.domain)
        tree = bucket_tree(workload, np.arange(65), 2, 100, "workload", padded=True)
        outside = [v for v in tree.leaves if (line[tree.start[v] : tree.stop[v]] < 0).all()]
        assert max(tree.stop[v] - tree.start[v] for v in outside) >= 16
