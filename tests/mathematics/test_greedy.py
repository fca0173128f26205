"""Weighted hierarchies for a workload, over cells or buckets."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from dpbench.mathematics.buckets import cells_along
from dpbench.mathematics.greedy import greedy_tree, split_line
from dpbench.mathematics.hilbert import order
from dpbench.mathematics.kernels.greedy import best_share
from dpbench.mathematics.least_squares import TreeLeastSquares
from dpbench.workloads import AllRange, Identity, Prefix, RandomRange, RandomSmall, Ranges
from reference import dawa as buckets
from reference import greedy as reference
from reference import tree as trees

OBJECTIVES = ["gram", "workload"]
SIZES = [1, 2, 3, 5, 8, 13, 32]
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


def weights_of(tree):
    """Weight by interval of the measured nodes."""
    return {
        (int(start), int(stop)): float(weight)
        for start, stop, weight in zip(tree.start, tree.stop, tree.weight, strict=True)
        if weight > 0
    }


def along_the_line(workload):
    """Columns of W in the order of the line; zeros in padding."""
    line = order(workload.domain)
    return np.where(line >= 0, workload.matrix()[:, line], 0.0)


def check_against_matrices(workload, branching, steps, objective):
    found = weights_of(greedy_tree(workload, branching, steps, objective))
    dense = reference.strategy(along_the_line(workload), branching, steps, objective)
    dense = {interval: weight for interval, weight in dense.items() if weight > 0}
    assert found.keys() == dense.keys()
    # a share off by one step would differ by 1 % or more: this is the rounding of products of shares
    np.testing.assert_allclose([found[key] for key in dense], list(dense.values()), rtol=1e-12)
    return found


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("size", SIZES)
class TestAgainstMatrices:
    def test_prefixes(self, size, objective):
        """The recursion without matrices finds the intervals and weights of the dense one."""
        found = check_against_matrices(Prefix(size), 2, 100, objective)
        assert {(i, i + 1) for i in range(size)} <= found.keys()

    def test_many_random_ranges(self, size, objective):
        """More queries than cells: the Gram matrix itself."""
        check_against_matrices(RandomRange(size, queries=3 * size, seed=size), 2, 100, objective)

    def test_weighted_ranges(self, size, objective):
        """Weights of queries enter, negative ones and zeros too."""
        rng = np.random.default_rng(size)
        listed = RandomRange(size, queries=2 * size, seed=1).ranges()
        weights = np.where(rng.random(2 * size) < 0.2, 0.0, rng.normal(size=2 * size))
        check_against_matrices(Ranges(size, listed.lower, listed.upper, weights), 2, 100, objective)

    def test_sparse_ranges(self, size, objective):
        """Few queries leave runs of cells that nothing tells apart: measured as one."""
        lengths = []
        for seed in range(4):
            found = check_against_matrices(RandomRange(size, queries=2, seed=seed), 2, 100, objective)
            lengths += [stop - start for start, stop in found]
        assert size < 5 or max(lengths) > 1

    @pytest.mark.parametrize(("branching", "steps"), [(3, 100), (5, 7), (2, 2)])
    def test_other_branchings_and_steps(self, size, objective, branching, steps):
        """The same with other parameters."""
        check_against_matrices(RandomRange(size, queries=size + 3, seed=2), branching, steps, objective)
        check_against_matrices(Prefix(size), branching, steps, objective)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize(
    "workload",
    [
        RandomRange((8, 8), queries=25, seed=3),
        RandomRange((8, 8), queries=100, seed=4),
        RandomRange((8, 8), queries=2, seed=5),
        RandomRange((3, 5), queries=12, seed=6),
        RandomSmall((1, 6), queries=4, seed=7),
        Ranges((4, 4), [[0, 0]], [[1, 1]]),
    ],
    ids=repr,
)
def test_two_axes_along_the_hilbert_curve_match_matrices(workload, objective):
    """Rectangles, fewer or more than cells, padded or not, give the dense recursion on the curve."""
    check_against_matrices(workload, 2, 100, objective)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("domain", [(6,), (13,), (3, 4)])
@pytest.mark.parametrize("kind", [AllRange, Identity])
def test_a_product_of_axes_matches_its_list(kind, domain, objective):
    """Second moments of the axes, or their Cholesky factors, lead to the weights of the listed ranges."""
    check_against_matrices(kind(domain), 2, 100, objective)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_prefixes_and_their_list_have_one_strategy(objective):
    """The closed form for Prefix and the images of listed ranges agree at n = 200."""
    closed = weights_of(greedy_tree(Prefix(200), 2, 100, objective))
    listed = weights_of(greedy_tree(Prefix(200).ranges(), 2, 100, objective))
    assert closed.keys() == listed.keys()
    np.testing.assert_allclose([closed[key] for key in listed], list(listed.values()), rtol=1e-12)


def test_weights_on_every_path_add_up_to_one():
    """From the root to each leaf, 1 to rounding, so that one record costs 1."""
    for workload in (Prefix(1000), RandomRange(77, 50), RandomRange((20, 13), 40), AllRange(64)):
        tree = greedy_tree(workload, 2, 100, "gram")
        path = tree.weight.copy()
        for node in range(1, tree.nodes):
            path[node] += path[tree.parent[node]]
        np.testing.assert_allclose(path[tree.leaves], 1, rtol=1e-13)


def test_prefix_strategies_are_sparse_as_published():
    """n = 256 measures four blocks of 64 cells (.28 .28 .27 .22) and all cells; n = 4096 has 16 inner nodes."""
    tree = greedy_tree(Prefix(256), 2, 100, "gram")
    inner = {key: weight for key, weight in weights_of(tree).items() if key[1] - key[0] > 1}
    assert list(inner) == [(0, 64), (64, 128), (128, 192), (192, 256)]
    assert [round(weight, 2) for weight in inner.values()] == [0.28, 0.28, 0.27, 0.22]
    assert tree.nodes == 1 + 4 + 256
    larger = weights_of(greedy_tree(Prefix(4096), 2, 100, "gram"))
    assert len(larger) == 16 + 4096


def test_prefix_needs_no_matrix_over_cells():
    """At n = 4096 the peak is below a fiftieth of an n x n matrix; at n = 2^18 that matrix would be 550 GB."""
    greedy_tree(Prefix(8), 2, 100, "gram")  # compiled before memory is watched
    for objective in OBJECTIVES:
        tracemalloc.start()
        greedy_tree(Prefix(4096), 2, 100, objective)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 4096 * 4096 * 8 / 50
        assert len(greedy_tree(Prefix(2**18), 2, 100, objective).leaves) == 2**18


def test_single_cells_need_no_matrix_over_cells():
    """Of a long line, with or without buckets: there nothing is gained by nodes above what is asked."""
    rng = np.random.default_rng(4)
    for objective in OBJECTIVES:
        alone = greedy_tree(Identity(20_000), 2, 100, objective)
        np.testing.assert_array_equal(alone.weight[alone.stop - alone.start == 1], 1)
        buckets = greedy_tree(Identity(20_000), 2, 100, objective, some_edges(20_000, rng, 0.4), padded=False)
        assert (buckets.weight > 0).sum() >= len(buckets.leaves) > 1


class TestBuckets:
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
            expected = reference.strategy(buckets.reduced(W, edges), 2, 100, objective)
            expected = {(int(edges[a]), int(edges[b])): weight for (a, b), weight in expected.items() if weight > 0}
            found = weights_of(greedy_tree(workload, 2, 100, objective, edges, padded))
            assert found.keys() == expected.keys()
            np.testing.assert_allclose([found[key] for key in expected], list(expected.values()), rtol=1e-10)

    def test_three_children(self):
        """The cut depends on the branching, and so does the discount by depth."""
        workload = RandomRange(200, queries=30)
        edges = some_edges(200, np.random.default_rng(0), 0.6)
        expected = reference.strategy(buckets.reduced(workload.matrix(), edges), 3, 50, "workload")
        tree = greedy_tree(workload, 3, 50, "workload", edges)
        assert (tree.weight > 0).sum() == sum(weight > 0 for weight in expected.values())

    @pytest.mark.parametrize("workload", WORKLOADS, ids=repr)
    def test_the_weights_on_every_path_add_up_to_one(self, workload):
        """So one record moves the answers by one."""
        edges = some_edges(workload.domain.size, np.random.default_rng(1), 0.5)
        tree = greedy_tree(workload, 2, 100, "workload", edges, padded=False)
        np.testing.assert_allclose(trees.unit_answers(tree).sum(axis=1), 1, rtol=1e-13)

    @pytest.mark.parametrize(("n", "published"), [(64, 6.04), (256, 9.13), (1024, 14.32)])
    def test_published_prefix_errors(self, n, published):
        """Root mean squared error of a prefix at epsilon 1, single cells."""
        tree = TreeLeastSquares(greedy_tree(Prefix(n), 2, 100, "gram"))
        assert np.sqrt(2 * tree.mean_variance(Prefix(n))) == pytest.approx(published, abs=0.005)

    @pytest.mark.parametrize("n", [5, 16, 33])
    def test_closed_form_of_the_prefix_gram(self, n):
        """h_max off the diagonal and (L + 1)(2 L + 1) / (6 L) + n - u on it, h = (L + 1) / 2 + n - u."""
        edges = some_edges(n, np.random.default_rng(n), 0.5)
        W = buckets.reduced(np.tril(np.ones((n, n))), edges)
        length, beyond = np.diff(edges), n - edges[1:]
        height = (length + 1) / 2 + beyond
        place = np.arange(len(length))
        expected = height[np.maximum(place[:, None], place[None, :])]
        np.fill_diagonal(expected, (length + 1) * (2 * length + 1) / (6 * length) + beyond)
        np.testing.assert_allclose(W.T @ W, expected, rtol=1e-12)

    def test_padding_is_one_leaf(self):
        """No query tells the empty cells of the curve apart."""
        workload = RandomRange((3, 5), queries=10)
        line = order(workload.domain)
        tree = greedy_tree(workload, 2, 100, "workload")
        outside = [v for v in tree.leaves if (line[tree.start[v] : tree.stop[v]] < 0).all()]
        assert max(tree.stop[v] - tree.start[v] for v in outside) >= 16


class TestBestShare:
    def test_the_share_is_the_first_minimum_on_the_grid(self):
        """For random nodes, the cost in the paper's form is least at the share found, and equal to the one returned."""
        rng = np.random.default_rng(0)
        for _ in range(500):
            k, mu1, gamma = rng.uniform(0.1, 4), rng.exponential(), rng.choice([1.0, 0.5**0.5, 0.5, 0.1])
            mu, steps = mu1 + rng.normal() * mu1, int(rng.integers(2, 150))
            error = mu1 * rng.uniform(1, 3) * max(k, 1)
            share = 1 - np.arange(steps) / steps
            rest = (1 - share) ** 2 * gamma
            cost = (error - ((mu - mu1) * gamma + mu1) * rest / (share**2 + rest * k)) / share**2
            theta, least = best_share(error, mu, mu1, k, gamma, steps)
            assert theta == pytest.approx(share[np.argmin(cost)], rel=1e-12)
            assert least == pytest.approx(cost.min(), rel=1e-12)

    def test_no_share_is_tried_only_where_none_pays(self):
        """Nodes on both sides of the boundary: the first minimum over all shares, to the last bit."""
        rng = np.random.default_rng(1)
        shortened = 0
        for _ in range(2000):
            k, mu1, gamma, steps = rng.uniform(0.01, 50), rng.exponential(), 2.0 ** -rng.uniform(0, 8), 100
            mu = mu1 * rng.uniform(0, 3)
            benefit = (mu - mu1) * gamma + mu1
            error = benefit * (1 + gamma * k) / k * rng.choice([0.5, 0.9, 1 - 1e-8, 1 + 1e-8, 1.1, 2])
            tried = [
                (error - benefit * (i * i * gamma) / ((steps - i) ** 2 + i * i * gamma * k)) / (steps - i) ** 2
                for i in range(steps)
            ]
            least = int(np.argmin(tried))
            assert best_share(error, mu, mu1, k, gamma, steps) == (1 - least / steps, tried[least] * steps * steps)
            shortened += benefit * (1 + gamma * k) < error * k * (1 - 1e-9)
        assert 500 < shortened < 1500

    def test_a_node_that_no_query_sees_passes_everything_down(self):
        """All shares cost nothing there: the largest wins, so that the node is not measured."""
        assert best_share(0.0, 0.0, 0.0, 2.0, 1.0, 100) == (1.0, 0.0)


class TestSplitLine:
    @pytest.mark.parametrize("branching", [2, 3, 4])
    @pytest.mark.parametrize("size", [*range(1, 20), 97])
    def test_parts_are_those_of_the_rule(self, size, branching):
        """Up to b cells: single cells; else b parts of size // b, the last size % b of them one longer."""
        everything_differs = np.ones(size - 1, dtype=bool)
        start, stop, first_child, depth = split_line(size, everything_differs, branching)
        expected = reference.nodes(np.eye(size), branching)
        assert list(zip(start.tolist(), stop.tolist(), depth.tolist(), strict=True)) == expected
        assert len(first_child) == len(start) + 1

    def test_the_longer_parts_come_last(self):
        """11 cells in 4: 2, 3, 3, 3."""
        start, stop, _, depth = split_line(11, np.ones(10, dtype=bool), 4)
        assert (stop - start)[depth == 1].tolist() == [2, 3, 3, 3]

    def test_cells_that_nothing_tells_apart_are_one_leaf(self):
        """Of 8 cells only the fifth differs from the fourth: two leaves of four cells."""
        changes = np.arange(7) == 3
        start, stop, first_child, _ = split_line(8, changes, 2)
        assert list(zip(start.tolist(), stop.tolist(), strict=True)) == [(0, 8), (0, 4), (4, 8)]
        assert first_child.tolist() == [1, 3, 3, 3]

    def test_nothing_to_tell_apart_is_a_single_leaf(self):
        """A constant line of any length is one node."""
        start, stop, first_child, depth = split_line(100, np.zeros(99, dtype=bool), 2)
        assert (start.tolist(), stop.tolist(), first_child.tolist(), depth.tolist()) == ([0], [100], [1, 1], [0])

    def test_random_lines_collapse_where_they_are_constant(self):
        """For random 0/1 changes the nodes are those of the dense rule, breadth first."""
        rng = np.random.default_rng(0)
        for size in (2, 5, 16, 31, 64):
            changes = rng.random(size - 1) < 0.2
            W = np.concatenate([[0], np.cumsum(changes)])[None, :]
            start, stop, first_child, depth = split_line(size, changes, 2)
            assert list(zip(start.tolist(), stop.tolist(), depth.tolist(), strict=True)) == reference.nodes(W, 2)
            is_leaf = [reference.is_leaf(W, a, b) for a, b in zip(start, stop, strict=True)]
            assert (np.diff(first_child) == 0).tolist() == is_leaf
