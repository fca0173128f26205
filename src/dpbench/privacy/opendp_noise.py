"""OpenDP's samplers in place of ours, for those who trust them more: discrete Laplace and discrete Gaussian noise.

OpenDP takes its scale as a float. It is rounded up here, so there is never less noise than was paid for. Selections
and partitions, for which OpenDP has no sampler of ours' law on exact scores, stay ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf, nextafter, prod, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import Unsupported
from dpbench.privacy.budget import Number
from dpbench.privacy.conversion import read_positive
from dpbench.privacy.exact_noise import ExactNoise

Ints = NDArray[np.int64]


def opendp_version() -> str:
    """The version of OpenDP that is installed; refuses where there is none."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("opendp")
    except PackageNotFoundError:
        raise Unsupported(
            'sampler = "opendp" needs the package opendp; install dpbench-range[crosscheck], or leave sampler out'
        ) from None


class OpenDPNoise(ExactNoise):
    """Exact draws whose noise comes from OpenDP."""

    def __init__(self) -> None:
        super().__init__()
        opendp_version()
        import opendp.prelude as dp

        dp.enable_features("contrib")
        self._dp: Any = dp

    def discrete_laplace(self, scale: Number, shape: int | Sequence[int]) -> Ints:
        """Whole numbers k with chance proportional to exp(-|k| / scale), the scale rounded up to a float."""
        width = rounded_up(read_positive(scale, "the scale of discrete Laplace noise"))
        return self._drawn(self._dp.m.make_laplace(*self._space("l1_distance"), scale=width), shape)

    def discrete_gaussian(self, variance: Number, shape: int | Sequence[int]) -> Ints:
        """Whole numbers k with chance proportional to exp(-k^2 / (2 variance)), the variance rounded up."""
        deviation = root_above(read_positive(variance, "the variance of discrete Gaussian noise"))
        return self._drawn(self._dp.m.make_gaussian(*self._space("l2_distance"), scale=deviation), shape)

    def _space(self, distance: str) -> tuple[Any, Any]:
        return self._dp.vector_domain(self._dp.atom_domain(T="i64")), getattr(self._dp, distance)(T="i64")

    @staticmethod
    def _drawn(measurement: Any, shape: int | Sequence[int]) -> Ints:
        form = (int(shape),) if isinstance(shape, int | np.integer) else tuple(shape)
        many = prod(form)
        return np.array(measurement([0] * many) if many else [], dtype=np.int64).reshape(form)


def rounded_up(number: Fraction) -> float:
    """The least float that is at least a number."""
    found = float(number)
    while Fraction(found) < number:
        found = nextafter(found, inf)
    return found


def root_above(number: Fraction) -> float:
    """A float whose square is at least a number, and hardly more."""
    found = sqrt(number)
    while Fraction(found) ** 2 < number:
        found = nextafter(found, inf)
    return found
