"""Buckets along a line and their deviations. The hierarchy over them: test_greedy.py."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpbench.domain import Domain
from dpbench.mathematics.buckets import Deviations, MedianCost, cells_along, powers_of_two
from dpbench.mathematics.kernels.deviation import median_deviations
from dpbench.mathematics.kernels.least_cost import least_cost
from dpbench.mathematics.kernels.partition import forward
from reference import dawa as reference

COUNTS = st.lists(st.integers(0, 50), min_size=1, max_size=12)


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

    @pytest.mark.parametrize("n", [1, 2, 3, 8, 13, 64, 100])
    def test_aligned_windows_are_those_among_all(self, n):
        """And nothing else is computed."""
        x = np.random.default_rng(n).integers(0, 50, size=n)
        every, aligned = Deviations("median").of(x), Deviations("median", aligned=True).of(x)
        for kind, length in enumerate(powers_of_two(n)):
            wanted = np.where(np.arange(n + 1) % length == 0, every[kind], 0.0)
            np.testing.assert_array_equal(aligned[kind], wanted)

    def test_lengths_may_be_odd(self):
        """Then the middle count adds nothing."""
        x = np.random.default_rng(0).integers(0, 9, size=20)
        values, rank = np.unique(x, return_inverse=True)
        lengths = np.array([1, 3, 5, 20])
        found = median_deviations(x, rank.reshape(-1), values, lengths, False)
        np.testing.assert_array_equal(found, reference.window_deviations(x, lengths, "median"))

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
