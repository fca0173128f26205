"""How much of what a question is paid for one record takes, and what of that may be rounding."""

from fractions import Fraction

import numpy as np
import pytest

from dpbench.domain import Domain
from dpbench.mathematics.square_root import SquareRoot
from dpbench.privacy.claims import neighbours_of, spent_share
from dpbench.privacy.mechanisms import Gaussian
from dpbench.privacy.transcript import Question

CELLS = 64


class Understated(SquareRoot):
    """A claim that is too small by a thousandth."""

    @property
    def squared_l2_sensitivity(self):
        """Of the square, so twice that."""
        return super().squared_l2_sensitivity * Fraction(998, 1000)


def shares(strategy, largest):
    """Of one record more in the first cell, which moves answers most, beside a huge count in some other cell."""
    mechanism, rho = Gaussian(strategy), Fraction(1, 4)
    asked = Question(mechanism, "root", rho, rho, mechanism.level(rho), None, strategy.domain)
    for seed in range(300):
        stream = np.random.default_rng(seed)
        counts = stream.integers(0, 3, CELLS)
        counts[stream.integers(CELLS // 2, CELLS)] = largest - stream.integers(0, 1000)
        yield spent_share(*neighbours_of(asked, counts, 0))


@pytest.mark.parametrize("largest", [10**3, 10**6, 2**35, 2**42, 2**45])
def test_one_record_moves_the_square_root_by_its_claim_beside_a_huge_count(largest):
    """A plain Fourier transform leaves the rounding of the huge count in the answers before it, and does not."""
    assert max(shares(SquareRoot(Domain((CELLS,))), largest)) <= 1 + 1e-9


@pytest.mark.parametrize("largest", [10**3, 10**6, 2**30, 2**40])
def test_a_claim_that_is_too_small_is_seen_beside_large_counts(largest):
    """By a thousandth."""
    assert min(shares(Understated(Domain((CELLS,))), largest)) > 1.0005
