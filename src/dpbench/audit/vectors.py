"""Data vectors of many kinds, drawn at random: with cells at and around common thresholds and at limits of types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.privacy.claims import LIMITS, THRESHOLDS
from dpbench.privacy.counts import LARGEST_TOTAL

Counts = NDArray[np.int64]
Rng = np.random.Generator

SHOWN = 12
"""Numbers of a vector that are printed; of a longer one those that are not 0."""


@dataclass(frozen=True, repr=False)
class Vector:
    """Flat counts, and the cell that makes them worth trying."""

    counts: Counts
    cell: int


def draw_vector(rng: Rng, n: int) -> Vector:
    """Flat counts of a random kind."""
    cell = int(rng.choice((0, n - 1, n // 2, *rng.integers(0, n, 5))))
    counts = np.asarray(_drawn(rng, n, cell)).astype(np.int64)
    total = float(counts.sum(dtype=np.float64))
    if total >= LARGEST_TOTAL:
        counts = counts // (int(total // LARGEST_TOTAL) + 2)
    return Vector(counts, cell)


def neighbour(rng: Rng, vector: Vector) -> tuple[Counts, int]:
    """One record more or less in some cell, often the one that matters."""
    n = len(vector.counts)
    cell = vector.cell if rng.random() < 0.6 else int(rng.choice((0, n - 1, *rng.integers(0, n, 4))))
    changed = vector.counts.copy()
    changed[cell] += -1 if changed[cell] > 0 and rng.random() < 0.5 else 1
    return changed, cell


def far_from(rng: Rng, vector: Vector) -> Counts:
    """Counts of another kind altogether, or the same moved about."""
    x, n = vector.counts, len(vector.counts)
    kind = rng.integers(8)
    if kind == 0:
        return rng.permutation(x)
    if kind == 1:
        return np.ascontiguousarray(x[::-1])
    if kind == 2:
        return x // 2
    if kind == 3:
        moved = x.copy()
        moved[rng.integers(n)] += int(rng.choice(THRESHOLDS))
        return moved
    return draw_vector(rng, n).counts


def near_threshold(rng: Rng) -> int:
    """A threshold, or one less, or one more."""
    return max(0, int(rng.choice(THRESHOLDS)) + int(rng.integers(-1, 2)))


def _at_a_limit(rng: Rng, n: int, cell: int) -> Counts:
    limit = (1 << int(rng.choice(LIMITS))) + int(rng.integers(-1, 1))
    return np.where(np.arange(n) == cell, limit, rng.integers(0, 3, n))


def _total(rng: Rng, n: int, cell: int) -> Counts:
    """A total near a threshold, spread or half of it in one cell."""
    total = near_threshold(rng)
    pile = int(rng.choice((0, total // 2, total)))
    share, rest = divmod(total - pile, n)
    counts = np.full(n, share, dtype=np.int64)
    counts[:rest] += 1
    counts[cell] += pile
    return counts


def _thresholds(rng: Rng, n: int, cell: int) -> Counts:
    counts = np.maximum(rng.choice(THRESHOLDS, n) + rng.integers(-1, 2, n), 0) * (rng.random(n) < rng.random())
    counts[cell] = near_threshold(rng)
    return np.asarray(counts)


def _drawn(rng: Rng, n: int, cell: int) -> NDArray[Any]:
    """Counts of one of many kinds."""
    kinds: tuple[Callable[[], NDArray[Any]], ...] = (
        lambda: np.zeros(n),
        lambda: np.where(np.arange(n) == cell, near_threshold(rng), 0),
        lambda: np.where(np.arange(n) == cell, near_threshold(rng), rng.integers(0, 10, n)),
        lambda: _at_a_limit(rng, n, cell),
        lambda: _total(rng, n, cell),
        lambda: 10 ** rng.uniform(0, rng.uniform(0.5, 8), n),
        lambda: _thresholds(rng, n, cell),
        lambda: _thresholds(rng, n, cell),
        lambda: np.full(n, near_threshold(rng)),
        lambda: rng.integers(0, 4, n),
        lambda: rng.integers(0, 2, n) * (rng.random(n) < 0.2),
        lambda: rng.integers(0, 1 + near_threshold(rng), n),
        lambda: np.where(np.arange(n) < cell, near_threshold(rng), rng.integers(0, 5)),
        lambda: np.where(np.arange(n) % 2 == 0, 0, near_threshold(rng)),
        lambda: np.sort(rng.zipf(1.5, n).clip(0, 10**6))[::-1],
        lambda: rng.permutation(n),
        lambda: np.arange(n) ** 2 % 10**6,
    )
    return kinds[rng.integers(len(kinds))]()


def shown(counts: Counts) -> str:
    """Counts in a few words."""
    flat = counts.reshape(-1)
    if len(flat) <= SHOWN:
        return str(counts.tolist())
    filled = np.flatnonzero(flat)
    if len(filled) == 0:
        return f"zeros({counts.shape})"
    some = ", ".join(f"{cell}: {flat[cell]}" for cell in filled[:SHOWN].tolist())
    more = f", ... {len(filled) - SHOWN} more" if len(filled) > SHOWN else ""
    return f"zeros({counts.shape}) but {{{some}{more}}} (flat cells)"
