"""The samplers against their distributions, and samplers that are wrong."""

import numpy as np
import pytest

from dpbench.audit.samplers import DRAWS, FALSE_ALARM, check_samplers
from dpbench.errors import CheckFailed
from dpbench.privacy import RandomNoise


def test_a_million_draws_of_each_fit():
    """False alarms have probability 1e-6 for each test; the seed is fixed."""
    figures = check_samplers()
    assert figures["draws"] == DRAWS == 10**6
    assert figures["Laplace"]["probability"] > FALSE_ALARM
    assert figures["Gumbel"]["probability"] > FALSE_ALARM


class Scaled(RandomNoise):
    def laplace(self, truth, scale, shape):
        return super().laplace(truth, 0.99 * scale, shape)


class Flat(RandomNoise):
    def gumbel(self, shape):
        return super().gumbel(shape) + 0.01


class Repeating(RandomNoise):
    def laplace(self, truth, scale, shape):
        draws = super().laplace(truth, scale, shape)
        draws[:, 1::2] = draws[:, ::2]
        return draws


@pytest.mark.parametrize(
    ("kind", "cause"), [(Scaled, "not Laplace"), (Flat, "not Gumbel"), (Repeating, "not Laplace|repeats itself")]
)
def test_a_sampler_that_is_off_by_a_hundredth_fails(kind, cause):
    """One per cent less noise, a small shift, draws used twice."""
    noise = RandomNoise.seeded(np.random.SeedSequence(3), 100)
    with pytest.raises(CheckFailed, match=cause):
        check_samplers(noise=kind(noise._seeds))
