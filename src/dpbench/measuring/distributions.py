"""Tails of Student's t and the incomplete beta function, to more digits than a test of significance needs.

scipy has both, and the tests compare these with scipy's. But loading scipy's takes an eighth of the time in which
``dpbench paper`` reads the whole study, and these take numpy alone.
"""

from __future__ import annotations

from functools import lru_cache
from math import lgamma

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

NODES = 32
CENTRE = 2.0
"""Below, the probability within t is integrated, above it that beyond t: each where its integrand is smooth."""
FAR = 6.1
"""exp(-FAR^2) is nothing beside 1."""
MOST_FREEDOM = 1e12
"""A normal distribution, but for the last digits."""
STEPS = 12
"""From so large an argument on, Stirling's series for a ratio of gamma functions has 15 digits."""


def both_tails(freedom: ArrayLike, t: ArrayLike) -> Floats:
    """Probability that Student's t with so many degrees of freedom lies beyond t on either side; NaN stays NaN.

    With a = freedom / 2, x = 1 / (1 + t^2 / freedom) and r^2 in place of the logarithm of the variable, both tails are

        x^a / (a B(a, 1/2))  integral over r of  2 r exp(-r^2) / sqrt(1 - x exp(-r^2 / a)),

    and 32 nodes of Gauss and Legendre give 12 digits of it from |t| = 2 on, however small it is; below that, they give
    what lies between -t and t.
    """
    wide, far = np.broadcast_arrays(np.asarray(freedom, np.float64), np.abs(np.asarray(t, np.float64)))
    shape, wide, far = wide.shape, np.minimum(wide.ravel(), MOST_FREEDOM), far.ravel()
    half, found = wide / 2, np.empty(far.shape)
    density = _gamma_ratio(half) / np.sqrt(np.pi)
    outer = far > CENTRE
    with np.errstate(over="ignore", invalid="ignore"):  # beyond the largest number lies nothing
        found[outer] = _outer(half[outer], far[outer], density[outer])
        found[~outer] = _inner(half[~outer], far[~outer], density[~outer])
    return found.reshape(shape)


def _outer(half: Floats, far: Floats, density: Floats) -> Floats:
    nodes, weights = _nodes()
    squares = (FAR * nodes) ** 2
    below = np.log1p(far * (far / (2 * half)))
    inside = np.divide(-squares, half[:, None])
    inside -= below[:, None]
    roots = np.sqrt(np.negative(np.expm1(inside, out=inside), out=inside), out=inside)
    integral = np.reciprocal(roots, out=inside) @ (2 * FAR**2 * weights * nodes * np.exp(-squares))
    return np.asarray(np.exp(-half * below) / half * density * integral)


def _inner(half: Floats, far: Floats, density: Floats) -> Floats:
    nodes, weights = _nodes()
    reach = far / np.sqrt(2 * half)
    inside = np.square(reach[:, None] * nodes)
    np.log1p(inside, out=inside)
    inside *= -(half + 0.5)[:, None]
    return np.asarray(1 - 2 * density * reach * (np.exp(inside, out=inside) @ weights))


@lru_cache(maxsize=1)
def _nodes() -> tuple[Floats, Floats]:
    """Nodes and weights between 0 and 1."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return (nodes + 1) / 2, weights / 2


def _gamma_ratio(half: Floats) -> Floats:
    """gamma(a + 1/2) / gamma(a)."""
    z = half + STEPS
    series = -1 / (8 * z) + 1 / (192 * z**3) - 1 / (640 * z**5) + 17 / (14336 * z**7) - 31 / (18432 * z**9)
    steps = half[:, None] + np.arange(STEPS)
    return np.asarray(np.sqrt(z) * np.exp(series) * np.prod(steps / (steps + 0.5), axis=1))


def incomplete_beta(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Floats:
    """The share of a beta distribution below x: its continued fraction, on the side of the mean where that is short."""
    a, b, x = np.broadcast_arrays(*(np.asarray(each, np.float64) for each in (a, b, x)))
    swapped = x > (a + 1) / (a + b + 2)
    a, b, x = np.where(swapped, b, a), np.where(swapped, a, b), np.where(swapped, 1 - x, x)
    fraction = np.ones(x.shape)
    for step in range(_terms(a, b), 0, -1):
        m = step // 2
        if step % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        fraction = 1 + term / fraction
    with np.errstate(divide="ignore"):
        logs = a * np.log(x) + b * np.log1p(-x) - np.log(a)
    share = np.exp(logs + _log_gamma(a + b) - _log_gamma(a) - _log_gamma(b)) / fraction
    return np.asarray(np.where(swapped, 1 - share, share))


def _terms(a: Floats, b: Floats) -> int:
    """Terms that suffice: their number grows as the square root of the larger parameter."""
    return 40 + int(4 * np.sqrt(max(np.max(a, initial=0.0), np.max(b, initial=0.0))))


def _log_gamma(values: Floats) -> Floats:
    return np.array([lgamma(each) for each in values.ravel().tolist()]).reshape(values.shape)
