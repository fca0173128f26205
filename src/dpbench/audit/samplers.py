"""The noise itself against the distributions that it is said to have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.audit.report import Layer
from dpbench.errors import CheckFailed
from dpbench.privacy import NoiseSource, RandomNoise

DRAWS = 10**6
FALSE_ALARM = 1e-6
"""Probability that a right sampler fails, for each of the two distributions; its three tests have a third each."""
TRIALS = 100
"""Streams that the draws are taken from."""
Floats = NDArray[np.float64]
Transform = Callable[[Floats], Floats]


def check_samplers(seed: int = 0, noise: NoiseSource | None = None) -> Mapping[str, Any]:
    """Kolmogorov's distance of a million Laplace and Gumbel draws, their mean size, and draws in a row."""
    source = noise or RandomNoise.seeded(np.random.SeedSequence([seed, 5]), TRIALS)
    each = (DRAWS // source.trials,)
    return {
        "Laplace": _insist("Laplace", source.laplace(np.zeros(each), 1.0, each), _laplace, np.abs),
        "Gumbel": _insist("Gumbel", source.gumbel(each), _gumbel, lambda draws: np.exp(-draws)),
        "draws": DRAWS,
        "false-alarm rate": FALSE_ALARM,
    }


def samplers_layer(seed: int = 0) -> Layer:
    """The same as a line of the audit."""
    try:
        return Layer("samplers", "pass", figures=check_samplers(seed))
    except CheckFailed as failure:
        return Layer("samplers", "fail", str(failure))


def _insist(name: str, draws: Floats, distribution: Transform, exponential: Transform) -> dict[str, float]:
    """The distribution function gives uniform draws, ``exponential`` standard exponential ones."""
    from scipy.special import ndtr

    alarm = FALSE_ALARM / 3
    size = float(exponential(draws).mean())
    if 2 * float(ndtr(-abs(size - 1) * np.sqrt(draws.size))) < alarm:
        raise CheckFailed(f"the sampler is not {name}: its noise is {size:.4f} times as large as it should be")
    uniform = np.sort(distribution(draws), axis=None)
    n = uniform.size
    steps = np.arange(n + 1) / n
    distance = float(max((steps[1:] - uniform).max(), (uniform - steps[:-1]).max()))
    probability = min(1.0, 2.0 * float(np.exp(-2.0 * n * distance**2)))  # Massart: never below the true one
    if probability < alarm:
        raise CheckFailed(
            f"the sampler is not {name}: its distribution is off by {distance:.3g} somewhere, which a right one is "
            f"with probability below {probability:.2g}"
        )
    spaced = distribution(draws).reshape(len(draws), -1) - 0.5
    products = (spaced[:, 1:] * spaced[:, :-1]).ravel()
    deviation = abs(float(products.mean())) * 12 * np.sqrt(len(products))
    if 2 * float(ndtr(-deviation)) < alarm:
        raise CheckFailed(f"the sampler of {name} repeats itself: draws in a row are correlated")
    return {"distance": distance, "probability": probability, "size": size}


def _laplace(draws: Floats) -> Floats:
    tail = 0.5 * np.exp(-np.abs(draws))
    return np.asarray(np.where(draws < 0, tail, 1 - tail))


def _gumbel(draws: Floats) -> Floats:
    return np.asarray(np.exp(-np.exp(-draws)))
