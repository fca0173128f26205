"""How much a count over datasets would change in another run of the same study."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.results import Results

RESAMPLES = 60
AT_ONCE = 2**18
"""Errors that are measured together: so many stay in a processor's cache."""
TIMES = 2 * np.sqrt(2)
"""Two runs count as different from so many deviations of one on: twice the deviation of their difference."""


def deviations(results: Results, count: Callable[[Results], NDArray[Any]], seed: int = 0) -> NDArray[np.float64]:
    """Standard deviations of counts when data vectors, and trials on each, are drawn again with replacement.

    ``count`` says what each place of some results adds to every count, ``(places, counts)``.
    """
    places = len(results.grid.places)
    drawn = []
    for several in resamples(results, RESAMPLES, np.random.default_rng(seed)):
        added = np.asarray(count(several), dtype=np.float64)
        drawn.append(added.reshape(-1, places, added.shape[1]).sum(axis=1))
    return np.asarray(np.std(np.concatenate(drawn), axis=0, ddof=1))


def resamples(results: Results, number: int, rng: np.random.Generator) -> Iterator[Results]:
    """Results with data vectors and trials drawn again; settings of one place keep sharing their data vectors.

    What is drawn goes by the names of settings: their order makes no difference. Several come at once, one after the
    other (see :meth:`Results.repeated`), which takes a fraction of the time.
    """
    results = results.take(results.grid.index[results.grid.index >= 0])  # place by place, by the names of algorithms
    settings, samples, trials = results.errors.shape
    sizes = (results.grid.index >= 0).sum(axis=1)
    owner = np.repeat(sizes.cumsum() - sizes, sizes)  # the first setting of the same place
    errors = results.errors.reshape(-1)
    every = samples * np.arange(settings)[:, None]
    together = max(AT_ONCE // max(results.errors.size, 1), 1)
    for first in range(0, number, together):
        again = np.empty((min(together, number - first), settings, samples, trials))
        for drawn in again:
            vectors = rng.integers(0, samples, (settings, samples))[owner]
            places = rng.integers(0, trials, drawn.shape)
            places += trials * (every + vectors)[:, :, None]
            np.take(errors, places, out=drawn, mode="clip")  # none is outside, and this mode takes no copy
        yield results._repeated(again)
