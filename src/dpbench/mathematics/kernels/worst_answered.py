"""How far the answers of estimates are off."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit("void(float64[::1], float64[:,::1], float64[::1], int64[:,:], float64[:,::1])", cache=True)
def score(truth, answers, magnitude, measured, scores):  # type: ignore[no-untyped-def]
    """``scores`` |weight| |truth - answer|, ``(trials, q)``; -inf for the ``measured`` queries of each trial."""
    for t in range(answers.shape[0]):
        for q in range(truth.shape[0]):
            scores[t, q] = magnitude[q] * abs(truth[q] - answers[t, q])
        for k in range(measured.shape[1]):
            scores[t, measured[t, k]] = -np.inf
