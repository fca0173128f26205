"""Where noise comes from: an exchangeable source of draws around a truth, one stream per trial.

Every trial has a random stream of its own, derived from the seed and the trial's number. So trial 7
is the same whether it is run alone, in a batch of 10 or in a batch of 50. The same seed gives proportional noise at
every epsilon.

Double-precision Laplace noise leaks through its low-order bits: it is for experiments, not for a
release.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from math import prod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpbench.given import LARGEST_SEED, afford, whole

Seed = int | np.random.SeedSequence | None
Floats = NDArray[np.float64]

NUMBERS_PER_TRIAL = 250
"""What the random stream of a trial takes, in numbers of 8 bytes."""
COINS = 2**32 - 1
"""Child of a trial's seed that serves its public randomness; the noise uses the seed itself."""
SIGNS = np.where(np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1), -1.0, 1.0)
"""``(256, 8)``: what each byte of random bits says of eight draws, the highest bit of the first."""
AT_ONCE = 2**13
"""Draws, a multiple of eight, whose signs are looked up at once; they and their signs stay in the processor's cache."""


class NoiseSource(Protocol):
    """Draws for a batch of trials."""

    @property
    def trials(self) -> int:
        """Number of trials drawn for at once."""
        ...

    def laplace(self, truth: Floats, scale: float, shape: Sequence[int]) -> Floats:
        """Laplace draws around a truth ``(*shape)`` or ``(trials, *shape)``: ``(trials, *shape)``."""
        ...

    def gaussian(self, truth: Floats, deviation: float, shape: Sequence[int]) -> Floats:
        """Normal draws around a truth, likewise."""
        ...

    def gumbel(self, shape: Sequence[int]) -> Floats:
        """Gumbel draws, ``(trials, *shape)``."""
        ...

    def exponential(self, shape: Sequence[int]) -> Floats:
        """Standard exponential draws, ``(trials, *shape)``."""
        ...

    def uniform(self, shape: Sequence[int]) -> Floats:
        """Uniform draws from [0, 1), ``(trials, *shape)``."""
        ...

    def only(self, trial: int) -> NoiseSource:
        """The source of one trial of the batch."""
        ...

    def coins(self) -> tuple[np.random.SeedSequence, ...]:
        """For each trial a seed of public randomness, independent of all noise."""
        ...


class RandomNoise:
    """Independent random streams, one for each trial, from one seed."""

    def __init__(self, seeds: Sequence[np.random.SeedSequence]) -> None:
        self._seeds = tuple(seeds)
        self._streams = tuple(np.random.Generator(np.random.PCG64DXSM(seed)) for seed in self._seeds)

    @classmethod
    def seeded(cls, seed: Seed, trials: int, first: int = 0) -> RandomNoise:
        """One stream for each trial from ``first`` on: child ``t`` of the seed serves trial ``t``."""
        root = seed_sequence(seed)
        afford(NUMBERS_PER_TRIAL * whole(trials, "trials", least=0), f"random streams of {trials} trials")
        numbers = range(whole(first, "the first trial", least=0), first + trials)
        return cls([np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, each)) for each in numbers])

    @property
    def trials(self) -> int:
        """Number of trials drawn for at once."""
        return len(self._streams)

    def _exponential(self, shape: Sequence[int]) -> Floats:
        draws = np.empty((self.trials, prod(shape)))
        for stream, row in zip(self._streams, draws, strict=True):
            stream.standard_exponential(out=row)
        return draws

    def laplace(self, truth: Floats, scale: float, shape: Sequence[int]) -> Floats:
        """An exponential draw with a random sign: a third of the cost of numpy's own Laplace."""
        draws = self._exponential(shape)
        words = -(-draws.shape[1] // 64)
        bits = np.array([stream.bit_generator.random_raw(words) for stream in self._streams], dtype="<u8")
        _sign(draws, bits.view(np.uint8).reshape(self.trials, 8 * words))
        return _around(truth, scale, draws.reshape(self.trials, *shape))

    def gaussian(self, truth: Floats, deviation: float, shape: Sequence[int]) -> Floats:
        """Normal draws."""
        draws = np.empty((self.trials, prod(shape)))
        for stream, row in zip(self._streams, draws, strict=True):
            stream.standard_normal(out=row)
        return _around(truth, deviation, draws.reshape(self.trials, *shape))

    def gumbel(self, shape: Sequence[int]) -> Floats:
        """Minus the logarithm of an exponential draw."""
        draws = np.maximum(self._exponential(shape), np.finfo(np.float64).tiny)
        np.log(draws, out=draws)
        np.negative(draws, out=draws)
        return draws.reshape(self.trials, *shape)

    def exponential(self, shape: Sequence[int]) -> Floats:
        """Standard exponential draws."""
        return self._exponential(shape).reshape(self.trials, *shape)

    def uniform(self, shape: Sequence[int]) -> Floats:
        """Uniform draws from [0, 1)."""
        draws = np.empty((self.trials, prod(shape)))
        for stream, row in zip(self._streams, draws, strict=True):
            stream.random(out=row)
        return draws.reshape(self.trials, *shape)

    def only(self, trial: int) -> RandomNoise:
        """The stream of one trial, as far as it has been drawn."""
        alone = RandomNoise.__new__(RandomNoise)
        alone._seeds, alone._streams = (self._seeds[trial],), (self._streams[trial],)
        return alone

    def coins(self) -> tuple[np.random.SeedSequence, ...]:
        """From a child of every trial's seed that no noise is drawn from, by a hash.

        A generator shows the seed that it was made from: whoever has that of the coins must not find that of the noise.
        """
        children = [np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, COINS)) for seed in self._seeds]
        digests = [sha256(child.generate_state(8, np.uint64).tobytes()).digest() for child in children]
        return tuple(np.random.SeedSequence(int.from_bytes(digest, "little")) for digest in digests)


def _sign(draws: Floats, bits: NDArray[np.uint8]) -> None:
    """Negate each draw ``(trials, cells)`` whose bit is 1, in place; ``(trials, bytes)`` of bits, eight per byte."""
    trials, cells = draws.shape
    if draws.size <= AT_ONCE:
        draws *= SIGNS.take(bits, axis=0).reshape(trials, 8 * bits.shape[1])[:, :cells]
        return
    for row, its in zip(draws, bits, strict=True):
        for begin in range(0, cells, AT_ONCE):
            some = row[begin : begin + AT_ONCE]
            some *= SIGNS.take(its[begin // 8 : (begin + AT_ONCE) // 8], axis=0).reshape(-1)[: len(some)]


def _around(truth: Floats, scale: float, draws: Floats) -> Floats:
    """Standard draws, scaled and moved to the truth, in place."""
    draws *= scale
    draws += truth
    return draws


class NoNoise:
    """Zeros in place of noise: what an algorithm does apart from its noise. Never private."""

    def __init__(self, trials: int) -> None:
        self.trials = trials

    def laplace(self, truth: Floats, scale: float, shape: Sequence[int]) -> Floats:
        """The truth."""
        del scale
        return np.zeros((self.trials, *shape)) + truth

    gaussian = laplace

    def gumbel(self, shape: Sequence[int]) -> Floats:
        """Zeros."""
        return np.zeros((self.trials, *shape))

    exponential = gumbel

    def uniform(self, shape: Sequence[int]) -> Floats:
        """Halves: the median draw."""
        return np.full((self.trials, *shape), 0.5)

    def only(self, trial: int) -> NoNoise:
        """The same for one trial."""
        del trial
        return NoNoise(1)

    def coins(self) -> tuple[np.random.SeedSequence, ...]:
        """The numbers of the trials: public randomness is no noise."""
        return tuple(np.random.SeedSequence(trial) for trial in range(self.trials))


def seed_sequence(seed: object) -> np.random.SeedSequence:
    """A seed as given by a user: a whole non-negative number, a SeedSequence, or None for fresh randomness."""
    if seed is None:
        return np.random.SeedSequence()
    if isinstance(seed, np.random.SeedSequence):
        return seed
    return np.random.SeedSequence(
        whole(seed, "the seed", 0, LARGEST_SEED, advice="a whole number that is not negative")
    )
