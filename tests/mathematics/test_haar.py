"""The Haar wavelet."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench.domain import Domain
from dpbench.mathematics.haar import HaarWavelet, range_energy
from reference import haar as reference

SHAPES = [
    *((n,) for n in (1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 33, 64, 100, 257)),
    *((1, 1), (1, 6), (5, 1), (8, 4), (3, 5), (16, 16), (7, 33)),
    *((2, 3, 4), (1, 5, 1), (4, 6, 3), (3, 2, 1, 5)),
]
SMALL = [shape for shape in SHAPES if np.prod(shape) <= 64]


def counts_on(shape, seed=0):
    return np.random.default_rng(seed).integers(0, 1000, size=shape)


@pytest.mark.parametrize("shape", SMALL)
def test_coefficients_are_those_of_the_matrix(shape):
    """The pyramid along every axis is the Kronecker product of the explicit matrices."""
    x = counts_on(shape)
    wavelet = HaarWavelet(Domain(shape))
    expected = reference.matrix_of(shape) @ x.reshape(-1)
    answers = wavelet.answer(x)
    assert answers.shape == wavelet.shape
    assert answers.dtype == np.int64
    np.testing.assert_array_equal(answers.reshape(-1), expected)


def test_coefficients_are_packed_root_first():
    """Total, root difference, then the differences of each level from left to right."""
    answers = HaarWavelet(Domain((8,))).answer(np.array([1, 2, 4, 8, 16, 32, 64, 128]))
    assert answers.tolist() == [255, 15 - 240, 3 - 12, 48 - 192, -1, -4, -16, -64]


@pytest.mark.parametrize("shape", SHAPES)
def test_inverting_the_coefficients_gives_the_counts_back(shape):
    """Inverse after forward is the identity, padding or not; halves of whole numbers lose nothing."""
    x = counts_on(shape)
    wavelet = HaarWavelet(Domain(shape))
    batch = np.stack([wavelet.answer(x), wavelet.answer(2 * x)]).astype(np.float64)
    np.testing.assert_array_equal(wavelet.invert(batch), np.stack([x, 2 * x]).astype(np.float64))


@pytest.mark.parametrize("shape", SMALL)
def test_inversion_is_least_squares(shape):
    """On arbitrary noisy coefficients it equals the pseudo-inverse of the padded square matrix, cropped."""
    wavelet = HaarWavelet(Domain(shape))
    noisy = np.random.default_rng(1).normal(size=(3, *wavelet.shape))
    inverse = np.linalg.pinv(reference.matrix_of(wavelet.shape))
    dense = (noisy.reshape(3, -1) @ inverse.T).reshape(3, *wavelet.shape)
    crop = (slice(None), *(slice(side) for side in shape))
    # 1e-12: rounding of a pseudo-inverse whose condition number is below 100
    np.testing.assert_allclose(wavelet.invert(noisy), dense[crop], atol=1e-12)


@pytest.mark.parametrize("shape", SMALL)
def test_every_record_moves_the_coefficients_by_the_sensitivity(shape):
    """The transform of each unit vector has the L1 norm that the strategy claims: the product of m + 1."""
    wavelet = HaarWavelet(Domain(shape))
    for cell in range(int(np.prod(shape))):
        unit = np.zeros(shape, dtype=np.int64)
        unit.reshape(-1)[cell] = 1
        assert np.abs(wavelet.answer(unit)).sum() == wavelet.sensitivity
    assert wavelet.sensitivity == np.prod([reference.levels_of(side) + 1 for side in shape])


@pytest.mark.parametrize("levels", range(6))
def test_the_energy_of_a_range_is_its_variance(levels):
    """For every range, the closed form is w (A^T A)^-1 w^T with the explicit matrix A."""
    size = 2**levels
    lower, upper = np.triu_indices(size + 1, k=1)
    W = (np.arange(size) >= lower[:, None]) & (np.arange(size) < upper[:, None])
    operator = W @ np.linalg.inv(reference.matrix(levels))
    np.testing.assert_allclose(range_energy(lower, upper, levels), (operator**2).sum(axis=1), rtol=1e-12)
