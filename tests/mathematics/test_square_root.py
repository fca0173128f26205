"""The square root of the prefix sums."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from dpbench.domain import Domain
from dpbench.errors import InvalidDomain
from dpbench.mathematics.gaussian_error import unit_error
from dpbench.mathematics.square_root import SquareRoot
from dpbench.workloads import AllRange, Prefix, RandomRange, Ranges

SIZES = [1, 2, 3, 7, 16, 33, 100]


def dense(n):
    """A as a matrix, from f_k = binomial(2k, k) / 4^k."""
    f = [comb(2 * k, k) / 4**k for k in range(n)]
    return np.array([[f[i - j] if j <= i else 0.0 for j in range(n)] for i in range(n)])


@pytest.mark.parametrize("n", SIZES)
def test_answers_are_those_of_the_matrix(n):
    """The FFT applies the lower triangular Toeplitz matrix, to any leading axes."""
    x = np.random.default_rng(n).integers(0, 1000, size=(2, 3, n))
    strategy = SquareRoot(Domain((n,)))
    assert strategy.answer(x).shape == (2, 3, *strategy.shape)
    np.testing.assert_allclose(strategy.answer(x), x @ dense(n).T, atol=1e-9)
    np.testing.assert_allclose(strategy.answer(x[0, 0]), dense(n) @ x[0, 0], atol=1e-9)


@pytest.mark.parametrize("n", [*SIZES, 4096])
def test_the_matrix_is_a_square_root_of_the_prefix_sums(n):
    """Applied twice it gives the prefix sums; reconstruction gives the counts back."""
    x = np.random.default_rng(n).integers(0, 10**6, size=(2, n))
    strategy = SquareRoot(Domain((n,)))
    answers, column = strategy.answer(x), strategy.answer(np.eye(n, dtype=np.int64)[0])
    twice = [np.convolve(each, column)[:n] for each in answers]
    # 1e-14 of the largest number: the rounding of sums, and of an FFT
    np.testing.assert_allclose(twice, np.cumsum(x, axis=1), atol=1e-14 * x.sum(), rtol=0)
    np.testing.assert_allclose(strategy.reconstruct(answers), x, atol=1e-14 * x.sum(), rtol=0)


@pytest.mark.parametrize("n", [1, 2, 33, 300, 1100])
@pytest.mark.parametrize("bits", [2, 15, 30, 52])
def test_every_answer_is_right_to_its_last_bits(n, bits):
    """By whole numbers in Python, beside a count however huge; what comes before it shows nothing of it."""
    strategy, rng = SquareRoot(Domain((n,))), np.random.default_rng([n, bits])
    x = rng.integers(0, 3, n)
    x[n // 2] = 2**bits - 1
    answers, root = strategy.answer(x), list(map(Fraction, strategy.answer(np.eye(n, dtype=np.int64)[0]).tolist()))
    for place in {0, n // 2, n - 1, *rng.integers(0, n, 20).tolist()}:
        exact = sum((root[place - cell] * int(x[cell]) for cell in range(place + 1)), Fraction(0))
        assert abs(Fraction(answers[place]) - exact) <= 2 * exact * Fraction(1, 2**52)


def test_nothing_of_huge_counts_is_in_the_answers_before_them_on_a_million_cells():
    """One record, then a hundred thousand cells with nothing, then digits as large as they can be."""
    n, before = 2**20, 10**5
    x = np.zeros(n, dtype=np.int64)
    x[0] = 1
    alone = SquareRoot(Domain((n,))).answer(x)[:before]
    x[before:] = 2**36 - 1
    np.testing.assert_array_equal(SquareRoot(Domain((n,))).answer(x)[:before], alone)


def test_counts_are_whole():
    """Digits of a fraction are nobody's."""
    with pytest.raises(TypeError):
        SquareRoot(Domain((4,))).answer(np.array([0.5, 1.0, 2.0, 3.0]))


@pytest.mark.parametrize("n", SIZES)
def test_sensitivities_are_the_norms_of_the_first_column(n):
    """No column is larger, and the exact sums over the stored coefficients agree with the binomials."""
    A, strategy = dense(n), SquareRoot(Domain((n,)))
    f = [Fraction(comb(2 * k, k), 4**k) for k in range(n)]
    assert float(strategy.sensitivity) == pytest.approx(float(sum(f)), rel=1e-14)
    assert float(strategy.squared_l2_sensitivity) == pytest.approx(float(sum(v**2 for v in f)), rel=1e-14)
    assert (A**2).sum(axis=0).max() <= float(strategy.squared_l2_sensitivity) * (1 + 1e-14)
    assert A.sum(axis=0).max() <= float(strategy.sensitivity) * (1 + 1e-14)
    stored = [Fraction(value) for value in strategy.answer(np.eye(n, dtype=np.int64)[0]).tolist()]
    assert float(sum(value**2 for value in stored)) <= float(strategy.squared_l2_sensitivity) * (1 + 1e-13)


@pytest.mark.parametrize("n", SIZES)
def test_the_variance_of_a_range_is_that_of_dense_algebra(n):
    """w (A^T A)^-1 w^T for every range."""
    lower, upper = np.triu_indices(n + 1, k=1)
    W = (np.arange(n) >= lower[:, None]) & (np.arange(n) < upper[:, None])
    expected = ((W @ np.linalg.inv(dense(n))) ** 2).sum(axis=1)
    np.testing.assert_allclose(SquareRoot(Domain((n,))).range_variance(lower, upper), expected, rtol=1e-11)


@pytest.mark.parametrize(("n", "expected"), [(1, 1), (2, 1.40625), (256, 7.12240), (1024, 9.67079), (4096, 12.61168)])
def test_the_error_on_prefixes(n, expected):
    """c_(n-1) times the mean of c, to all digits given."""
    assert unit_error(SquareRoot(Domain((n,))), Prefix(n)) == pytest.approx(expected, abs=6e-6)


def test_the_error_on_other_workloads():
    """A product, a distribution and a list with weights agree with dense algebra."""
    n = 24
    strategy, inverse = SquareRoot(Domain((n,))), np.linalg.inv(dense(n))
    sensitivity = float(strategy.squared_l2_sensitivity)
    listed = Ranges(n, [0, 3, 5], [4, 20, 6], weights=[1.0, -2.0, 0.5])
    for workload in (AllRange(n), listed):
        expected = sensitivity * ((workload.matrix() @ inverse) ** 2).sum() / workload.queries
        assert unit_error(strategy, workload) == pytest.approx(expected, rel=1e-12)
    moment = RandomRange(n, queries=None).axes[0].second_moment()
    expected = sensitivity * np.trace(moment @ inverse @ inverse.T)
    assert unit_error(strategy, RandomRange(n, queries=None)) == pytest.approx(expected, rel=1e-12)


def test_one_axis_only():
    """A domain of two axes is refused in one line."""
    with pytest.raises(InvalidDomain, match="one axis"):
        SquareRoot(Domain((4, 4)))
