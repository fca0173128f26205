"""How much a count over datasets would change in another run of the same study."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dpbench.results import Results

RESAMPLES = 60
TIMES = 2 * np.sqrt(2)
"""Two runs count as different from so many deviations of one on: twice the deviation of their difference."""


def deviations(results: Results, count: Callable[[Results], NDArray[np.float64]], seed: int = 0) -> NDArray[np.float64]:
    """Standard deviations of counts when data vectors, and trials on each, are drawn again with replacement."""
    rng = np.random.default_rng(seed)
    drawn = [count(resampled(results, rng)) for _ in range(RESAMPLES)]
    return np.asarray(np.std(drawn, axis=0, ddof=1))


def resampled(results: Results, rng: np.random.Generator) -> Results:
    """Results with data vectors and trials drawn again; settings of one place keep sharing their data vectors."""
    settings, samples, trials = results.errors.shape
    row = {place: number for number, place in enumerate(results.grid.places)}
    index = results.grid.index
    owner = np.zeros(settings, dtype=np.int64)
    for numbers in (index[place][index[place] >= 0] for place in row.values()):
        owner[numbers] = numbers[0]
    vectors = rng.integers(0, samples, (settings, samples))[owner]
    chosen = np.take_along_axis(results.errors, vectors[:, :, None], axis=1)
    again = np.take_along_axis(chosen, rng.integers(0, trials, chosen.shape), axis=2)
    return replace(results, errors=again, losses={})
