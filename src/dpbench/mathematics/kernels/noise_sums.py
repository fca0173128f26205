"""Sums of independent Laplace noises with different weights: their quantiles, by inverting characteristic functions.

A standard Laplace noise times a has the characteristic function 1 / (1 + a^2 t^2), so a sum X has the product phi.
With T far beyond where X can be, and t_k = (2 k + 1) pi / T,

    P(|X| <= h) = 4 / pi * sum over k of phi(t_k) sin(h t_k) / (2 k + 1),

up to the chance that |X| exceeds T - h.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

MOST = 4096
"""Terms of the sum at most; a single Laplace noise, whose phi falls slowest, is then exact to 1e-8."""
SMALL = 1e-10
"""The sum ends where phi is below this."""
BEYOND = 16.0
"""Standard deviations beyond the quantile that T lies at; a Laplace noise exceeds them with a chance of 1.5e-10."""
MARGIN = 1e-7
"""What is added to the chance that a quantile has to have, against the error of all this."""


@njit(error_model="numpy")
def _largest(level, sd):  # type: ignore[no-untyped-def]
    """More than any quantile: a single Laplace noise has the heaviest tail of a given variance."""
    return sd * (2.0 - math.log(1.0 - level))


@njit(error_model="numpy")
def _quantile(phi, terms, length, level, sd):  # type: ignore[no-untyped-def]
    """The h that P(|X| <= h) is ``level`` at, by bisection."""
    low, high = 0.0, _largest(level, sd)
    for _ in range(50):
        h = 0.5 * (low + high)
        step = math.pi * h / length
        chance = 0.0
        for k in range(terms):
            chance += phi[k] * math.sin((2 * k + 1) * step) / (2 * k + 1)
        if chance * 4.0 / math.pi < level + MARGIN:
            low = h
        else:
            high = h
        if high - low < 1e-7 * sd:
            break
    return high


@njit("float64[::1](float64[:,::1], float64)", cache=True, error_model="numpy")
def weighted_quantiles(weights, level):  # type: ignore[no-untyped-def]
    """For each row of weights the h that |sum of weight times standard Laplace noise| stays below, with that chance."""
    many, n = weights.shape
    result = np.zeros(many)
    phi = np.empty(MOST)
    squares = np.empty(n)
    for q in range(many):
        used = 0
        variance = 0.0
        for i in range(n):
            square = weights[q, i] * weights[q, i]
            if square > 0.0:
                squares[used] = square
                variance += 2.0 * square
                used += 1
        if variance <= 0.0:
            continue
        sd = math.sqrt(variance)
        length = _largest(level, sd) + BEYOND * sd
        terms = 0
        while terms < MOST:
            t = (2 * terms + 1) * math.pi / length
            t *= t
            log_phi = 0.0
            i = 0
            while i < used and log_phi > -50.0:
                product = 1.0
                last = min(i + 16, used)
                for j in range(i, last):
                    product *= 1.0 + squares[j] * t
                log_phi -= math.log(product)
                i = last
            phi[terms] = math.exp(log_phi)
            terms += 1
            if phi[terms - 1] < SMALL:
                break
        result[q] = _quantile(phi, terms, length, level, sd)
    return result


@njit("float64[::1](int64[:,::1], float64[::1], float64)", cache=True, error_model="numpy")
def counted_quantiles(counts, scales, level):  # type: ignore[no-untyped-def]
    """The same for sums of ``counts[q, i]`` noises of each scale."""
    many, n = counts.shape
    result = np.zeros(many)
    phi = np.empty(MOST)
    for q in range(many):
        variance = 0.0
        for i in range(n):
            variance += 2.0 * counts[q, i] * scales[i] * scales[i]
        if variance <= 0.0:
            continue
        sd = math.sqrt(variance)
        length = _largest(level, sd) + BEYOND * sd
        terms = 0
        while terms < MOST:
            t = (2 * terms + 1) * math.pi / length
            log_phi = 0.0
            for i in range(n):
                if counts[q, i] > 0:
                    log_phi -= counts[q, i] * math.log1p(scales[i] * scales[i] * t * t)
            phi[terms] = math.exp(log_phi)
            terms += 1
            if phi[terms - 1] < SMALL:
                break
        result[q] = _quantile(phi, terms, length, level, sd)
    return result
