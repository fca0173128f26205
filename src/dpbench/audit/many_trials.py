"""Noise for very many trials from one stream: for the law of a draw, where nobody asks for a trial again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpbench.privacy import RandomNoise

Floats = NDArray[np.float64]


class ManyTrials:
    """As :class:`RandomNoise` draws, but all trials from one stream, so that forty thousand of them are quick."""

    def __init__(self, seed: Sequence[int], trials: int) -> None:
        self.trials = trials
        self._seed = list(seed)
        self._stream = RandomNoise([np.random.SeedSequence(self._seed)])

    def laplace(self, truth: Floats, scale: float, shape: Sequence[int]) -> Floats:
        """Laplace draws around a truth."""
        return np.asarray(truth + self._stream.laplace(np.zeros(()), scale, (self.trials, *shape))[0])

    def gaussian(self, truth: Floats, deviation: float, shape: Sequence[int]) -> Floats:
        """Normal draws around a truth."""
        return np.asarray(truth + self._stream.gaussian(np.zeros(()), deviation, (self.trials, *shape))[0])

    def gumbel(self, shape: Sequence[int]) -> Floats:
        """Gumbel draws."""
        return np.asarray(self._stream.gumbel((self.trials, *shape))[0])

    def exponential(self, shape: Sequence[int]) -> Floats:
        """Standard exponential draws."""
        return np.asarray(self._stream.exponential((self.trials, *shape))[0])

    def uniform(self, shape: Sequence[int]) -> Floats:
        """Uniform draws from [0, 1)."""
        return np.asarray(self._stream.uniform((self.trials, *shape))[0])

    def only(self, trial: int) -> RandomNoise:
        """The stream itself: what is drawn next is independent of all that was drawn."""
        del trial
        return self._stream

    def coins(self) -> tuple[np.random.SeedSequence, ...]:
        """A seed of public randomness per trial."""
        return tuple(np.random.SeedSequence([*self._seed, trial]) for trial in range(self.trials))
