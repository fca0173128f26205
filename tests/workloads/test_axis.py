"""Distributions over 1-D ranges."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench.errors import InvalidWorkload
from dpbench.workloads import AllRange, AxisRanges, Identity, RandomRange, RandomSmall
from reference import ranges as reference

AXES = [
    *(AllRange(n).axes[0] for n in (1, 2, 9)),
    *(RandomRange(n, None).axes[0] for n in (1, 2, 9)),
    *(RandomSmall(n, None).axes[0] for n in (1, 40)),
    *(Identity(n).axes[0] for n in (1, 7)),
    AxisRanges(4, [0, 0.25, 0, 0.75]),
]


@pytest.mark.parametrize("axis", AXES, ids=lambda a: f"{a.side}-{a.mean_length:.2f}")
def test_the_second_moment_adds_up_every_range(axis):
    """E[w wT] from two cumulative sums is the sum over ranges, streamed or nested."""
    expected = reference.second_moment(axis.side, axis.length_probability)
    np.testing.assert_allclose(axis.second_moment(), expected, atol=1e-14)
    assert axis.mean_length == pytest.approx(np.trace(expected))
    streamed = np.zeros((axis.side, axis.side))
    for lower, upper, probability in axis.blocks():
        assert lower.dtype == upper.dtype == np.int64
        for low, up, p in zip(lower, upper, probability, strict=True):
            streamed[low:up, low:up] += p
    np.testing.assert_allclose(streamed, expected, atol=1e-14)


def test_second_moments_have_their_closed_forms():
    """All ranges: (min + 1)(n - max) / (n (n + 1) / 2)."""
    n = 12
    i, j = np.indices((n, n))
    expected = (np.minimum(i, j) + 1) * (n - np.maximum(i, j)) / (n * (n + 1) / 2)
    np.testing.assert_allclose(AxisRanges.every(n).second_moment(), expected, rtol=1e-12)


def test_blocks_stream_all_ranges_of_a_long_axis():
    """8.4 million ranges come in blocks of about 2^18, each range once, probabilities adding up to 1."""
    axis = AllRange(4096).axes[0]
    count, total, sizes = 0, 0.0, []
    for lower, upper, probability in axis.blocks():
        count += len(lower)
        total += probability.sum()
        sizes.append(len(lower))
        assert lower.min() >= 0
        assert upper.max() <= 4096
        assert (lower < upper).all()
    assert count == 4096 * 4097 // 2
    assert total == pytest.approx(1, rel=1e-12)
    assert max(sizes) <= 2**18
    assert min(sizes[:-1]) > 2**17


def test_blocks_skip_lengths_that_never_occur():
    """Only ranges of positive probability are listed."""
    ((lower, upper, probability),) = AxisRanges(4, [0, 0.25, 0, 0.75]).blocks()
    assert list(zip(lower, upper, probability, strict=True)) == [
        *((0, 2, 0.25 / 3), (1, 3, 0.25 / 3), (2, 4, 0.25 / 3)),
        (0, 4, 0.75),
    ]


@pytest.mark.parametrize("bad", [[0.5, 0.5, 0.5], [0.5, 0.2], [1.5, -0.5], [np.nan, 1], []])
def test_what_is_no_distribution_is_refused(bad):
    """One probability per length, adding up to 1."""
    with pytest.raises(InvalidWorkload):
        AxisRanges(2, bad)


def test_a_large_second_moment_is_refused():
    """The dense matrix is for small sides."""
    with pytest.raises(InvalidWorkload, match=r"blocks\(\)"):
        AxisRanges.every(5000).second_moment()


def test_axes_are_values():
    """Equality and hash are by content."""
    assert AxisRanges.every(3) == AxisRanges.every(3) != AxisRanges.up_to(3, 3)
    assert len({AxisRanges.every(3), AxisRanges.every(3), AxisRanges.every(4)}) == 2
