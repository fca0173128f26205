"""Data vectors, streams of noise and errors: what a result depends on besides dataset and algorithm.

Kept apart from everything else, because the hash of this code is part of every result's key.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.errors import AlgorithmFailed
from dpbench.experiment.seeds import seed_for
from dpbench.generator import generate
from dpbench.workloads import Workload

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


def shape_on(histogram: NDArray[Any], domain: str) -> Floats:
    """Probabilities of the cells of a domain, from a histogram that it coarsens."""
    coarse: NDArray[Any] = Domain(histogram.shape).coarsen(histogram, domain)
    return np.asarray(coarse / coarse.sum())


def draw_vector(shape: Floats, dataset: str, domain: str, scale: int, sample: int, seed: int) -> Counts:
    """The data vector of (dataset, domain, scale, sample): the same for every algorithm, workload and epsilon."""
    return generate(shape, scale, domain, seed_for(seed, "data", dataset, domain, scale, sample))


def noise_seed(
    vector: tuple[str, str, int, int], seed: int, workload: Workload, epsilon: float, label: str, side_information: str
) -> np.random.SeedSequence:
    """The stream of one algorithm's trials in one setting; any two settings of a study have independent ones."""
    return seed_for(seed, "noise", *vector, epsilon, workload.key, label, side_information)


def losses(workload: Workload, x: Counts, shape: Floats, estimate: Floats, scale: int) -> dict[str, Any]:
    """Scaled errors of every trial, and bias and variance of the answers over trials."""
    queries = workload.queries or 1
    trials = len(estimate)
    error = workload.answer(estimate - x)
    drift = workload.answer(x - scale * shape)
    size = np.abs(error)
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.einsum("tq,tq->t", error, error)
        mean = error.mean(axis=0)
        squared_bias = float(mean @ mean) / queries
        spread = float(squares.sum() / queries - trials * squared_bias) / max(trials - 1, 1)
        population = error + drift
        population_squares = np.einsum("tq,tq->t", population, population)
    if not np.isfinite([squares.sum(), population_squares.sum(), squared_bias]).all():
        raise AlgorithmFailed("the estimate is so large that its squared error is not a number; return counts")
    per_query = scale * queries
    return {
        "l2": (np.sqrt(squares) / per_query).tolist(),
        "l1": (size.sum(axis=1) / per_query).tolist(),
        "linf": (size.max(axis=1) / per_query).tolist(),
        "population_l2": (np.sqrt(population_squares) / per_query).tolist(),
        "squared_bias": squared_bias,
        "variance": max(spread, 0.0),
    }
