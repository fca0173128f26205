import numpy as np
import pytest

from dpbench.errors import InvalidInput
from dpbench.interpreting import competitive, unpaired_p_value
from dpbench.measuring import measure


def test_measurement_is_what_it_says():
    """Mean, deviation with n - 1, and the 95th percentile, of errors of any shape."""
    errors = np.arange(20.0).reshape(4, 5)
    measured = measure(errors)
    assert (measured.trials, measured.mean) == (20, 9.5)
    assert measured.deviation == pytest.approx(np.std(errors, ddof=1))
    assert measured.percentile == pytest.approx(np.percentile(errors, 95))
    assert measured.independent_error == pytest.approx(measured.deviation / np.sqrt(20))


def test_one_trial_has_no_variability():
    """A single error cannot be measured."""
    with pytest.raises(InvalidInput, match="at least 2"):
        measure([1.0])


def test_p_value_agrees_with_scipy():
    """The p-value from moments is that of scipy's Welch test on the values."""
    from scipy.stats import ttest_ind

    rng = np.random.default_rng(0)
    for shift in (0.0, 0.3, 2.0):
        one, other = rng.normal(size=30), rng.normal(shift, 3, size=50)
        expected = ttest_ind(one, other, equal_var=False).pvalue
        assert unpaired_p_value(measure(one), measure(other)) == pytest.approx(expected, rel=1e-9)


def test_competitive_is_the_best_and_what_cannot_be_told_from_it():
    """The lowest mean is competitive, a near tie too, a clear loser not."""
    rng = np.random.default_rng(0)
    measured = {
        "best": measure(rng.normal(1.0, 0.1, 50)),
        "near": measure(rng.normal(1.01, 0.1, 50)),
        "worse": measure(rng.normal(2.0, 0.1, 50)),
    }
    assert competitive(measured) == {"best", "near"}


def test_bonferroni_keeps_a_borderline_algorithm():
    """With more algorithms each comparison is stricter, so a borderline one stays competitive."""
    borderline = {"best": measure([1.0, 1.2, 0.8, 1.1, 0.9]), "other": measure([1.3, 1.1, 1.4, 1.2, 1.3])}
    assert competitive(borderline) == {"best"}
    crowd = {f"loser {number}": measure([50.0, 51.0, 49.0]) for number in range(20)}
    assert competitive({**borderline, **crowd}) == {"best", "other"}


def test_equal_constants_are_competitive():
    """Two algorithms without any variation tie exactly or not at all."""
    measured = {"a": measure([1.0, 1.0]), "b": measure([1.0, 1.0]), "c": measure([2.0, 2.0])}
    assert competitive(measured) == {"a", "b"}


def test_no_algorithm_no_winner():
    """An empty setting is an error."""
    with pytest.raises(InvalidInput):
        competitive({})
