"""Noise for very many trials from one stream: for the law of a draw, where no trial is asked for again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpbench.privacy import RandomNoise

Floats = NDArray[np.float64]
Method = Literal["laplace", "gaussian", "gumbel", "exponential", "uniform"]

NEAREST, FARTHEST = 4.0, 15.0
"""A forced draw is as rare as once in ten to this power, drawn evenly between the two."""


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


class TailNoise(ManyTrials):
    """The same with one forced draw a trial: far out in the tail of one call of one method, all others as usual.

    ``weights`` has for each trial how much rarer its forced draw is than it is made here. So the mean of the weights of
    the trials with a certain outcome is at most the probability of that outcome, up to chance.
    """

    def __init__(
        self, seed: Sequence[int], trials: int, method: Method | None = None, call: int = 0, *, upper: bool = True
    ) -> None:
        super().__init__(seed, trials)
        self.calls = Counter[Method]()
        self.weights = np.zeros(trials)
        self._forced = method, call, upper
        self._alone: dict[int, TailNoise] = {}
        self._rng = np.random.default_rng([*self._seed, 1])

    def laplace(self, truth: Floats, scale: float, shape: Sequence[int]) -> Floats:
        """Laplace draws."""
        return np.asarray(truth + scale * self._with_a_tail("laplace", super().laplace(np.zeros(()), 1.0, shape)))

    def gaussian(self, truth: Floats, deviation: float, shape: Sequence[int]) -> Floats:
        """Normal draws."""
        return np.asarray(truth + deviation * self._with_a_tail("gaussian", super().gaussian(np.zeros(()), 1.0, shape)))

    def gumbel(self, shape: Sequence[int]) -> Floats:
        """Gumbel draws."""
        return self._with_a_tail("gumbel", super().gumbel(shape))

    def exponential(self, shape: Sequence[int]) -> Floats:
        """Standard exponential draws."""
        return self._with_a_tail("exponential", super().exponential(shape))

    def uniform(self, shape: Sequence[int]) -> Floats:
        """Uniform draws from [0, 1)."""
        return self._with_a_tail("uniform", super().uniform(shape))

    def only(self, trial: int) -> TailNoise:  # type: ignore[override]  # a source for one trial, as it has to be
        """One trial by itself, from the same stream and with a forced draw of its own; the same each time."""
        if trial not in self._alone:
            alone = TailNoise.__new__(TailNoise)
            alone.trials, alone._seed, alone._stream, alone._rng = 1, [*self._seed, trial], self._stream, self._rng
            alone.calls, alone.weights = Counter[Method](), self.weights[trial : trial + 1]
            alone._forced, alone._alone = self._forced, {0: alone}
            self._alone[trial] = alone
        return self._alone[trial]

    def called(self) -> Counter[Method]:
        """How often each method was called for the first trial."""
        return self.calls + (self._alone[0].calls if 0 in self._alone else Counter())

    def _with_a_tail(self, method: Method, draws: Floats) -> Floats:
        self.calls[method] += 1
        wanted, call, upper = self._forced
        if method != wanted or self.calls[method] != call + 1 or not draws.size:
            return draws
        rows = draws.reshape(len(draws), -1)
        rarity = 10.0 ** -self._rng.uniform(NEAREST, FARTHEST, len(rows))
        rows[np.arange(len(rows)), self._rng.integers(0, rows.shape[1], len(rows))] = _tail(method, rarity, upper)
        self.weights[:] = rarity * (FARTHEST - NEAREST) * np.log(10)
        return rows.reshape(draws.shape)


def _tail(method: Method, rarity: Floats, upper: bool) -> Floats:
    """The numbers that a standard draw is beyond with these probabilities."""
    from scipy.special import ndtri

    if method == "uniform":
        return np.asarray(1 - rarity if upper else rarity)
    if method == "exponential":
        return np.asarray(-np.log(rarity) if upper else -np.log1p(-rarity))
    if method == "gumbel":
        return np.asarray(-np.log(-np.log1p(-rarity)) if upper else -np.log(-np.log(rarity)))
    beyond = -np.log(2 * rarity) if method == "laplace" else -ndtri(rarity)
    return np.asarray(beyond if upper else -beyond)
