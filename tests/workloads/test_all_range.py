"""AllRange, listed and unlisted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpbench.errors import InvalidWorkload
from dpbench.workloads import AllRange, AxisRanges
from reference import ranges as reference


@pytest.mark.parametrize("shape", [(1,), (4,), (2, 3), (1, 4), (2, 1, 3)])
def test_the_list_is_lexicographic(shape):
    """The order is (lower0, upper0, lower1, upper1, ...), first axis slowest."""
    lower, upper = zip(*reference.all_ranges(shape), strict=True)
    listed = AllRange(shape).ranges()
    np.testing.assert_array_equal(listed.lower, lower)
    np.testing.assert_array_equal(listed.upper, upper)
    assert AllRange(shape).queries == len(lower)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=3), st.integers(0, 1000), st.booleans())
def test_norms_without_a_list_equal_norms_with_one(shape, seed, whole):
    """The quadratic form, the sorting and the spread are shortcuts, not approximations."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-5, 6, size=(2, *shape)) if whole else rng.normal(size=(2, *shape))
    workload = AllRange(shape)
    W = workload.matrix()
    for order in ("L2", "L1", "Linf"):
        np.testing.assert_allclose(workload.norm(x, order), reference.norm(W, x, order), rtol=1e-9, atol=1e-9)


def test_norms_of_a_long_domain_have_known_values():
    """For a unit in cell i of n, each of (i + 1)(n - i) ranges answers 1."""
    n, i = 4096, 1000
    x = np.zeros((1, n))
    x[0, i] = 1
    covering = (i + 1) * (n - i)
    workload = AllRange(n)
    assert workload.norm(x, "L2")[0] == pytest.approx(np.sqrt(covering), rel=1e-12)
    assert workload.norm(x, "L1")[0] == pytest.approx(covering, rel=1e-12)
    assert workload.norm(x, "Linf")[0] == 1
    assert workload.mean_squared(x)[0] == pytest.approx(covering / (n * (n + 1) / 2), rel=1e-12)


def test_the_mean_square_in_two_dimensions_has_a_known_value():
    """White noise of variance 1: (n1 + 2)(n2 + 2) / 9, the mean area; exact for x of cells one at a time."""
    shape = (32, 64)
    cells = np.eye(32 * 64).reshape(-1, *shape)
    assert AllRange(shape).mean_squared(cells).sum() == pytest.approx(34 * 66 / 9, rel=1e-10)


def test_a_long_list_is_refused_with_what_needs_none():
    """4096 cells have 8 million ranges."""
    for attempt in (AllRange(4096).ranges, lambda: AllRange(4096).answer(np.zeros(4096))):
        with pytest.raises(InvalidWorkload, match=r"8390656 ranges .* norm\(\)"):
            attempt()


def test_a_domain_too_large_for_any_list_still_has_its_numbers():
    """Counts of ranges are exact whole numbers."""
    workload = AllRange((4096, 4096, 4096))
    assert workload.queries == 8390656**3
    assert workload.sensitivity == float((4097**2 // 4) ** 3)
    assert workload.axes == (AxisRanges.every(4096),) * 3
