"""MWEM on a dense matrix of queries, cell by cell: the update as it is written, every replay over every cell."""

from __future__ import annotations

import math

import numpy as np


def replayed(estimate, total, rows, answers, replays):
    """x *= exp(row (m - row x) / (2 N)), then x *= N / sum(x), for every measurement in order, ``replays`` times."""
    x = np.array(estimate, dtype=np.float64)
    for _ in range(replays):
        for row, answer in zip(rows, answers, strict=True):
            exponent = row * (answer - row @ x) / (2 * total)
            x *= np.exp(np.clip(exponent, -50, 50))
            x *= total / math.fsum(x)
    return x


def rounds(total, matrix, chosen, answers, replays):
    """The estimate after each round, the uniform start first, from the queries chosen and the answers given."""
    x = np.full(matrix.shape[1], total / matrix.shape[1])
    estimates = [x]
    for number in range(1, len(chosen) + 1):
        x = replayed(x, total, matrix[chosen[:number]], answers[:number], replays)
        estimates.append(x)
    return estimates


def scores(x, estimate, matrix, measured):
    """|W_j x - W_j xhat|, -inf for those measured before."""
    result = np.abs(matrix @ x - matrix @ estimate)
    result[measured] = -np.inf
    return result
