"""The Hilbert curve: a walk through a square that keeps neighbours together."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.errors import Unsupported
from dpbench.mathematics.integers import ceiling_log


def coordinates(side: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows and columns of the curve through a square whose side is a power of two.

    Four turned copies of the curve of half the side, one after the other: consecutive cells are
    adjacent, and every aligned run of 4^k positions is an aligned square of side 2^k.
    """
    rows = columns = np.zeros(1, dtype=np.int64)
    half = 1
    while half < side:
        rows, columns = (
            np.concatenate([columns, rows, half + rows, 2 * half - 1 - columns]),
            np.concatenate([rows, half + columns, half + columns, half - 1 - rows]),
        )
        half *= 2
    return rows, columns


@lru_cache(maxsize=8)
def order(domain: Domain) -> NDArray[np.int64]:
    """Flat cell number at each position of a line through the domain; -1 is padding.

    One axis is its own line. Two axes follow the Hilbert curve of the least enclosing square whose side is a
    power of two.
    """
    if domain.ndim == 1:
        return np.arange(domain.size)
    if domain.ndim != 2:
        raise Unsupported(f"the Hilbert curve here runs through 1 or 2 axes; domain {domain} has {domain.ndim}")
    rows, columns = coordinates(2 ** ceiling_log(max(domain), 2))
    inside = (rows < domain.shape[0]) & (columns < domain.shape[1])
    return np.where(inside, rows * domain.shape[1] + columns, -1)
