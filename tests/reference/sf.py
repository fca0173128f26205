"""StructureFirst, slowly: every set of bins, the table without a trick, trees by their closed form."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np


def squared_error(counts, start, stop):
    """Sum of (x_i - mean)^2 over [start, stop)."""
    part = np.asarray(counts[start:stop], dtype=np.float64)
    return float(((part - part.mean()) ** 2).sum())


def best_of_all(counts, k, stop):
    """Least squared error of the first ``stop`` cells in k bins, by trying all."""
    return min(
        sum(squared_error(counts, *span) for span in pairwise((0, *cuts, stop)))
        for cuts in combinations(range(1, stop), k - 1)
    )


def table(counts, layers):
    """S(k, j) by its recurrence, ``(layers + 1, n + 1)``."""
    n = len(counts)
    costs = np.array([[squared_error(counts, i, j) if i < j else np.inf for j in range(n + 1)] for i in range(n + 1)])
    rows = [np.where(np.arange(n + 1) == 0, 0.0, np.inf)]
    for _ in range(layers):
        rows.append((rows[-1][:, None] + costs).min(axis=0))
    return np.array(rows)


def energies(counts, k, right):
    """E_j for j = k ... right - 1."""
    row = table(counts[:right], k)[k]
    return np.array([row[j] + squared_error(counts, j, right) for j in range(k, right)])


def boundary_probabilities(counts, bins, rate):
    """The probability of every set of boundaries, drawn from right to left with ``rate`` nats per unit of energy."""
    result = {}

    def draw(k, right, edges, probability):
        if k == 0:
            result[(0, *edges)] = probability
            return
        logits = -rate * energies(counts, k, right)
        weights = np.exp(logits - logits.max())
        for j, weight in zip(range(k, right), weights / weights.sum(), strict=True):
            draw(k - 1, j, (j, *edges), probability * weight)

    draw(bins - 1, len(counts), (len(counts),), 1.0)
    return result


def closed_form(answers, height):
    """Least squares on a complete binary tree with equal weights; answers and result by level, root first."""
    levels = [np.asarray(answers[2**depth - 1 : 2 ** (depth + 1) - 1], dtype=np.float64) for depth in range(height)]
    z = [None] * height
    z[-1] = levels[-1]
    for depth in range(height - 2, -1, -1):
        a = 2.0 ** (height - 1 - depth)
        z[depth] = (a * levels[depth] + (a - 1) * z[depth + 1].reshape(-1, 2).sum(axis=1)) / (2 * a - 1)
    h = z[0]
    for depth in range(1, height):
        pairs = z[depth].reshape(-1, 2)
        h = (pairs + (h - pairs.sum(axis=1))[:, None] / 2).reshape(-1)
    return h
