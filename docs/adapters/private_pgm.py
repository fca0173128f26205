"""Private-PGM (package mbi), on a line or in the plane: noisy marginals, then the most likely distribution."""

import numpy as np
from mbi import Domain, LinearMeasurement, estimation


def marginals(x, workload, epsilon, rng):
    """Each axis by itself and all cells, with equal shares of epsilon and Laplace noise."""
    axes = [f"axis {number}" for number in range(x.ndim)]
    asked = [(name,) for name in axes] + ([tuple(axes)] if x.ndim > 1 else [])
    scale = len(asked) / epsilon
    measured = []
    for clique in asked:
        others = tuple(axes.index(name) for name in axes if name not in clique)
        truth = x.sum(axis=others).ravel().astype(float)
        noisy = truth + rng.laplace(scale=scale, size=truth.shape)
        measured.append(LinearMeasurement(noisy, clique, stddev=2**0.5 * scale))
    model = estimation.mirror_descent(Domain(axes, x.shape), measured, iters=500)
    return np.asarray(model.project(tuple(axes)).datavector()).reshape(x.shape)
