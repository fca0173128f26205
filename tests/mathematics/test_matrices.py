"""Products and inverses whose bits do not depend on threads."""

import numpy as np
import pytest

from dpbench.mathematics.kernels.matrices import inverse, product


@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 3, 4), (5, 4, 1), (7, 9, 6), (40, 33, 21)])
def test_products_are_those_of_the_library(shape):
    """Whatever the inner side is modulo four."""
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=shape[:2]), rng.normal(size=shape[1:])
    np.testing.assert_allclose(product(one, other), one @ other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("count", [1, 2, 5, 60])
def test_inverses_are_those_of_the_library(count):
    """Of positive definite matrices, to the precision that their condition allows."""
    rows = np.random.default_rng(1).gamma(0.5, size=(count, 3 * count))
    matrix = np.eye(count) + rows @ rows.T
    np.testing.assert_allclose(inverse(matrix), np.linalg.inv(matrix), rtol=1e-9, atol=1e-12)
    assert inverse(np.empty((0, 0))).shape == (0, 0)
