"""Integer logarithms."""

from __future__ import annotations

import pytest

from dpbench.mathematics.integers import ceiling_log


@pytest.mark.parametrize(
    ("number", "base", "height"),
    [(1, 2, 0), (2, 2, 1), (3, 2, 2), (4, 2, 2), (5, 2, 3), (125, 5, 3), (126, 5, 4), (216, 6, 3), (217, 6, 4)],
)
def test_a_logarithm_is_the_least_sufficient_height(number, base, height):
    """Where a floating-point logarithm gives 4 for 125 = 5^3 and 216 = 6^3, multiplication gives 3."""
    assert ceiling_log(number, base) == height


@pytest.mark.parametrize("base", [2, 3, 5, 6, 7, 10])
def test_a_height_suffices_and_one_less_does_not(base):
    """base^(h-1) < number <= base^h, for every number up to 3000."""
    for number in range(2, 3001):
        height = ceiling_log(number, base)
        assert base ** (height - 1) < number <= base**height


def test_large_powers_are_exact():
    """No rounding at 3^100 or next to it."""
    assert [ceiling_log(3**100 + shift, 3) for shift in (-1, 0, 1)] == [100, 100, 101]
