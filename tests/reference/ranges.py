"""Ranges as a dense matrix, cell by cell: slow, obvious, and independent of the package's own arithmetic."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray


def dense_matrix(shape, lower, upper, weights=None) -> NDArray[np.float64]:
    """One row per box, one column per cell in row-major order: its weight where the box covers the cell."""
    rows = np.zeros((len(lower), int(np.prod(shape))))
    for query in range(len(lower)):
        for column, cell in enumerate(product(*(range(side) for side in shape))):
            if all(lower[query][a] <= cell[a] < upper[query][a] for a in range(len(shape))):
                rows[query, column] = 1.0 if weights is None else weights[query]
    return rows


def prefixes(side) -> list[tuple[tuple[int], tuple[int]]]:
    """Every [0, i + 1), the shortest first."""
    return [((0,), (i + 1,)) for i in range(side)]


def cells(shape) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Every cell as a box, in row-major order."""
    return [(cell, tuple(c + 1 for c in cell)) for cell in product(*(range(side) for side in shape))]


def all_ranges(shape) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Every box, lexicographic in (lower0, upper0, lower1, upper1, ...)."""
    intervals = [[(low, up) for low in range(n) for up in range(low + 1, n + 1)] for n in shape]
    return [(tuple(low for low, _ in box), tuple(up for _, up in box)) for box in product(*intervals)]


def norm(matrix, difference, order) -> NDArray[np.float64]:
    """Norms of the answers to `(trials, *domain)`, through the matrix."""
    answers = np.asarray(difference).reshape(len(difference), -1) @ matrix.T
    return np.linalg.norm(answers, ord={"L2": 2, "L1": 1, "Linf": np.inf}[order], axis=1)


def second_moment(side, length_probability) -> NDArray[np.float64]:
    """E[w wᵀ] of a random 1-D range, by adding up every range."""
    result = np.zeros((side, side))
    for length, probability in enumerate(length_probability, start=1):
        for low in range(side - length + 1):
            w = np.zeros(side)
            w[low : low + length] = 1
            result += probability / (side - length + 1) * np.outer(w, w)
    return result


def expected_square(shape, length_probabilities, difference) -> NDArray[np.float64]:
    """E over random boxes of the squared answer, through one second-moment matrix per axis: `(trials,)`."""
    moment = np.ones((1, 1))
    for side, probability in zip(shape, length_probabilities, strict=True):
        moment = np.kron(moment, second_moment(side, probability))
    flat = np.asarray(difference).reshape(len(difference), -1)
    return np.einsum("ti,ij,tj->t", flat, moment, flat)
