"""The Haar transform as an explicit matrix."""

from __future__ import annotations

import numpy as np


def matrix(levels):
    """The total, then +1 on the left and -1 on the right half of every node of two cells or more, root first."""
    size = 2**levels
    rows = [np.ones(size)]
    for depth in range(levels):
        width = size >> depth
        for node in range(2**depth):
            row = np.zeros(size)
            row[node * width : node * width + width // 2] = 1
            row[node * width + width // 2 : (node + 1) * width] = -1
            rows.append(row)
    return np.array(rows)


def levels_of(side) -> int:
    """Least m with 2^m >= side, by trying."""
    return next(m for m in range(64) if 2**m >= side)


def matrix_of(shape):
    """The Kronecker product over axes, ``(coefficients, cells)``; columns of padding are left out."""
    result = np.ones((1, 1))
    for side in shape:
        result = np.kron(result, matrix(levels_of(side))[:, :side])
    return result
