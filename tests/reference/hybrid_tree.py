"""Private medians on a grid, candidate by candidate."""

from __future__ import annotations

import numpy as np


def median_scores(x, box, axis):
    """-|records below the cut - records / 2| for every cut of one box along an axis."""
    inside = x[tuple(slice(a, b) for a, b in zip(*box, strict=True))]
    slices = inside.sum(axis=tuple(other for other in range(x.ndim) if other != axis))
    return np.array([-abs(slices[:cut].sum() - slices.sum() / 2) for cut in range(1, len(slices))])


def median_probabilities(x, box, axis, rate):
    """The exponential mechanism's probability of every cut, ``rate`` nats a record."""
    weights = np.exp(rate * median_scores(x, box, axis))
    return weights / weights.sum()
