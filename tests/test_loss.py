"""The scaled error."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench.errors import InvalidDomain, InvalidInput, InvalidWorkload, UnknownName
from dpbench.loss import LOSSES, population_error, scaled_error
from dpbench.workloads import AllRange, Identity, Prefix, RandomRange
from reference import ranges as reference


@pytest.mark.parametrize("workload", [Prefix(9), RandomRange((4, 5), 30), AllRange((3, 4)), Identity(6)], ids=repr)
@pytest.mark.parametrize("loss", ["L2", "L1", "Linf"])
def test_the_error_is_the_norm_over_scale_times_queries(workload, loss):
    """Literally the paper's definition, for every loss."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 50, size=workload.domain.shape)
    estimate = x + rng.laplace(size=(4, *x.shape))
    expected = reference.norm(workload.matrix(), estimate - x, loss) / (x.sum() * workload.queries)
    np.testing.assert_allclose(scaled_error(workload, x, estimate, loss), expected, rtol=1e-10)
    np.testing.assert_allclose(scaled_error(workload, x, estimate, loss, scale=10), expected * x.sum() / 10, rtol=1e-10)


def test_a_worked_example():
    """Prefixes of an error (3, 1): answers 3 and 4, so 5 / (scale 10 * 2 queries)."""
    assert scaled_error(Prefix(2), [4, 6], [7, 7]) == pytest.approx(0.25)
    assert scaled_error(Prefix(2), [4, 6], [7, 7], "L1") == pytest.approx(7 / 20)
    assert scaled_error(Prefix(2), [4, 6], [7, 7], "Linf") == pytest.approx(4 / 20)


def test_one_estimate_gives_one_number_and_a_batch_one_per_trial():
    """The shape of the result follows the estimate."""
    one = scaled_error(Identity(3), [1, 2, 3], np.zeros(3))
    assert isinstance(one, float)
    assert scaled_error(Identity(3), [1, 2, 3], np.zeros((1, 3))).shape == (1,)
    assert scaled_error(Identity(3), [1, 2, 3], np.zeros((5, 3))).tolist() == [one] * 5


def test_whole_counts_are_subtracted_exactly():
    """Unsigned counts do not wrap around, and large ones lose no digit."""
    assert scaled_error(Identity(1), np.array([5], dtype=np.uint8), np.array([3], dtype=np.uint8)) == 2 / 5
    assert scaled_error(Identity(1), np.array([2**60]), np.array([2**60 + 1]), scale=1) == 1


def test_the_population_error_measures_against_the_shape():
    """The truth is scale * p, whatever the shape adds up to."""
    shape = np.array([1.0, 3.0])
    assert population_error(Identity(2), shape, 100, np.array([25.0, 75.0])) == 0
    estimate = np.array([[28.0, 79.0]])
    np.testing.assert_allclose(population_error(Identity(2), shape * 7, 100, estimate), [5 / 200])
    np.testing.assert_allclose(population_error(Identity(2), shape, 100, estimate, "L1"), [7 / 200])


def test_an_estimate_that_is_not_a_number_has_no_error():
    """NaN goes through: whoever made the estimate has to deal with it."""
    assert np.isnan(scaled_error(Identity(2), [1, 2], [np.nan, 0]))


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        (([0, 0], [1, 2]), InvalidInput, "scale is 0"),
        (([1, 2], [1, 2], "L2", 0), InvalidInput, "scale is 0"),
        (([1, 2], [1, 2], "L2", -5), InvalidInput, "scale is -5"),
        (([1, 2], [1, 2], "L2", float("nan")), InvalidInput, "scale is nan"),
        (([1, 2], [1, 2], "L2", float("inf")), InvalidInput, "scale is inf"),
        (([1, 2], [1, 2], "L2", True), InvalidInput, "scale is True"),
        (([1, 2], [1, 2], "L2", "many"), InvalidInput, "'many'"),
        (([1, 2], [1, 2], "l3"), UnknownName, "L2"),
        (([1, np.nan], [1, 2]), InvalidInput, "finite"),
        (([1, 2, 3], [1, 2, 3]), InvalidDomain, r"\(3,\)"),
        (([1, 2], [1, 2, 3]), InvalidDomain, r"\(3,\)"),
        (([1, 2], np.zeros((2, 2, 2))), InvalidDomain, r"\(2, 2, 2\)"),
        (([1, 2], 5), InvalidDomain, r"\(\)"),
        ((["a", "b"], [1, 2]), InvalidInput, "real numbers"),
        (([1, 2], ["a", "b"]), InvalidInput, "real numbers"),
    ],
)
def test_what_has_no_error_is_refused_in_one_line(arguments, error, says):
    """Scales, losses and shapes are checked."""
    with pytest.raises(error, match=says) as refusal:
        scaled_error(Identity(2), *arguments)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("shape", [[0, 0], [1, -1], [2, -1], [np.inf, 1]])
def test_a_population_needs_a_distribution(shape):
    """Negative or all-zero shapes are refused."""
    with pytest.raises(InvalidInput):
        population_error(Identity(2), shape, 10, [1, 2])


def test_a_distribution_of_ranges_has_no_norm():
    """It says to draw a list."""
    with pytest.raises(InvalidWorkload, match="queries=2000"):
        scaled_error(RandomRange(2, queries=None), [1, 2], [1, 2])
