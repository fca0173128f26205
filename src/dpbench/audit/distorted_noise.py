"""Noise that is not what it ought to be: replay needs no right distribution, and rare branches become common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.privacy import RandomNoise

Floats = NDArray[np.float64]

PLAIN = "as it ought to be"
DISTORTIONS: dict[str, Callable[[Floats], Floats]] = {
    "far too small": lambda draws: draws * 1e-6,
    "far too large": lambda draws: draws * 1e4,
    "positive": np.abs,
    "negative": lambda draws: -np.abs(draws),
    "none": lambda draws: draws * 0.0,
    "now and then extreme": lambda draws: draws * np.where(np.abs(draws) > 2.0, 50.0, 1.0),
}
"""What becomes of standard draws around 0."""


class DistortedNoise(RandomNoise):
    """Random streams as usual, whose draws are distorted, and which notice when somebody else touches them."""

    def __init__(self, seeds: Sequence[np.random.SeedSequence], kind: str = PLAIN) -> None:
        super().__init__(seeds)
        self.kind = kind
        self._left: dict[int, Any] = {}
        self.touched: list[bool] = []
        """Holds something once a stream was not where the last draw had left it."""

    def laplace(self, truth: Floats, scale: float, shape: Sequence[int]) -> Floats:
        """Laplace draws, distorted."""
        with _Watch(self):
            if self.kind == PLAIN:
                return super().laplace(truth, scale, shape)
            return self._distorted(super().laplace(np.zeros(()), 1.0, shape)) * scale + truth

    def gaussian(self, truth: Floats, deviation: float, shape: Sequence[int]) -> Floats:
        """Normal draws, distorted."""
        with _Watch(self):
            if self.kind == PLAIN:
                return super().gaussian(truth, deviation, shape)
            return self._distorted(super().gaussian(np.zeros(()), 1.0, shape)) * deviation + truth

    def gumbel(self, shape: Sequence[int]) -> Floats:
        """Gumbel draws, distorted."""
        with _Watch(self):
            return self._distorted(super().gumbel(shape))

    def exponential(self, shape: Sequence[int]) -> Floats:
        """Exponential draws, distorted and still positive."""
        with _Watch(self):
            draws = super().exponential(shape)
            return draws if self.kind == PLAIN else np.abs(self._distorted(draws)) + np.finfo(np.float64).tiny

    def uniform(self, shape: Sequence[int]) -> Floats:
        """Uniform draws, near 0 or near 1 where they are distorted, and still from [0, 1)."""
        with _Watch(self):
            draws = super().uniform(shape)
            if self.kind == PLAIN:
                return draws
            return np.clip(0.5 + self._distorted(draws - 0.5), 0.0, np.nextafter(1.0, 0.0))

    def only(self, trial: int) -> DistortedNoise:
        """The stream of one trial, with the same distortion."""
        alone = DistortedNoise((), self.kind)
        alone._seeds, alone._streams = (self._seeds[trial],), (self._streams[trial],)
        alone._left, alone.touched = self._left, self.touched
        return alone

    def _distorted(self, draws: Floats) -> Floats:
        return draws if self.kind == PLAIN else np.asarray(DISTORTIONS[self.kind](draws))


class _Watch:
    """Compares where streams are with where the last draw left them; nests, for one draw may use another."""

    def __init__(self, noise: DistortedNoise) -> None:
        self._noise = noise

    def __enter__(self) -> None:
        for stream in self._noise._streams:
            left = self._noise._left.pop(id(stream), None)
            if left is not None and left != stream.bit_generator.state:
                self._noise.touched.append(True)

    def __exit__(self, *_: object) -> None:
        for stream in self._noise._streams:
            self._noise._left[id(stream)] = stream.bit_generator.state


def distorted(seed: int, trials: int, kind: str) -> DistortedNoise:
    """The streams that :class:`RandomNoise` makes of a seed, distorted."""
    plain = RandomNoise.seeded(np.random.SeedSequence(seed), trials)
    return DistortedNoise(plain._seeds, kind)
