import numpy as np
import pytest

from dpbench.errors import InvalidInput
from dpbench.measuring import harrell_davis, measure, measure_all, order_interval, quantile


def test_measurement_is_what_it_says():
    """Mean, deviation with n - 1, and the 95th percentile, of errors of any number of data vectors."""
    errors = np.arange(20.0).reshape(4, 5)
    measured = measure(errors)
    assert (measured.samples, measured.trials, measured.mean) == (4, 20, 9.5)
    assert measured.deviation == pytest.approx(np.std(errors, ddof=1))
    assert measured.percentile == pytest.approx(np.percentile(errors, 95))
    assert measured.independent_error == pytest.approx(measured.deviation / np.sqrt(20))


def test_the_error_of_the_mean_is_that_of_the_means_of_data_vectors():
    """Trials on one data vector share it: the deviation of the vectors' means over the root of their number."""
    errors = np.random.default_rng(0).normal(size=(5, 10)) + np.arange(5)[:, None]
    assert measure(errors).standard_error == pytest.approx(errors.mean(axis=1).std(ddof=1) / np.sqrt(5))


def test_on_one_data_vector_trials_are_all_there_is():
    """Without other vectors the standard error is that of independent trials, and says nothing of other vectors."""
    errors = np.random.default_rng(0).normal(size=30)
    assert measure(errors).standard_error == pytest.approx(errors.std(ddof=1) / np.sqrt(30))


def test_one_trial_has_no_variability():
    """A single error cannot be measured; among many settings it is NaN."""
    with pytest.raises(InvalidInput, match="at least 2"):
        measure([1.0])
    measured = measure_all(np.array([[[1.0, np.nan]], [[np.nan, np.nan]]]))
    assert measured.mean[0] == 1.0
    assert np.isnan([measured.deviation, measured.standard_error]).all()
    assert np.isnan(measured.mean[1])


def test_many_settings_at_once_are_the_same_as_one_by_one():
    """Missing trials are left out, whatever else is in the array."""
    rng = np.random.default_rng(1)
    errors = rng.lognormal(size=(20, 4, 6))
    errors[rng.random(errors.shape) < 0.2] = np.nan
    together = measure_all(errors)
    for number, each in enumerate(errors):
        vectors = [vector[np.isfinite(vector)] for vector in each]
        values = np.concatenate(vectors)
        alone = together[number]
        assert alone.mean == pytest.approx(values.mean())
        assert alone.deviation == pytest.approx(values.std(ddof=1))
        assert alone.percentile == pytest.approx(np.percentile(values, 95))
        parts = [len(vector) / len(values) * (vector.mean() - values.mean()) for vector in vectors]
        assert alone.standard_error == pytest.approx(np.sqrt(4 / 3 * np.sum(np.square(parts))))


def test_standard_errors_are_right_on_average_under_the_two_stage_design():
    """Over 4000 studies with shared data vectors the squared standard errors of mean and variance are unbiased.

    The naive error, as if 50 trials were independent, is far too small here. Tolerances are above 4 standard errors.
    """
    rng = np.random.default_rng(2)
    errors = rng.normal(size=(4000, 5, 1)) + rng.normal(size=(4000, 5, 10))
    measured = measure_all(errors)
    assert np.mean(measured.standard_error**2) == pytest.approx(np.var(measured.mean), rel=0.12)
    assert np.mean(measured.independent_error**2) < 0.3 * np.var(measured.mean)
    assert np.mean(measured.intraclass) == pytest.approx(0.5, abs=0.12)
    alone = measure_all(rng.normal(size=(4000, 5, 10)))
    assert np.mean(alone.deviation_error**2) == pytest.approx(np.var(alone.deviation), rel=0.12)


def test_the_interval_of_a_percentile_has_the_coverage_that_it_claims():
    """Whatever the distribution; fifty trials stop at 91 % because the percentile may lie above all of them.

    4000 studies: the tolerance is 4 standard errors.
    """
    rng = np.random.default_rng(3)
    for draw, truth in ((rng.standard_normal, 1.6448536), (rng.standard_exponential, -np.log(0.05))):
        measured = measure_all(draw((4000, 1, 50)))
        inside = (measured.percentile_low <= truth) & (truth <= measured.percentile_high)
        assert inside.mean() == pytest.approx(measured.percentile_coverage[0], abs=0.018)
        assert measured.percentile_coverage[0] == pytest.approx(0.9113, abs=1e-4)


def test_enough_trials_give_the_wanted_coverage():
    """With 500 trials both ends exist and the interval has at least 95 %."""
    ordered = np.sort(np.random.default_rng(4).random((1, 500)))
    low, high, coverage = order_interval(ordered, np.array([500]), 0.95)
    assert low[0] < quantile(ordered, np.array([500]), 0.95)[0] < high[0] < ordered[0, -1]
    assert 0.95 <= coverage[0] < 0.97


def test_the_jackknife_of_a_percentile_agrees_with_leaving_out_one_by_one():
    """The vectorised variance is that of a plain loop."""
    values = np.sort(np.random.default_rng(5).normal(size=(3, 20)))
    _, variance = harrell_davis(values, np.full(3, 20), 0.95)
    for row, expected in zip(values, variance, strict=True):
        left = [harrell_davis(np.delete(row, at)[None], np.array([19]), 0.95)[0][0] for at in range(20)]
        assert 19 / 20 * np.sum((left - np.mean(left)) ** 2) == pytest.approx(expected)
