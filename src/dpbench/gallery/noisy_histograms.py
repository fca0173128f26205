"""Noisy histograms of public data, kept on this machine while data and code are the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from dpbench import __version__, algorithms, fitted
from dpbench.algorithm import Algorithm
from dpbench.algorithms.cascade import Cascade
from dpbench.mathematics.posterior_bars import DRAWS
from dpbench.run.identity import algorithm_version, workload_version
from dpbench.workloads import Workload

NAME = "noisy-histograms"
"""The archive: what the last page showed."""


class NoisyHistograms:
    """Estimates of the catalogue's algorithms: as an earlier page left them, or made now."""

    def __init__(self) -> None:
        self._before = fitted.kept(NAME) or {}
        self._used: dict[str, NDArray[np.generic]] = {}

    def of(
        self, algorithm: Algorithm, counts: NDArray[np.int64], workload: Workload, epsilons: Sequence[float], seed: int
    ) -> NDArray[np.float32]:
        """One estimate for each epsilon, ``(epsilons, *domain)``; somebody's own algorithm is run every time."""

        def run() -> NDArray[np.float32]:
            estimates = [algorithm.run(counts, workload, epsilon, seed=seed)[0] for epsilon in epsilons]
            return np.array(estimates, dtype=np.float32)

        if algorithms.catalogue().get(algorithm.name) is not type(algorithm):
            return run()
        asked = ("estimates", _words(algorithm, workload), tuple(epsilons), seed)
        return self._kept(asked, counts, (len(epsilons), *counts.shape), run)

    def draws(
        self, cascade: Cascade, counts: NDArray[np.int64], workload: Workload, epsilons: Sequence[float], seed: int
    ) -> NDArray[np.float32]:
        """Tables that Cascade's noisy answers leave possible, ``(epsilons, draws, *domain)``, for its intervals."""

        def run() -> NDArray[np.float32]:
            outcomes = [cascade.outcome(counts, workload, epsilon, seed=seed) for epsilon in epsilons]
            return np.array([each.draws(DRAWS)[0] for each in outcomes], dtype=np.float32)

        asked = ("draws", DRAWS, _words(cascade, workload), tuple(epsilons), seed)
        return self._kept(asked, counts, (len(epsilons), DRAWS, *counts.shape), run)

    def _kept(
        self,
        asked: tuple[object, ...],
        counts: NDArray[np.int64],
        shape: tuple[int, ...],
        run: Callable[[], NDArray[np.float32]],
    ) -> NDArray[np.float32]:
        name = sha256(repr((asked, counts.shape, np.__version__)).encode() + counts.tobytes()).hexdigest()[:32]
        found = self._before.get(name)
        if found is None or found.shape != shape or found.dtype != np.float32:
            found = run()
        self._used[name] = found
        return np.asarray(found, dtype=np.float32)

    def keep(self) -> None:
        """Leave what was used for the next page."""
        if self._used.keys() - self._before.keys():
            fitted.keep(NAME, self._used)


def _words(algorithm: Algorithm, workload: Workload) -> tuple[str, ...]:
    """Identity of an algorithm and a workload, with the versions of both."""
    kind = type(algorithm)
    versions = __version__, algorithm_version(kind, algorithm.files), workload_version(type(workload))
    return (*versions, repr(algorithm), repr(workload))
