from math import prod

import numpy as np
import pytest

from dpbench.errors import InvalidInput
from dpbench.privacy import NoNoise, RandomNoise, seed_sequence
from dpbench.privacy.noise import AT_ONCE

DRAWS = 10**6


def kolmogorov(draws, distribution):
    """Largest distance between the empirical and the exact distribution function, times sqrt(n)."""
    exact = distribution(np.sort(draws))
    n = len(draws)
    above = np.arange(1, n + 1) / n - exact
    below = exact - np.arange(n) / n
    return max(above.max(), below.max()) * np.sqrt(n)


def laplace_distribution(x):
    return np.where(x < 0, 0.5 * np.exp(np.minimum(x, 0)), 1 - 0.5 * np.exp(-np.maximum(x, 0)))


def gumbel_distribution(x):
    return np.exp(-np.exp(-x))


def test_laplace_draws_have_the_laplace_distribution():
    """10^6 draws pass Kolmogorov-Smirnov at a false-alarm rate of 1e-4 (2.225 for sqrt(n) D), with a fixed seed."""
    draws = RandomNoise.seeded(1, 1).laplace(np.zeros(DRAWS), 1.0, (DRAWS,)).reshape(-1)
    assert kolmogorov(draws, laplace_distribution) < 2.225


def test_gumbel_draws_have_the_gumbel_distribution():
    """10^6 draws pass Kolmogorov-Smirnov at a false-alarm rate of 1e-4, with a fixed seed."""
    draws = RandomNoise.seeded(2, 1).gumbel((DRAWS,)).reshape(-1)
    assert kolmogorov(draws, gumbel_distribution) < 2.225


def test_signs_and_sizes_are_independent():
    """The sign of a draw says nothing about its size: |correlation| < 4 / sqrt(n), false alarm 6e-5."""
    draws = RandomNoise.seeded(3, 1).laplace(np.zeros(DRAWS), 1.0, (DRAWS,)).reshape(-1)
    assert abs(np.corrcoef(np.sign(draws), np.abs(draws))[0, 1]) < 4 / np.sqrt(DRAWS)
    assert abs(np.corrcoef(draws[1:], draws[:-1])[0, 1]) < 4 / np.sqrt(DRAWS)


def test_a_trial_has_a_stream_of_its_own():
    """Trial 2 draws the same alone, in a batch of 3 and in a batch of 7, and differs from its neighbours."""
    three, seven = RandomNoise.seeded(5, 3), RandomNoise.seeded(5, 7)
    alone = RandomNoise.seeded(5, 3).only(2)
    for shape in ((4,), (65,), (2, 3)):
        truth = np.arange(np.prod(shape)).reshape(shape) * 1.0
        for draw in ("laplace", "gaussian"):
            batch = getattr(three, draw)(truth, 2.0, shape)
            assert np.array_equal(batch[2], getattr(seven, draw)(truth, 2.0, shape)[2])
            assert np.array_equal(batch[2], getattr(alone, draw)(truth, 2.0, shape)[0])
            assert not np.array_equal(batch[1], batch[2])


def test_scalar_draws():
    """A question with a single answer has the shape of the batch."""
    assert RandomNoise.seeded(0, 4).laplace(np.zeros(()), 1.0, ()).shape == (4,)
    assert NoNoise(4).gumbel((2,)).tolist() == [[0.0, 0.0]] * 4


@pytest.mark.parametrize("bad", [-1, 0.5, "7", True])
def test_bad_seeds_are_refused(bad):
    """A seed is a whole non-negative number, a SeedSequence, or None."""
    with pytest.raises(InvalidInput, match="seed"):
        seed_sequence(bad)


def normal_distribution(x):
    from scipy.special import ndtr

    return ndtr(x)


def test_gaussian_draws_have_the_normal_distribution():
    """10^6 draws pass Kolmogorov-Smirnov at a false-alarm rate of 1e-4, with a fixed seed."""
    draws = RandomNoise.seeded(4, 1).gaussian(np.full(DRAWS, 7.0), 3.0, (DRAWS,)).reshape(-1)
    assert kolmogorov((draws - 7.0) / 3.0, normal_distribution) < 2.225


def test_noise_without_a_seed_is_fresh():
    """Nobody gets the same noise twice by saying nothing."""
    one, other = (RandomNoise.seeded(None, 1).uniform((4,)) for _ in range(2))
    assert not np.array_equal(one, other)


def test_coins_are_reproducible_and_are_not_the_noise():
    """Public randomness follows from the seed, trial by trial, and shares no stream with the noise."""
    seeds = RandomNoise.seeded(9, 3).coins()
    again = RandomNoise.seeded(9, 2, first=1).coins()
    drawn = [np.random.default_rng(seed).random(8) for seed in seeds]
    assert np.array_equal(drawn[1], np.random.default_rng(again[0]).random(8))
    assert not np.array_equal(drawn[0], drawn[1])
    assert not np.isin(RandomNoise.seeded(9, 3).uniform((8,)), np.array(drawn)).any()


@pytest.mark.parametrize("trials", [0, 1, 3])
@pytest.mark.parametrize("shape", [(), (0,), (7,), (64,), (5, 13), (AT_ONCE,), (AT_ONCE + 1,)])
def test_a_bit_of_the_stream_is_the_sign_of_a_draw(trials, shape):
    """Byte by byte from the lowest, the highest bit first; however many draws are made at once, and call by call."""
    noise = RandomNoise.seeded(5, trials)
    alike = RandomNoise.seeded(5, trials)
    for _ in range(2):
        found = noise.laplace(np.zeros(shape), 2.5, shape)
        for stream, row in zip(alike._streams, found.reshape(trials, prod(shape)), strict=True):
            sizes = stream.standard_exponential(row.size)
            words = stream.bit_generator.random_raw(-(-row.size // 64)).tolist()
            bits = [word >> (8 * byte + 7 - bit) & 1 for word in words for byte in range(8) for bit in range(8)]
            assert row.tolist() == [2.5 * (-size if bit else size) for size, bit in zip(sizes, bits, strict=False)]
