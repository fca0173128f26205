"""Least errors of dyadic bins, which stand in for the table of all bins on large domains."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations, pairwise

import numpy as np
import pytest

from dpbench.mathematics.kernels.structure import dyadic_costs, packed_error, structure_table
from dpbench.mathematics.structure import EVERY, LARGEST_EXACT, PRICES, Structure, _ClippedLine, _DyadicLine, _Sums


def squared_error(counts, start, stop):
    """SSE of one bin, from its definition."""
    part = counts[start:stop].astype(float)
    return ((part - part.mean()) ** 2).sum()


def dyadic_sets(start, stop):
    """All ways to cut [start, stop) into dyadic bins."""
    if start == stop:
        yield ()
        return
    size = 1
    while start % size == 0 and start + size <= stop:
        for rest in dyadic_sets(start + size, stop):
            yield ((start, start + size), *rest)
        size *= 2


def costs(counts, price):
    """The kernel, by way of the running sums that it is given."""
    line = _Sums(counts, np.inf)
    return dyadic_costs(line.sums, line.squares, price)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 13])
def test_costs_are_those_of_all_dyadic_sets(n):
    """For every prefix and several prices the cost is the least of all sets, tried one by one."""
    counts = np.random.default_rng(n).integers(0, 20, n)
    for price in (0.0, 0.5, 7.0, 1e4):
        found = costs(counts, price)
        for j in range(n + 1):
            sets = dyadic_sets(0, j)
            least = min(sum(squared_error(counts, *each) for each in bins) + price * len(bins) for bins in sets)
            assert found[j] == pytest.approx(least, abs=1e-9)


@lru_cache
def least_of(counts, j, k):
    """Least error of exactly at most k dyadic bins of [0, j)."""
    line = np.array(counts)
    return min(sum(squared_error(line, *each) for each in bins) for bins in dyadic_sets(0, j) if len(bins) <= k)


def test_bound_is_below_the_least_error_of_so_many_dyadic_bins_and_often_close():
    """D(k, j) is never above the least error of k dyadic bins, and on the hull within the grid of prices near it."""
    stream, reached = np.random.default_rng(0), 0
    for _ in range(20):
        counts = stream.integers(0, 30, 12) * stream.integers(0, 2, 12)
        ceiling = float(max(counts.sum(), 1))
        line, sums = _DyadicLine(counts, ceiling), _Sums(counts, ceiling)
        for k in (4, 5, 6):
            bound = line.energies(k, 12) - sums.with_last_bin(np.zeros(12 - k), k)
            for j in range(k, 12):
                possible = [bins for bins in dyadic_sets(0, j) if len(bins) <= k]
                if possible:
                    least = least_of(tuple(counts.tolist()), j, k)
                    assert bound[j - k] <= least + 1e-9
                    reached += least > 1 and bound[j - k] > least / 2
    assert reached > 100


def test_one_record_moves_an_energy_by_at_most_twice_the_ceiling():
    """On 300 random pairs no energy moves by more than 2 F, and some by more than F / 2."""
    stream, largest = np.random.default_rng(3), 0.0
    for _ in range(300):
        ceiling = float(stream.choice([1, 2.5, 6]))
        counts = stream.integers(0, 9, 16) * stream.integers(0, 2, 16)
        more = counts.copy()
        more[stream.integers(16)] += 1
        k = int(stream.integers(1, 6))
        moved = [_DyadicLine(x, ceiling).energies(k, 16) for x in (counts, more)]
        largest = max(largest, np.abs(moved[0] - moved[1]).max() / ceiling)
    assert 0.5 < largest <= 2 + 1e-9


def test_scaling_counts_and_ceiling_scales_the_energies():
    """Prices are in squares of the ceiling, so scores scale with the counts."""
    counts = np.random.default_rng(5).integers(0, 50, 40)
    one, other = (_DyadicLine(a * counts, a * 400.0).energies(7, 40) for a in (1, 8))
    assert other == pytest.approx(64 * one, rel=1e-12)


def test_prices_reach_from_a_large_part_of_the_line_to_almost_nothing():
    """They descend, and the least of them is below a record's worth at 10^7 records."""
    assert list(PRICES) == sorted(PRICES, reverse=True)
    assert PRICES[-1] * 10.0**14 < 1


def test_table_up_to_the_limit_and_dyadic_bins_beyond():
    """The same name gives the table on as many cells as the limit says, and the bound on one more."""
    small, large = (Structure(np.ones(n, dtype=np.int64), 3) for n in (LARGEST_EXACT, LARGEST_EXACT + 1))
    assert small.below(9.0) is small.exact(9.0)
    assert isinstance(large.below(9.0), _DyadicLine)
    assert large.below(9.0) is large.below(9.0)


def lines():
    """Counts with few and many runs, heavy tails and steps."""
    stream = np.random.default_rng(8)
    for n in (11, 40, 97, 256):
        yield stream.poisson(50 * stream.pareto(1, n))
        yield np.repeat(stream.integers(0, 1000, -(-n // 4)), 4)[:n]
        yield stream.integers(0, 2, n) * stream.integers(0, 10**6, n)


@pytest.mark.parametrize("counts", list(lines()))
def test_errors_up_to_a_limit_are_those_of_the_whole_table(counts):
    """Bit for bit, and nothing above the limit is in the table; errors of some bins are never below the least."""
    line = _ClippedLine(counts, float(counts.max()), -(-len(counts) // 5))
    ends, sums = line._ends, line._line
    at_ends = ends.astype(float), sums.sums[ends], sums.squares[ends]
    layers = min(line._bins - 1, len(ends) - 2)
    whole = structure_table(*at_ends, layers, EVERY)
    some = packed_error(*at_ends, layers)
    assert some >= whole[layers, -1] * (1 - 1e-9)
    for limit in (0.0, some / 100, some, 10 * some):
        found = structure_table(*at_ends, layers, limit)
        np.testing.assert_array_equal(found, np.where(whole <= limit, whole, 1e300))


@pytest.mark.parametrize("counts", list(lines()))
def test_any_layer_is_there_in_any_order(counts):
    """Layers of few bins, whose errors are beyond the first limit, are computed when they are asked for."""
    n, bins = len(counts), -(-len(counts) // 5)
    limited, whole = (_ClippedLine(counts, float(counts.max()), bins) for _ in range(2))
    whole._fill(EVERY)
    for k in (bins - 1, bins // 2, 1):
        for stop in (k + 1, (k + n) // 2, n):
            np.testing.assert_array_equal(limited.layer(k, stop), whole.layer(k, stop))


def test_errors_that_are_rounding_alone_come_to_an_end():
    """Few counts are huge and cut off, most are tiny: differences of sums near 1e16 do not tell 0 from 2."""
    counts = np.array([2**40, 1, 0, 2, 0, 2, 2, 2, 2, 1000, 1, 2**31, 2, 10**5, 2])
    counts = np.concatenate([counts, [2**40, 1, 1, 0, 10**6, 2, 1, 0, 10**6, 1000, 1, 1000, 2**31, 1, 0]])
    for ceiling in (1e8 + 0.3, 1e9 / 7, 2**33 / 3):
        line = _ClippedLine(counts, ceiling, 3)
        cut = np.minimum(counts, ceiling)
        for k in (1, 2):
            found = line.layer(k, 30)
            least = [_least_of_any(cut[:j], k) for j in range(k, 30)]
            assert found == pytest.approx(least, rel=1e-6, abs=1e-13 * (cut**2).sum())


def _least_of_any(counts, k):
    """Least error of k bins of any lengths, tried one by one."""
    edges = ((0, *inner, len(counts)) for inner in combinations(range(1, len(counts)), k - 1))
    return min(sum(squared_error(counts, *each) for each in pairwise(some)) for some in edges)
