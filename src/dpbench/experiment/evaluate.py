"""Errors of one algorithm in one setting: a few data vectors, several trials on each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm
from dpbench.experiment.seeds import seed_for
from dpbench.generator import generate
from dpbench.loss import scaled_error
from dpbench.workloads import Workload


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What the error of an algorithm is measured for."""

    dataset: str
    """Name of the shape; it also names the seeds."""
    scale: int
    """Number of records of each data vector."""
    epsilon: float
    """Privacy budget."""
    workload: Workload
    """The queries, and with them the domain."""


def evaluate(
    algorithm: Algorithm,
    setting: Setting,
    shape: NDArray[np.generic],
    *,
    samples: int = 5,
    trials: int = 10,
    seed: int = 0,
    loss: str = "L2",
) -> NDArray[np.float64]:
    """Scaled average per-query errors, ``(samples, trials)``.

    The data vectors are the same for every algorithm; the noise belongs to the algorithm, the setting and the sample.
    """
    domain = setting.workload.domain
    errors = np.empty((samples, trials))
    for sample in range(samples):
        place = (setting.dataset, str(domain), setting.scale, sample)
        x = generate(shape, setting.scale, domain, seed_for(seed, "data", *place))
        noise = seed_for(seed, "noise", *place, setting.epsilon, setting.workload.key, repr(algorithm))
        estimate = algorithm.run(x, setting.workload, setting.epsilon, trials, noise)
        errors[sample] = scaled_error(setting.workload, x, estimate, loss)
    return errors
