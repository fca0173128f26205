"""Norms and inner products of images: every way to compute them gives those of the matrices."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench.mathematics import leaf_images as images
from dpbench.mathematics.buckets import cells_along
from dpbench.mathematics.greedy import greedy_tree
from dpbench.mathematics.leaf_images import Leaves, moments
from dpbench.mathematics.least_squares import TreeLeastSquares
from dpbench.workloads import AllRange, RandomRange, Ranges


def weighted(domain, queries):
    """Random ranges with weights of both signs, some 0; no range covers the last two cells of an axis."""
    listed = RandomRange(tuple(side - 2 for side in domain), queries=queries, seed=3).ranges()
    rng = np.random.default_rng(0)
    weights = np.where(rng.random(queries) < 0.2, 0.0, rng.normal(size=queries))
    return Ranges(domain, listed.lower, listed.upper, weights)


WORKLOADS = [
    RandomRange(50, queries=30),
    RandomRange((8, 8), queries=40),
    RandomRange((5, 8), queries=25),
    weighted((40,), 30),
    weighted((9, 6), 50),
    AllRange(30),
    AllRange((4, 6)),
]


def some_leaves(positions, lengths):
    """Leaves of so many positions each, in turn, and bundles of three leaves."""
    ends = np.cumsum(np.resize(lengths, positions))
    last = np.append(ends[ends < positions], positions)
    first = np.append(0, last[:-1])
    return Leaves(first, last, np.ones(len(first), dtype=np.int64), np.arange(len(first)) // 3)


def by_matrices(workload, leaves, objective, padded):
    """Products and errors from W itself, whose squares a distribution averages over the queries."""
    line = cells_along(workload.domain, padded)
    W = np.where(line >= 0, workload.matrix()[:, line], 0.0)
    W = W / np.sqrt(len(W)) if workload.axes is not None else W
    columns = np.stack([W[:, a:b].mean(axis=1) for a, b in zip(leaves.first, leaves.last, strict=True)], axis=1)
    M = columns if objective == "workload" else columns.T @ columns
    bundles = np.add.reduceat(M, leaves.bounds, axis=1)
    return bundles.T @ bundles, np.add.reduceat((M**2).sum(axis=0), leaves.bounds)


def check(workload, leaves, objective, padded):
    found, expected = moments(workload, leaves, objective, padded), by_matrices(workload, leaves, objective, padded)
    # the way to the Gram matrix over leaves rounds weights to 32 bits; halves, quarters and eighths it keeps
    digits = 1e-6 if isinstance(workload, Ranges) else 1e-12
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=digits, atol=digits * np.abs(theirs).max())


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("objective", ["gram", "workload"])
@pytest.mark.parametrize("lengths", [[1], [1, 2, 4], [8]], ids=str)
@pytest.mark.parametrize("workload", WORKLOADS, ids=repr)
class TestMoments:
    def test_all_at_once(self, workload, lengths, objective, padded):
        """Products, lists, weights, padding, single cells and buckets."""
        check(workload, some_leaves(len(cells_along(workload.domain, padded)), lengths), objective, padded)

    def test_many_leaves(self, workload, lengths, objective, padded, monkeypatch):
        """Single cells from pairs of ranges, buckets from the root of W W^T."""
        monkeypatch.setattr(images, "LARGEST_EXACT", 0)
        check(workload, some_leaves(len(cells_along(workload.domain, padded)), lengths), objective, padded)

    def test_a_few_ranges_at_a_time(self, workload, lengths, objective, padded, monkeypatch):
        """A long list goes through in parts."""
        whole = images._some

        def parts(boxes, width):
            yield from whole(boxes, 2**25 // 7)

        monkeypatch.setattr(images, "_some", parts)
        check(workload, some_leaves(len(cells_along(workload.domain, padded)), lengths), objective, padded)


def test_leaves_of_several_cells_count_as_many_rows(monkeypatch):
    """Cells that no query tells apart are one leaf, but W^T W has a row for each: all ways agree."""
    workload = RandomRange((16, 16), queries=5, seed=2)
    expected = greedy_tree(workload, 2, 100, "gram")
    assert len(expected.leaves) < 256
    for paired in (images.LARGEST_PAIRED, 0):
        monkeypatch.setattr(images, "LARGEST_EXACT", 0)
        monkeypatch.setattr(images, "LARGEST_PAIRED", paired)
        found = greedy_tree(workload, 2, 100, "gram")
        np.testing.assert_array_equal(found.start, expected.start)
        np.testing.assert_allclose(found.weight, expected.weight, rtol=1e-12)


def test_rounding_gives_no_weight_to_cells_that_no_query_sees(monkeypatch):
    """Large sums that cancel leave no error below 0, which would look like a gain without end."""
    rng = np.random.default_rng(1)
    lower = rng.integers(0, 8, size=(60, 2))
    upper = lower + rng.integers(1, 8, size=(60, 2))
    workload = Ranges((32, 32), lower, upper, rng.normal(size=60) * 1e3)
    leaves = some_leaves(1024, [1])
    monkeypatch.setattr(images, "LARGEST_EXACT", 0)
    _, errors = moments(workload, leaves, "gram", padded=True)
    assert errors.min() == 0
    _, exact = by_matrices(workload, leaves, "gram", padded=True)
    assert (errors[exact == 0] < 1e-12 * exact.max()).all()


@pytest.mark.parametrize("queries", [60, 400])
def test_many_buckets_are_reduced_with_little_loss(monkeypatch, queries):
    """By the root of W W^T nothing is lost; by random signs the expected error rises by less than 2 %."""
    workload = RandomRange((32, 32), queries=queries)
    rng = np.random.default_rng(0)
    edges = np.append(np.flatnonzero(np.append(True, rng.random(1023) < 0.7)), 1024)
    exact = TreeLeastSquares(greedy_tree(workload, 2, 100, "gram", edges)).mean_variance(workload)
    monkeypatch.setattr(images, "LARGEST_EXACT", 100)
    monkeypatch.setattr(images, "SKETCH", 100)
    found = TreeLeastSquares(greedy_tree(workload, 2, 100, "gram", edges)).mean_variance(workload)
    assert found == pytest.approx(exact, rel=1e-6 if queries == 60 else 0.02)


class TestExactSums:
    """Leaves that DAWA's buckets make: 2^k positions from a multiple of 2^k on, and ranges of weight 1."""

    WORKLOADS = (
        RandomRange(64, queries=30),
        RandomRange((16, 16), queries=70),
        RandomRange((12, 20), queries=50, seed=2),
    )

    @staticmethod
    def leaves(positions, rng):
        """A random partition into aligned powers of two, in random bundles."""
        edges = [0]
        while edges[-1] < positions:
            length = 2 ** int(rng.integers(0, 6))
            while edges[-1] % length or edges[-1] + length > positions:
                length //= 2
            edges.append(edges[-1] + length)
        first, last = np.array(edges[:-1]), np.array(edges[1:])
        bundle = np.concatenate([[0], np.cumsum(rng.random(len(first) - 1) < 0.3)])
        return Leaves(first, last, np.ones(len(first), dtype=np.int64), bundle)

    @pytest.mark.parametrize("padded", [False, True])
    @pytest.mark.parametrize("workload", WORKLOADS, ids=repr)
    def test_they_are_those_by_leaf_and_range_bit_for_bit(self, workload, padded):
        """Whole numbers and powers of two: no order of adding matters. Kept norms are as good as new ones."""
        rng = np.random.default_rng(0)
        images._square_sums.cache_clear()
        boxes, coordinates = images._boxes(workload), images._coordinates(workload.domain, padded)
        for _ in range(20):
            leaves = self.leaves(len(coordinates), rng)
            wide, squares = images._bundle_images(boxes, coordinates, leaves)
            assert images._bundle_sums(boxes, coordinates, leaves).tobytes() == wide.tobytes()
            errors = images._exact_errors(workload, leaves, padded)
            assert errors is not None
            assert errors.tobytes() == squares.tobytes()

    def test_what_may_round_is_computed_leaf_by_leaf(self):
        """Weights other than 1, and leaves of other lengths or at other places."""
        cells = np.arange(40)
        alike = Leaves(cells, cells + 1, np.ones(40, dtype=np.int64), cells)
        assert images._exact_errors(weighted((40,), 30), alike, False) is None
        for first, last in (([0, 3], [3, 40]), ([0, 1, 3], [1, 3, 40])):
            odd = Leaves(np.array(first), np.array(last), np.ones(len(first), dtype=np.int64), np.arange(len(first)))
            assert images._exact_errors(RandomRange(40, queries=9), odd, False) is None


@pytest.mark.parametrize("workload", [weighted((300,), 200), weighted((12, 11), 150)], ids=repr)
@pytest.mark.parametrize("lengths", [[1], [1, 2, 4]], ids=str)
def test_long_lists_are_reduced_in_the_same_way(monkeypatch, workload, lengths):
    """Sums over ranges and back give the moments of what the matrix of leaves and ranges gives, to its 32 bits."""
    monkeypatch.setattr(images, "SKETCH", 64)
    monkeypatch.setattr(images, "LARGEST_EXACT", 50)
    line = cells_along(workload.domain, True)
    leaves = some_leaves(len(line), lengths)
    wide = images._gram_images(images._boxes(workload), images._coordinates(workload.domain, True), leaves)
    wide = wide.astype(np.float64)
    bundles = np.add.reduceat(wide, leaves.bounds, axis=0)
    expected = bundles @ bundles.T, np.add.reduceat((wide**2).sum(axis=1), leaves.bounds)
    for ours, theirs in zip(images._sketched_moments(workload.ranges(), line, leaves), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5 * np.abs(theirs).max())
