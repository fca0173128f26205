"""Pairs of neighbouring data vectors on which an algorithm that cheats is likely to show it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain

Counts = NDArray[np.int64]

SMALL_DOMAINS = {
    1: ("3", "4", "8", "16"),
    2: ("3x1", "2x2", "2x4", "4x4"),
    3: ("3x1x1", "1x2x2", "2x2x2", "4x2x2"),
}
"""Domains of 3, 4, 8 and 16 cells by number of axes: so small that rare outputs occur."""
LARGER_DOMAINS = {1: ("40",), 2: ("12x23",), 3: ("3x4x13",)}
"""Domains with several bins, blocks and levels, where structure is chosen that small ones do not have."""


@dataclass(frozen=True, repr=False)
class Pair:
    """Two data vectors that differ by one record."""

    kind: str
    fewer: Counts
    more: Counts


def pairs(domain: Domain) -> Iterator[Pair]:
    """Neighbouring pairs of every kind on a small domain; kinds that do not fit a domain are left out."""
    n, middle = domain.size, domain.size // 2
    cell = np.arange(n)
    spike = np.where(cell == middle, 1000, 0)
    yield _add(domain, "empty and one record", np.zeros(n), middle)
    yield _add(domain, "spike, the spike changes", spike, middle)
    yield _add(domain, "spike, an empty cell changes", spike, 0)
    yield _add(domain, "uniform", np.full(n, 10), n - 1)
    yield _add(domain, "step, the cell on the boundary changes", np.where(cell < middle, 50, 3), middle)
    yield _add(domain, "mixed sign", np.where(cell % 2 == 0, 0, 12), middle)
    yield _add(domain, "equal halves", np.where(cell < middle, 7, 7 * middle / max(n - middle, 1) // 1), 0)
    yield _add(domain, "all distinct", cell**2, middle)
    yield _add(domain, "large counts", np.full(n, 10**8) + cell, middle)


def _add(domain: Domain, kind: str, counts: NDArray[np.generic], cell: int) -> Pair:
    fewer = np.asarray(counts, dtype=np.int64)
    more = fewer.copy()
    more[cell] += 1
    return Pair(kind, fewer.reshape(domain.shape), more.reshape(domain.shape))
