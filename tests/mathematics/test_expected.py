"""Means over the queries of a workload."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench.mathematics.expected_error import lengths, mean_over_queries, squared_overlaps
from dpbench.workloads import AllRange, AxisRanges, Identity, RandomRange, Ranges, Workload


def crooked(lower, upper):
    """A function of a range with no symmetry."""
    return np.sin(lower) + upper**1.5


@pytest.mark.parametrize("shape", [(1,), (9,), (3, 5), (1, 4), (2, 3, 4)])
@pytest.mark.parametrize("kind", [AllRange, Identity])
def test_a_product_has_the_mean_of_its_list(kind, shape):
    """Axis by axis over the distributions, or query by query over the list: the same mean."""
    functions = [crooked, lengths, squared_overlaps(2)][: len(shape)]
    product, queries = kind(shape), kind(shape).ranges()
    expected = np.mean(
        [
            np.prod([f(np.array([low]), np.array([up]))[0] for f, low, up in zip(functions, lower, upper, strict=True)])
            for lower, upper in zip(queries.lower, queries.upper, strict=True)
        ]
    )
    assert mean_over_queries(product, functions) == pytest.approx(expected, rel=1e-12)
    assert mean_over_queries(queries, functions) == pytest.approx(expected, rel=1e-12)


def test_weights_enter_squared():
    """A query asked with weight -3 has nine times the variance."""
    workload = Ranges(5, [0, 1], [4, 2], weights=[-3.0, 0.5])
    assert mean_over_queries(workload, [lengths]) == pytest.approx((9 * 4 + 0.25 * 1) / 2)


def test_chances_of_a_distribution_enter():
    """Lengths drawn with unequal chances, positions with equal ones."""

    class TwoLengths(Workload):
        axes = (AxisRanges(4, [0, 0.25, 0, 0.75]),)

        def ranges(self):
            raise AssertionError("a product needs no list")

    assert mean_over_queries(TwoLengths(4), [lengths]) == pytest.approx(0.25 * 2 + 0.75 * 4)
    assert mean_over_queries(TwoLengths(4), [lambda low, up: low.astype(float)]) == pytest.approx(0.25 * 1)


def test_a_distribution_is_the_limit_of_its_lists():
    """The mean over 200,000 random boxes is within 4 standard errors of the expectation (false alarm 6e-5)."""
    functions = [lengths, crooked]
    drawn = RandomRange((6, 9), queries=200_000, seed=1).ranges()
    values = lengths(drawn.lower[:, 0], drawn.upper[:, 0]) * crooked(drawn.lower[:, 1], drawn.upper[:, 1])
    expected = mean_over_queries(RandomRange((6, 9), queries=None), functions)
    assert abs(values.mean() - expected) < 4 * values.std() / np.sqrt(len(values))


@pytest.mark.parametrize("block", [1, 2, 3, 5, 16])
def test_squared_overlaps_add_up_aligned_blocks(block):
    """For every range of 13 cells, cell by cell."""
    lower, upper = np.triu_indices(14, k=1)
    expected = [
        sum(sum(low <= cell < up for cell in range(start, start + block)) ** 2 for start in range(0, 13, block))
        for low, up in zip(lower, upper, strict=True)
    ]
    np.testing.assert_array_equal(squared_overlaps(block)(lower, upper), expected)
