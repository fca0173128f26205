"""Where noise comes from: an exchangeable source of standard draws, one stream per trial.

Every trial has a random stream of its own, derived from the seed and the trial's number. So trial 7
is the same whether it is run alone, in a batch of 10 or in a batch of 50. Draws are standard ones (Laplace of
scale 1, standard Gumbel); the handle multiplies by the noise scale, so the same seed gives
proportional noise at every epsilon.

Double-precision Laplace noise leaks through its low-order bits: it is for experiments, not for a
release.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import InvalidInput

Seed = int | np.random.SeedSequence


class NoiseSource(Protocol):
    """Standard draws for a batch of trials."""

    @property
    def trials(self) -> int:
        """Number of trials drawn for at once."""
        ...

    def laplace(self, shape: Sequence[int]) -> NDArray[np.float64]:
        """Laplace draws of scale 1, ``(trials, *shape)``."""
        ...

    def gumbel(self, shape: Sequence[int]) -> NDArray[np.float64]:
        """Gumbel draws, ``(trials, *shape)``."""
        ...

    def uniform(self, shape: Sequence[int]) -> NDArray[np.float64]:
        """Uniform draws from [0, 1), ``(trials, *shape)``."""
        ...

    def only(self, trial: int) -> NoiseSource:
        """The source of one trial of the batch."""
        ...


class RandomNoise:
    """Independent random streams, one for each trial, from one seed."""

    def __init__(self, streams: Sequence[np.random.Generator]) -> None:
        self._streams = tuple(streams)

    @classmethod
    def seeded(cls, seed: Seed, trials: int, first: int = 0) -> RandomNoise:
        """One stream for each trial from ``first`` on: child ``t`` of the seed serves trial ``t``."""
        root = seed_sequence(seed)
        numbers = range(first, first + trials)
        keys = (np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, number)) for number in numbers)
        return cls([np.random.Generator(np.random.PCG64DXSM(key)) for key in keys])

    @property
    def trials(self) -> int:
        """Number of trials drawn for at once."""
        return len(self._streams)

    def _exponential(self, shape: Sequence[int]) -> NDArray[np.float64]:
        draws = np.empty((self.trials, prod(shape)))
        for stream, row in zip(self._streams, draws, strict=True):
            stream.standard_exponential(out=row)
        return draws

    def laplace(self, shape: Sequence[int]) -> NDArray[np.float64]:
        """An exponential draw with a random sign: a third of the cost of numpy's own Laplace."""
        draws = self._exponential(shape)
        cells = draws.shape[1]
        for stream, row in zip(self._streams, draws, strict=True):
            words = np.asarray(stream.bit_generator.random_raw(-(-cells // 64)), dtype="<u8")
            signs = np.unpackbits(words.view(np.uint8), count=cells).view(np.bool_)
            np.negative(row, out=row, where=signs)
        return draws.reshape(self.trials, *shape)

    def gumbel(self, shape: Sequence[int]) -> NDArray[np.float64]:
        """Minus the logarithm of an exponential draw."""
        draws = np.maximum(self._exponential(shape), np.finfo(np.float64).tiny)
        np.log(draws, out=draws)
        np.negative(draws, out=draws)
        return draws.reshape(self.trials, *shape)

    def uniform(self, shape: Sequence[int]) -> NDArray[np.float64]:
        """Uniform draws from [0, 1)."""
        draws = np.empty((self.trials, prod(shape)))
        for stream, row in zip(self._streams, draws, strict=True):
            stream.random(out=row)
        return draws.reshape(self.trials, *shape)

    def only(self, trial: int) -> RandomNoise:
        """The stream of one trial."""
        return RandomNoise([self._streams[trial]])


class NoNoise:
    """Zeros in place of noise: what an algorithm does apart from its noise. Never private."""

    def __init__(self, trials: int) -> None:
        self.trials = trials

    def laplace(self, shape: Sequence[int]) -> NDArray[np.float64]:
        """Zeros."""
        return np.zeros((self.trials, *shape))

    gumbel = laplace

    def uniform(self, shape: Sequence[int]) -> NDArray[np.float64]:
        """Halves: the median draw."""
        return np.full((self.trials, *shape), 0.5)

    def only(self, trial: int) -> NoNoise:
        """The same for one trial."""
        del trial
        return NoNoise(1)


def seed_sequence(seed: object) -> np.random.SeedSequence:
    """A seed as given by a user: a whole non-negative number or a SeedSequence."""
    if isinstance(seed, np.random.SeedSequence):
        return seed
    if isinstance(seed, int | np.integer) and not isinstance(seed, bool) and seed >= 0:
        return np.random.SeedSequence(int(seed))
    raise InvalidInput(f"the seed is {seed!r}; give a whole number that is not negative")
