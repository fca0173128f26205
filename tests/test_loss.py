"""The scaled error."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench.errors import InvalidDomain, InvalidInput, InvalidWorkload, UnknownName
from dpbench.loss import (
    L1,
    L2,
    LOSSES,
    Answers,
    Linf,
    Loss,
    Relative,
    get,
    label_of,
    population_error,
    scaled_error,
)
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


@pytest.mark.parametrize("estimate", [[np.nan, 0], [np.inf, 0], [1e308, -1e308], np.ma.array([1, 2], mask=[0, 1])])
def test_an_estimate_that_is_not_a_number_is_refused(estimate):
    """NaN, infinity, squares that overflow and masked cells have no error."""
    with pytest.raises(InvalidInput):
        scaled_error(Identity(2), [1, 2], estimate)


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


@pytest.mark.parametrize("loss", LOSSES)
def test_the_public_function_and_the_runner_have_one_loss(loss):
    """``scaled_error`` gives, in blocks or not, what a loss says of all answers at once."""
    rng = np.random.default_rng(1)
    workload = RandomRange((6, 7), 40)
    x = rng.integers(0, 9, size=(6, 7))
    estimate = x + rng.laplace(size=(5, 6, 7))
    answers = Answers(workload, x, workload.answer(estimate - x), float(x.sum()))
    assert scaled_error(workload, x, estimate, loss).tolist() == get(loss).errors(answers).tolist()
    assert scaled_error(workload, x, estimate[2], loss) == get(loss).errors(answers)[2]


def test_every_range_of_a_large_domain_needs_no_list():
    """50 million ranges have a norm; a loss that looks at each of them says that they are too many."""
    workload, x = AllRange(10_000), np.ones(10_000, dtype=np.int64)
    assert scaled_error(workload, x, x + 1, "Linf") == pytest.approx(1 / workload.queries)
    with pytest.raises(InvalidWorkload, match="at most 5000000 are listed"):
        scaled_error(workload, x, x + 1, "relative")


class TestRelative:
    """|error| / max(|true answer|, floor * scale), averaged over queries."""

    def test_a_worked_example(self):
        """Prefixes of (4, 6) are 4 and 10, their errors 3 and 4; a floor of half the records makes 4 count as 5."""
        assert scaled_error(Prefix(2), [4, 6], [7, 7], "relative") == pytest.approx((3 / 4 + 4 / 10) / 2)
        assert scaled_error(Prefix(2), [4, 6], [7, 7], Relative(floor=0.5)) == pytest.approx((3 / 5 + 4 / 10) / 2)

    def test_an_empty_query_has_the_floor_for_an_answer(self):
        """With 1000 records the usual floor is one record."""
        assert scaled_error(Identity(2), [0, 1000], [3, 1000], "relative") == pytest.approx((3 / 1 + 0) / 2)

    def test_with_all_records_for_a_floor_it_is_l1(self):
        """No true answer exceeds the scale."""
        rng = np.random.default_rng(2)
        x = rng.integers(0, 50, size=20)
        estimate = x + rng.laplace(size=(3, 20))
        np.testing.assert_allclose(
            scaled_error(Prefix(20), x, estimate, Relative(floor=1)), scaled_error(Prefix(20), x, estimate, "L1")
        )

    def test_it_is_free_of_the_scale(self):
        """Ten times the data with ten times the error is the same error."""
        rng = np.random.default_rng(3)
        x, noise = rng.integers(0, 50, size=20), rng.integers(-9, 9, size=(3, 20))
        once, tenfold = (scaled_error(Prefix(20), k * x, k * (x + noise), "relative") for k in (1, 10))
        np.testing.assert_allclose(once, tenfold)

    @pytest.mark.parametrize("floor", [0, -1, 1.5, float("nan"), True, "low", None])
    def test_the_floor_is_a_share(self, floor):
        """Above 0 and at most 1."""
        with pytest.raises(InvalidInput, match="floor of the relative loss"):
            Relative(floor=floor)


class TestNames:
    """A loss in words."""

    @pytest.mark.parametrize(
        ("given", "loss", "label"),
        [
            ("L1", L1(), "L1"),
            ({"name": "Linf"}, Linf(), "Linf"),
            (L2(), L2(), "L2"),
            ("relative", Relative(), "relative"),
            ("relative:floor=0.001", Relative(), "relative"),
            ("relative:floor=1e-2", Relative(floor=0.01), "relative:floor=0.01"),
            ({"name": "relative", "floor": 1}, Relative(floor=1.0), "relative:floor=1.0"),
        ],
    )
    def test_a_loss_is_found_by_name_and_parameters(self, given, loss, label):
        """In text, in a mapping, or as it is; its label is read back as the same loss."""
        assert get(given) == loss
        assert get(given).label == label_of(given) == label
        assert get(label) == loss

    @pytest.mark.parametrize(
        ("given", "says"),
        [
            ("L3", "did you mean L2, L1"),
            ({"floor": 1}, "no loss named None"),
            (7, "no loss named 7"),
            ("relative:", "write for example relative:floor=0.01"),
            ("relative:floor=0.1,floor=0.2", "write for example relative:floor=0.01"),
            ("relative:name=L1", "write for example relative:floor=0.01"),
            ("relative:flor=0.1", "parameter of the loss relative named 'flor'; did you mean floor"),
            ("L1:floor=0.1", "there are none"),
            ("relative:floor=[1]", "give a number or a word"),
            ({"name": "relative", "floor": [1]}, "give a number or a word"),
        ],
    )
    def test_a_mistake_is_told_in_one_line(self, given, says):
        """With the nearest name where there is one."""
        with pytest.raises(InvalidInput, match=says) as refusal:
            get(given)
        assert "\n" not in str(refusal.value)

    def test_a_label_needs_no_code(self):
        """Stored errors of a loss that is not defined here keep their label."""
        assert label_of("cubed:power=3") == "cubed:power=3"
        with pytest.raises(UnknownName):
            label_of({"name": "cubed"})

    @pytest.mark.parametrize("name", ["", "a:b", "a=b", "a,b", "L2", "a\n"])
    def test_a_name_is_ones_own_and_can_be_written(self, name):
        """Two losses of one name would be one column of a store."""
        with pytest.raises(InvalidInput, match="rename one|give a name"):
            type("Other", (Loss,), {"name": name})
        assert LOSSES["L2"] is L2
