"""RandomRange and RandomSmall, as lists and as distributions."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench.errors import InvalidWorkload
from dpbench.workloads import RandomRange, RandomSmall
from reference import ranges as reference


def chi_squared(observed, probability):
    """The statistic and its degrees of freedom."""
    expected = probability * observed.sum()
    return ((observed - expected) ** 2 / expected).sum(), len(observed) - 1


def test_ranges_follow_the_generator():
    """Every range of a small axis occurs as often as it should; false alarms: 1 in 10^6 by chi-squared."""
    n, q = 5, 60_000
    listed = RandomRange((n, 3), queries=q, seed=1).ranges()
    lengths = listed.upper - listed.lower
    pairs = [(low, up) for low in range(n) for up in range(low + 1, n + 1)]
    observed = np.array([((listed.lower[:, 0] == low) & (listed.upper[:, 0] == up)).sum() for low, up in pairs])
    statistic, freedom = chi_squared(observed, np.array([1 / (n * (n - up + low + 1)) for low, up in pairs]))
    assert freedom == 14
    assert statistic < 54.7  # the 1 - 1e-6 quantile at 14 degrees of freedom
    # axes are independent: joint lengths are uniform on 5 x 3
    joint = np.array([((lengths[:, 0] == a) & (lengths[:, 1] == b)).sum() for a in range(1, 6) for b in (1, 2, 3)])
    assert chi_squared(joint, np.full(15, 1 / 15))[0] < 54.7


@pytest.mark.parametrize(("side", "longest"), [(1, 1), (15, 1), (16, 1), (32, 2), (100, 6), (256, 16)])
def test_small_ranges_have_up_to_a_sixteenth_of_the_side(side, longest):
    """With 2000 ranges every length occurs; a missing one has probability below 16 * (15/16)^2000 < 1e-54."""
    listed = RandomSmall((side, 4)).ranges()
    assert set((listed.upper - listed.lower)[:, 0]) == set(range(1, longest + 1))
    assert set((listed.upper - listed.lower)[:, 1]) == {1}


def test_a_seed_gives_the_same_ranges_and_another_seed_others():
    """Ranges are a function of domain, number and seed."""
    one, same, other = (RandomRange(99, 50, seed).ranges() for seed in (7, 7, 8))
    np.testing.assert_array_equal(one.lower, same.lower)
    assert (one.lower != other.lower).any()


def test_ranges_share_no_stream_with_noise_of_the_same_seed():
    """The lengths are not those that numpy's own generator would draw with the same number."""
    listed = RandomRange(1000, 50, seed=0).ranges()
    plain = np.random.default_rng(0).integers(1, 1000, size=50, endpoint=True)
    assert ((listed.upper - listed.lower)[:, 0] != plain).any()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"queries": 0}, "positive whole number"),
        ({"queries": 2.5}, "positive whole number"),
        ({"queries": True}, "positive whole number"),
        ({"queries": "5"}, "positive whole number"),
        ({"seed": -1}, "seed of RandomRange is -1"),
        ({"seed": None}, "seed of RandomRange is None"),
        ({"seed": 1.0}, "whole number of at least 0"),
    ],
)
def test_bad_parameters_are_refused(arguments, says):
    """Numbers of queries and seeds are whole."""
    with pytest.raises(InvalidWorkload, match=says):
        RandomRange(8, **arguments)


@pytest.mark.parametrize("kind", [RandomRange, RandomSmall])
@pytest.mark.parametrize("shape", [(1,), (2,), (40,), (6, 5), (33, 2), (3, 4, 2)])
def test_the_mean_square_of_the_distribution_is_exact(kind, shape):
    """It equals the sum over all ranges, each times its probability."""
    workload = kind(shape, queries=None)
    x = np.random.default_rng(2).normal(size=(3, *shape))
    longest = [max(1, side // 16) if kind is RandomSmall else side for side in shape]
    lengths = [np.where(np.arange(n) < m, 1 / m, 0) for n, m in zip(shape, longest, strict=True)]
    expected = reference.expected_square(shape, lengths, x)
    np.testing.assert_allclose(workload.mean_squared(x), expected, rtol=1e-10)
    assert workload.mean_squared(x[0]) == pytest.approx(expected[0])


def test_the_mean_square_of_a_long_list_approaches_that_of_the_distribution():
    """Within 5 standard errors of 20,000 ranges; false alarms: 1 in 10^6."""
    x = np.random.default_rng(3).normal(size=(12, 9))
    listed = RandomRange((12, 9), queries=20_000, seed=4)
    squares = listed.answer(x) ** 2
    error = squares.std() / np.sqrt(len(squares))
    assert abs(listed.mean_squared(x) - RandomRange((12, 9), queries=None).mean_squared(x)) < 5 * error


def test_a_large_offset_does_not_spoil_the_mean_square():
    """Prefix sums that grow to 4 * 10^7 leave 9 digits."""
    n = 4096
    x = np.full((1, n), 1e4)
    lengths = np.arange(1, n + 1)
    assert RandomRange(n, None).mean_squared(x)[0] == pytest.approx(1e8 * (lengths**2).mean(), rel=1e-9)


def test_the_distribution_refuses_what_needs_a_list():
    """No list, no answers, no norm, no sensitivity, no matrix: each refusal says what to do."""
    workload = RandomRange((8, 8), queries=None)
    assert workload.queries is None
    x = np.zeros((1, 8, 8))
    for attempt in (
        workload.ranges,
        workload.matrix,
        lambda: workload.answer(x),
        lambda: workload.norm(x),
        lambda: workload.sensitivity,
    ):
        with pytest.raises(InvalidWorkload, match="queries=2000") as refusal:
            attempt()
        assert "\n" not in str(refusal.value)


def test_only_the_distribution_has_axes():
    """A concrete list is not the distribution that it was drawn from."""
    assert RandomRange((8, 4), queries=10).axes is None
    first, second = RandomRange((8, 4), queries=None).axes
    np.testing.assert_allclose(first.length_probability, np.full(8, 1 / 8))
    assert second.side == 4
    assert RandomSmall(64, None).axes[0].mean_length == 2.5
