"""Exact sampling of partitions of a line into intervals of allowed lengths."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit("float64[::1](float64[:,::1], int64[::1])", cache=True)
def forward(logits, lengths):  # type: ignore[no-untyped-def]
    """F(e) = log of the sum over partitions of [0, e) of exp of the sum of their intervals' logits; ``(n + 1,)``.

    ``logits[k, e]`` belongs to the interval [e - L_k, e). F(0) = 0, F(e) = logsumexp_k F(e - L_k) + logits[k, e].
    """
    kinds, ends = logits.shape
    total = np.empty(ends)
    total[0] = 0.0
    for e in range(1, ends):
        best = -np.inf
        for k in range(kinds):
            if lengths[k] <= e:
                value = total[e - lengths[k]] + logits[k, e]
                best = max(best, value)
        s = 0.0
        if best > -np.inf:
            for k in range(kinds):
                if lengths[k] <= e:
                    value = total[e - lengths[k]] + logits[k, e]
                    if value > -np.inf:
                        s += np.exp(value - best)
        total[e] = best + np.log(s) if s > 0.0 else -np.inf
    return total


@njit("boolean[:,::1](float64[::1], float64[:,::1], int64[::1], float64[:,::1])", cache=True)
def backward(total, logits, lengths, uniforms):  # type: ignore[no-untyped-def]
    """Draw partitions from the right end, one uniform number an interval; ``(trials, n + 1)``, True at each cut."""
    trials = uniforms.shape[0]
    ends = total.shape[0]
    cuts = np.zeros((trials, ends), dtype=np.bool_)
    for t in range(trials):
        e = ends - 1
        cuts[t, e] = True
        while e > 0:
            left = uniforms[t, e - 1]
            chosen = -1
            for k in range(lengths.shape[0]):
                if lengths[k] <= e:
                    chance = np.exp(total[e - lengths[k]] + logits[k, e] - total[e])
                    if chance > 0.0:
                        chosen = k
                        left -= chance
                        if left < 0.0:
                            break
            e -= lengths[chosen]
            cuts[t, e] = True
    return cuts


@njit("float64[::1](float64[::1], float64[:,::1], int64[::1], boolean[:,::1])", cache=True)
def log_probability(total, logits, lengths, cuts):  # type: ignore[no-untyped-def]
    """Log-probability of each partition, ``(trials,)``; -inf for one that is not allowed."""
    trials, ends = cuts.shape
    result = np.empty(trials)
    for t in range(trials):
        value = -total[ends - 1]
        e = ends - 1
        while e > 0:
            start = e - 1
            while not cuts[t, start]:
                start -= 1
            kind = -1
            for k in range(lengths.shape[0]):
                if lengths[k] == e - start:
                    kind = k
            value += logits[kind, e] if kind >= 0 else -np.inf
            e = start
        result[t] = value
    return result
