"""Privelet: noise on Haar wavelet coefficients."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpbench import algorithms
from dpbench.errors import InvalidInput
from dpbench.privacy import Recording
from dpbench.workloads import AllRange, Prefix, RandomRange, Ranges
from reference import haar as reference

PRIVELET = algorithms.get("Privelet")


@pytest.mark.parametrize(
    ("shape", "sensitivity"), [((1,), 1), ((2,), 2), ((5,), 4), ((256,), 9), ((8, 4), 12), ((1, 6), 4), ((4, 6, 3), 36)]
)
def test_the_noise_is_the_product_of_levels_plus_one(shape, sensitivity):
    """log2(n) + 1 on each axis, padded; half of the publication's, whose neighbours replace a record."""
    recording = Recording()
    PRIVELET._outcome(np.zeros(shape, dtype=int), AllRange(shape), 0.5, channel=recording, seed=0)
    ((question, outcome),) = recording.exchanges
    assert question.sensitivity == sensitivity
    assert question.amount == Fraction(1, 2)
    assert outcome.shape == (1, *(2 ** reference.levels_of(side) for side in shape))


def dense_error(workload, epsilon):
    """2 Delta^2 / epsilon^2 trace(W (A^T A)^-1 W^T) / q with the explicit transform of the padded domain."""
    shape = workload.domain.shape
    padded = tuple(2 ** reference.levels_of(side) for side in shape)
    inside = np.zeros(padded, dtype=bool)
    inside[tuple(slice(side) for side in shape)] = True
    operator = workload.matrix() @ np.linalg.inv(reference.matrix_of(padded))[inside.reshape(-1)]
    delta = np.prod([reference.levels_of(side) + 1 for side in shape])
    return 2 * delta**2 / epsilon**2 * (operator**2).sum() / len(operator)


@pytest.mark.parametrize(
    "workload",
    [
        *(Prefix(n) for n in (1, 2, 3, 8, 13, 32)),
        *(AllRange(shape) for shape in (7, (8, 4), (1, 6), (2, 3, 4))),
        RandomRange((5, 12), queries=40),
        Ranges((3, 3), [[0, 1]], [[3, 2]], weights=[-2.0]),
    ],
    ids=repr,
)
def test_the_expected_error_is_the_dense_trace(workload):
    """In closed form, along any number of padded axes."""
    assert PRIVELET.expected_error(workload, 0.3) == pytest.approx(dense_error(workload, 0.3), rel=1e-11)


class TestSmallIdentity:
    def test_it_is_off_unless_asked_for(self):
        """The private form has the wavelet everywhere; the published one has cells on up to 16."""
        assert PRIVELET.small_identity == 0
        assert algorithms.get("Privelet", variant="published").small_identity == 16

    @pytest.mark.parametrize("n", [1, 16])
    def test_a_short_axis_gets_plain_cells(self, n):
        """Estimates and expected errors are Identity's, draw for draw."""
        published, identity = algorithms.get("Privelet", variant="published"), algorithms.get("Identity")
        x, workload = np.arange(n), Prefix(n)
        np.testing.assert_array_equal(published.run(x, workload, 0.5, 3, 1), identity.run(x, workload, 0.5, 3, 1))
        assert published.expected_error(workload, 0.5) == identity.expected_error(workload, 0.5)

    @pytest.mark.parametrize("shape", [(17,), (4, 4)])
    def test_longer_or_several_axes_get_the_wavelet(self, shape):
        """As in the authors' code, only one axis has the short cut."""
        published = algorithms.get("Privelet", variant="published")
        x, workload = np.ones(shape, dtype=int), AllRange(shape)
        np.testing.assert_array_equal(published.run(x, workload, 0.5, 3, 1), PRIVELET.run(x, workload, 0.5, 3, 1))
        assert published.expected_error(workload, 0.5) == PRIVELET.expected_error(workload, 0.5)

    def test_a_negative_limit_is_refused(self):
        """The message quotes it."""
        with pytest.raises(InvalidInput, match="-1"):
            algorithms.get("Privelet", small_identity=-1)
