"""Races of Laplace variates: the probability that one of them passes some others and not another."""

from __future__ import annotations

import numpy as np
from numba import njit

NODES, WEIGHTS = np.polynomial.legendre.leggauss(20)
DROP = 45.0
"""Nats below the peak at which the integrand ends: by log-concavity less than a relative exp(-45) lies beyond."""
CLIMB = 8.0
"""Nats that the integrand may rise or fall by within a panel."""
BEND = 10.0
"""Bound on what the parts that are no pure exponentials may add, in nats, anywhere on the panel's ellipse."""
_FUNCTION = "float64(float64, float64, float64, float64[::1], float64[::1], float64, float64)"


@njit("float64(float64)", cache=True)
def log_below(y):  # type: ignore[no-untyped-def]
    """Log-probability that a standard Laplace variate is below y."""
    return y - np.log(2.0) if y < 0.0 else np.log1p(-0.5 * np.exp(-y))


@njit("float64(float64)", cache=True)
def hazard(y):  # type: ignore[no-untyped-def]
    """Derivative of ``log_below``."""
    return 1.0 if y < 0.0 else 1.0 / (2.0 * np.exp(y) - 1.0)


@njit(_FUNCTION, cache=True)
def _log_integrand(t, centre, spread, below, times, above, scale):  # type: ignore[no-untyped-def]
    value = -abs(t - centre) / spread - np.log(2.0 * spread) + log_below((above - t) / scale)
    for j in range(below.shape[0]):
        value += times[j] * log_below((t - below[j]) / scale)
    return value


@njit(_FUNCTION, cache=True)
def _slope(t, centre, spread, below, times, above, scale):  # type: ignore[no-untyped-def]
    value = (1.0 if t < centre else -1.0) / spread - hazard((above - t) / scale) / scale
    for j in range(below.shape[0]):
        value += times[j] * hazard((t - below[j]) / scale) / scale
    return value


@njit(_FUNCTION, cache=True)
def _width(t, centre, spread, below, times, above, scale):  # type: ignore[no-untyped-def]
    """How far the panel that begins at t may reach: to the next kink, and as long as the integrand stays tame."""
    width = np.inf
    bend = 0.0
    for j in range(below.shape[0]):
        if below[j] > t:
            width = min(width, below[j] - t)
        else:
            bend += times[j] * hazard((t - below[j]) / scale)
    if centre > t:
        width = min(width, centre - t)
    if bend > 1e-18:
        width = min(width, scale * np.log1p(BEND / bend) / 2.05)
    if above > t:
        width = min(width, above - t, max(scale, above - t) / 2.0)
    steepest = abs(_slope(t, centre, spread, below, times, above, scale))
    while width * steepest > CLIMB:
        width = min(width / 2.0, CLIMB / steepest) if width < np.inf else CLIMB / steepest
    while width * abs(_slope(t + width, centre, spread, below, times, above, scale)) > CLIMB:
        width /= 2.0
    return width


@njit("float64(float64, float64, float64, float64, float64, float64[::1], float64[::1], float64, float64)", cache=True)
def _reach(side, peak, top, centre, spread, below, times, above, scale):  # type: ignore[no-untyped-def]
    """How far from the peak the integrand has fallen by ``DROP`` nats, rather further than less far."""
    near, far = 0.0, spread
    while _log_integrand(peak + side * far, centre, spread, below, times, above, scale) > top - DROP:
        near, far = far, 2.0 * far
    for _ in range(40):
        middle = 0.5 * (near + far)
        if _log_integrand(peak + side * middle, centre, spread, below, times, above, scale) > top - DROP:
            near = middle
        else:
            far = middle
    return far


@njit("float64(float64, float64, float64[::1], float64[::1], float64, float64)", cache=True)
def log_passing(centre, spread, below, times, above, scale):  # type: ignore[no-untyped-def]
    """Log of the integral of f(t) prod_j F_j(t)^times_j (1 - F_above(t)), to a relative 1e-12.

    f is the Laplace density at ``centre`` with scale ``spread``; F the distribution functions at ``below`` and
    ``above`` (inf: nothing to stay under) with scale ``scale``. Every factor is log-concave, so the product has one
    peak and falls to either side ever faster: it is integrated from where it is exp(-45) of the peak to where it is
    so again. Between kinks it is analytic. A panel is as wide as keeps the growth from its largest value to anywhere
    on the Bernstein ellipse of 6 below exp(30); Gauss-Legendre with 20 nodes is then off by a relative 1e-14.
    """
    # the peak, by bisection of the slope
    many = 0.0
    low, high = centre, centre
    for j in range(below.shape[0]):
        many += times[j]
        low, high = min(low, below[j]), max(high, below[j])
    low = min(low, above) - scale * (1.0 + np.log1p(spread / scale))
    high += scale * (1.0 + np.log1p(many * spread / scale))
    for _ in range(200):
        peak = 0.5 * (low + high)
        if peak in (low, high):
            break
        if _slope(peak, centre, spread, below, times, above, scale) > 0.0:
            low = peak
        else:
            high = peak

    # from here on distances are taken from the kink that is nearest to the peak: differences of whole numbers are exact
    origin = centre
    for j in range(below.shape[0]):
        if abs(below[j] - peak) < abs(origin - peak):
            origin = below[j]
    if abs(above - peak) < abs(origin - peak):
        origin = above
    below = below - origin
    centre, above, peak = centre - origin, above - origin, peak - origin

    # the integral, panel by panel from one end to the other
    top = _log_integrand(peak, centre, spread, below, times, above, scale)
    t = peak - _reach(-1.0, peak, top, centre, spread, below, times, above, scale)
    end = peak + _reach(1.0, peak, top, centre, spread, below, times, above, scale)
    total = 0.0
    while t < end:
        half = 0.5 * min(_width(t, centre, spread, below, times, above, scale), end - t)
        for k in range(NODES.shape[0]):
            value = _log_integrand(t + half * (1.0 + NODES[k]), centre, spread, below, times, above, scale)
            total += half * WEIGHTS[k] * np.exp(value - top)
        t += 2.0 * half
    return top + np.log(total)
