"""Post-processing of an estimate."""

from __future__ import annotations

import numpy as np
import pytest

import dpbench as dpb
from dpbench.errors import UnknownName
from dpbench.mathematics.postprocess import apply_steps, integral, non_negative, top_down

SHAPES = [(1,), (2,), (17,), (200,), (1, 5), (4, 6), (2, 3, 4)]


def noisy(shape, trials=6, seed=0, scale=10.0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 20, size=shape) + rng.laplace(scale=scale, size=(trials, *shape))


def projected_by_bisection(row):
    """The level at which cutting leaves the total, by halving an interval 200 times."""
    total = max(row.sum(), 0.0)
    low, high = row.min() - total - 1.0, row.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(row - middle, 0).sum() > total else (low, middle)
    return np.maximum(row - high, 0)


class TestNonNegative:
    @pytest.mark.parametrize("shape", SHAPES)
    def test_it_is_the_projection(self, shape):
        """Every trial is the one that slow bisection finds, non-negative and with its total."""
        estimate = noisy(shape)
        result = non_negative(estimate)
        assert result.shape == estimate.shape
        assert (result >= 0).all()
        axes = tuple(range(1, estimate.ndim))
        # 1e-11: rounding of sums of at most 200 numbers of size 100
        np.testing.assert_allclose(result.sum(axis=axes), np.maximum(estimate.sum(axis=axes), 0), atol=1e-11)
        expected = [projected_by_bisection(row) for row in estimate.reshape(len(estimate), -1)]
        np.testing.assert_allclose(result.reshape(len(result), -1), expected, atol=1e-11)

    def test_no_candidate_is_nearer(self):
        """None of 2000 non-negative estimates of the same total, some very near, is nearer to the given one."""
        rng = np.random.default_rng(2)
        for row in noisy((8,), trials=5):
            nearest = non_negative(row[None])[0]
            total = nearest.sum()
            for spread in np.logspace(-6, 1, 400):
                others = np.maximum(nearest + rng.normal(scale=spread, size=(5, 8)), 0)
                others *= total / np.maximum(others.sum(axis=1, keepdims=True), 1e-300)
                assert (((others - row) ** 2).sum(axis=1) >= ((nearest - row) ** 2).sum() - 1e-9).all()

    def test_a_total_below_zero_becomes_zero(self):
        """The nearest non-negative estimate without records is empty."""
        np.testing.assert_array_equal(non_negative(np.array([[-5.0, 2.0, 1.0]])), [[0.0, 0.0, 0.0]])

    def test_non_negative_estimates_stay(self):
        """What is non-negative already comes back, to rounding."""
        estimate = np.abs(noisy((30,)))
        np.testing.assert_allclose(non_negative(estimate), estimate, atol=1e-11)

    def test_an_estimate_is_not_changed_in_place(self):
        """The caller's array is left as it was."""
        estimate = noisy((5,))
        before = estimate.copy()
        apply_steps(estimate, ("non-negative", "integral"))
        np.testing.assert_array_equal(estimate, before)


class TestSteps:
    def test_steps_are_applied_in_the_order_given(self):
        """Whole numbers last are whole; a projection last need not be."""
        estimate = noisy((12,), trials=4)
        whole_last = apply_steps(estimate, ["non-negative", "integral"])
        projected_last = apply_steps(estimate, ["integral", "non-negative"])
        np.testing.assert_array_equal(whole_last, integral(non_negative(estimate)))
        np.testing.assert_array_equal(projected_last, non_negative(integral(estimate)))
        assert (whole_last == np.rint(whole_last)).all()
        assert (projected_last != np.rint(projected_last)).any()

    def test_non_negative_whole_numbers_keep_the_total(self):
        """The two steps that an office wants together: whole, non-negative, and the rounded total."""
        estimate = noisy((50,), trials=20)
        result = apply_steps(estimate, ("non-negative", "integral"))
        assert (result >= 0).all()
        total = np.maximum(estimate.sum(axis=1), 0)
        np.testing.assert_array_equal(result.sum(axis=1), np.rint(total))

    def test_top_down_and_integral_together(self):
        """What the contract says: non-negative whole numbers, by the functions of those names."""
        estimate = noisy((50,), trials=20)
        result = apply_steps(estimate, ("top-down", "integral"))
        np.testing.assert_array_equal(result, integral(top_down(estimate)))
        assert (result >= 0).all()
        np.testing.assert_array_equal(result, np.rint(result))

    def test_no_steps_change_nothing(self):
        """The estimate itself comes back."""
        estimate = noisy((3,))
        assert apply_steps(estimate, ()) is estimate

    def test_a_single_name_is_a_step(self):
        """A string is one step, not a sequence of letters."""
        estimate = noisy((3,))
        np.testing.assert_array_equal(apply_steps(estimate, "integral"), integral(estimate))

    @pytest.mark.parametrize("steps", ["nonnegative", ["integral", "round"], [""]])
    def test_an_unknown_step_is_refused(self, steps):
        """The message names the kind of thing that is missing."""
        with pytest.raises(UnknownName, match="post-processing step"):
            apply_steps(noisy((3,)), steps)

    def test_run_applies_them(self):
        """They are an option of run, and the noise is that of the plain run."""
        x, workload = np.arange(9), dpb.workloads.Prefix(9)
        identity = dpb.algorithms.get("Identity")
        plain = identity.run(x, workload, 0.1, trials=3, seed=5)
        steps = ("non-negative", "integral")
        np.testing.assert_array_equal(
            identity.run(x, workload, 0.1, trials=3, seed=5, postprocess=steps), apply_steps(plain, steps)
        )
