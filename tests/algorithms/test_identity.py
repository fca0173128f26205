"""Identity: noise on every cell."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench import algorithms
from dpbench.privacy import Recording
from dpbench.workloads import AllRange, Prefix, RandomRange, Ranges

IDENTITY = algorithms.get("Identity")


@pytest.mark.parametrize("n", [1, 2, 3, 100, 4096])
def test_the_error_on_prefixes_is_one_more_than_the_domain(n):
    """(n + 1) / epsilon^2."""
    assert IDENTITY.expected_error(Prefix(n), 1) == pytest.approx(n + 1, rel=1e-12)
    assert IDENTITY.expected_error(Prefix(n), 0.1) == pytest.approx(100 * (n + 1), rel=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 100])
def test_the_error_on_all_ranges(n):
    """2 (n + 2) / (3 epsilon^2)."""
    assert IDENTITY.expected_error(AllRange(n), 1) == pytest.approx(2 * (n + 2) / 3, rel=1e-12)


@pytest.mark.parametrize("shape", [(1, 1), (5, 12), (256, 256)])
def test_the_error_on_random_rectangles(shape):
    """(n1 + 1)(n2 + 1) / (2 epsilon^2)."""
    expected = (shape[0] + 1) * (shape[1] + 1) / 2
    assert IDENTITY.expected_error(RandomRange(shape, queries=None), 1) == pytest.approx(expected, rel=1e-12)


def test_a_query_of_m_cells_has_variance_twice_m():
    """And its weight enters squared."""
    workload = Ranges((4, 5), [[1, 2]], [[3, 5]], weights=[3.0])
    assert IDENTITY.expected_error(workload, 2) == pytest.approx(2 * 6 * 9 / 4)


@pytest.mark.parametrize("shape", [(1,), (7,), (3, 4), (2, 1, 3)])
def test_cells_are_asked_once_with_noise_of_scale_one_over_epsilon(shape):
    """One call, all of epsilon, sensitivity 1, and the answers are the estimate."""
    recording = Recording()
    x = np.arange(np.prod(shape)).reshape(shape)
    release = IDENTITY._outcome(x, AllRange(shape), 0.5, trials=2, channel=recording, seed=0)
    ((question, outcome),) = recording.exchanges
    assert (question.amount, question.sensitivity, question.level, question.shape) == (0.5, 1, 2.0, shape)
    np.testing.assert_array_equal(question.truth, x)
    np.testing.assert_array_equal(release.estimate, outcome)
