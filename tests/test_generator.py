"""The data generator."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpbench.errors import InvalidDomain, InvalidInput
from dpbench.generator import generate


@settings(deadline=None)
@given(
    st.lists(st.floats(0, 1e300), min_size=1, max_size=30).filter(any),
    st.integers(0, 2**53),
    st.integers(0, 2**32),
)
def test_counts_add_up_to_exactly_the_scale_and_empty_cells_stay_empty(shape, scale, seed):
    """Whatever the shape, the scale and the seed."""
    counts = generate(shape, scale, seed=seed)
    assert counts.dtype == np.int64
    assert counts.sum() == scale
    assert (counts >= 0).all()
    assert not counts[np.array(shape) == 0].any()


def test_counts_follow_the_shape():
    """Chi-squared over 9 cells of 10^5 records; false alarms: 1 in 10^6."""
    shape = np.arange(1, 10)
    expected = 1e5 * shape / shape.sum()
    counts = generate(shape, 100_000, seed=1)
    assert ((counts - expected) ** 2 / expected).sum() < 42.8  # the 1 - 1e-6 quantile at 8 degrees of freedom


def test_cells_vary_as_a_multinomial_does():
    """Variance s p (1 - p) and covariance -s p q over 4000 draws, within 5 standard errors; 1 in 10^5."""
    rng = np.random.default_rng(2)
    p = np.array([0.2, 0.3, 0.5])
    draws = np.array([generate(p, 1000, seed=rng) for _ in range(4000)])
    np.testing.assert_allclose(draws.mean(axis=0), 1000 * p, atol=5 * np.sqrt(250 / 4000))
    covariance = 1000 * (np.diag(p) - np.outer(p, p))
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=5 * 250 * np.sqrt(2 / 4000))


def test_a_shape_is_coarsened_to_the_domain():
    """Cells that merge pool their records."""
    shape = np.zeros((4, 6))
    shape[3, 5] = shape[2, 4] = 1
    counts = generate(shape, 50, domain="2x3")
    assert counts.shape == (2, 3)
    assert counts[1, 2] == 50
    assert generate(shape, 50).shape == (4, 6)


@pytest.mark.parametrize(
    ("axes", "sides", "cell"),
    [((0,), (2,), (1,)), (1, (3,), (2,)), ((2, 0), (4, 2), (3, 1)), ((2, 0, 1), (4, 2, 3), (3, 1, 2))],
)
def test_axes_choose_and_order_the_attributes(axes, sides, cell):
    """The attributes left out are summed over."""
    shape = np.zeros((2, 3, 4))
    shape[1, 2, 3] = 7
    counts = generate(shape, 20, axes=axes)
    assert counts.shape == sides
    assert counts[cell] == 20


def test_marginals_are_summed_not_sliced():
    """Records of every value of a dropped attribute are kept."""
    shape = np.array([[1, 0], [0, 3]])
    counts = generate(shape, 10**6, axes=(1,))
    assert counts.sum() == 10**6
    assert counts[0] == pytest.approx(250_000, abs=5 * 433)  # 5 standard deviations: 1 in 10^6


def test_axes_then_domain():
    """The domain is of the attributes that are kept."""
    assert generate(np.ones((4, 6, 8)), 10, domain=(2, 3), axes=(2, 1)).shape == (2, 3)


def test_a_seed_gives_the_same_counts_in_each_of_its_forms():
    """A whole number and a SeedSequence repeat; a Generator goes on."""
    shape = np.ones(50)
    np.testing.assert_array_equal(generate(shape, 999, seed=3), generate(shape, 999, seed=np.int64(3)))
    assert (generate(shape, 999, seed=3) != generate(shape, 999, seed=4)).any()
    sequence = np.random.SeedSequence(3)
    np.testing.assert_array_equal(
        generate(shape, 999, seed=sequence), generate(shape, 999, seed=np.random.SeedSequence(3))
    )
    rng = np.random.default_rng(3)
    assert (generate(shape, 999, seed=rng) != generate(shape, 999, seed=rng)).any()


def test_data_share_no_stream_with_noise_of_the_same_seed():
    """The number alone is not the seed."""
    plain = np.random.default_rng(0).multinomial(999, np.full(50, 1 / 50))
    assert (generate(np.ones(50), 999, seed=0) != plain).any()


def test_a_large_grid_at_the_largest_scales():
    """65536 cells of very unequal sizes never trip numpy's check of the probabilities."""
    shape = np.random.default_rng(0).pareto(0.3, size=(256, 256))
    for scale in (10**8, 2**53):
        assert generate(shape, scale).sum() == scale
    assert generate(np.full((256, 256), 0.1), 10**8).sum() == 10**8


def test_trailing_tiny_cells_take_no_excess():
    """Rounding over 65536 cells puts nothing into a cell of probability 1e-30."""
    shape = np.full(65_536, 0.1)
    shape[-1] = 1e-30
    assert all(generate(shape, 10**8, seed=seed)[-1] == 0 for seed in range(5))


def test_scale_zero_is_an_empty_table():
    """No records, no counts."""
    assert generate([1, 2, 3], 0).tolist() == [0, 0, 0]


@pytest.mark.parametrize("scale", [5, 5.0, np.int32(5), np.float64(5)])
def test_a_scale_is_a_whole_number_of_any_type(scale):
    """1e5 is a fine way to write a scale."""
    assert generate([1], scale).tolist() == [5]


@pytest.mark.parametrize(
    "scale", [-1, 0.5, True, float("nan"), float("inf"), 2**53 + 2, 10**400, "5", None, np.ones((20, 20))]
)
def test_a_scale_that_is_no_number_of_records_is_refused(scale):
    """The message says the limits."""
    with pytest.raises(InvalidInput, match="whole number") as refusal:
        generate([1, 2], scale)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 200


@pytest.mark.parametrize(
    ("shape", "says"),
    [
        ([1, -2], r"negative at cell \(1,\)"),
        ([[1, 2], [np.nan, 0]], "NaN"),
        ([np.inf, 1], "infinity"),
        ([0, 0], "every cell"),
        ([], "histogram"),
        (5, "histogram"),
        (["a"], "histogram"),
        ([[1], [1, 2]], "histogram"),
        (None, "histogram"),
    ],
)
def test_a_shape_that_is_no_histogram_is_refused(shape, says):
    """The first bad cell is named."""
    with pytest.raises(InvalidInput, match=says) as refusal:
        generate(shape, 10)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("axes", [2, -1, 1.5, (0, 0), (), (0, 5), (0.5,), ("a",), (True,)])
def test_unknown_axes_are_refused(axes):
    """Attributes are numbered from 0."""
    with pytest.raises(InvalidDomain, match="0 to 1"):
        generate(np.ones((2, 2)), 10, axes=axes)


@pytest.mark.parametrize("domain", [3, "4x4", (3, 4), (4, 3, 1), "a"])
def test_a_domain_that_does_not_fit_is_refused(domain):
    """Coarsening needs divisors and the same number of axes."""
    with pytest.raises(InvalidDomain):
        generate(np.ones((4, 6)), 10, domain=domain)


@pytest.mark.parametrize("seed", [-1, 1.5, None, "x", True])
def test_a_seed_that_does_not_repeat_is_refused(seed):
    """Results must be reproducible."""
    with pytest.raises(InvalidInput, match="seed"):
        generate([1], 1, seed=seed)
