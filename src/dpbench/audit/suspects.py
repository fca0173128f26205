"""Pairs of data vectors on which a plain function may tell too much: an adaptive search, before anything is tested.

A plain function sees the counts, so nothing can be replayed; what it does at one count of a million shows only where
that count is tried. Few runs choose the pairs, fresh runs test them, so the search costs no false alarms. Both sides of
borders at which code rounds or takes another branch are always considered, in a cell and as a total.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from dpbench.audit.black_box import Clock, Sampler
from dpbench.audit.features import features
from dpbench.audit.vectors import Vector, draw_vector, neighbour
from dpbench.privacy.claims import LIMITS, THRESHOLDS
from dpbench.workloads import Workload

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
Pair = tuple[Counts, Counts]

LOOKS = 16
"""Runs on each vector of the first sweep, which looks for cells that are not like the others."""
SECONDS = 3.0
"""After so many no further pair is considered."""
RUNS = 50
"""Runs on either side of a pair that is considered."""
PAIRS = 120
"""Pairs drawn at random that are considered."""
BORDERS = (
    *(1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 50_000, 100_000, 10**6),
    *(128, 256, 512, 1024, 65_536),
)
"""So many and one fewer are considered: 0 and 1, or 499 and 500, which round to other hundreds."""
BORDER_SECONDS = 3.0
"""The same for these."""
ODD = 5.0
"""Factor by which the noise of a cell may differ from that of the others before it is looked at."""
QUANTILES = np.array([0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98])
FAMILIES = ("cells", "total", "distance to the inputs", "exact repeats and zeros")
LARGEST = 2**31


def suspicious_pairs(sampler: Sampler, workload: Workload, epsilon: float, seed: int, wanted: int) -> list[Pair]:
    """The pairs, of those considered, on which few runs differ most; large cells and thresholds are among them."""
    rng, shape = np.random.default_rng([seed, 79]), workload.domain.shape

    def scored(considered: Iterable[Pair], seconds: float, kind: int) -> Iterator[tuple[float, Pair]]:
        clock = Clock()
        for number, (x, y) in enumerate(considered):
            if clock.elapsed() > seconds:
                break
            outputs = [
                sampler(counts.reshape(shape), workload, (epsilon, 0.0), RUNS, np.random.SeedSequence([*key, side]))
                for key in [(seed, kind, number)]
                for side, counts in enumerate((x, y))
            ]
            yield _apart(outputs, x, y), (x.reshape(shape), y.reshape(shape))

    def drawn() -> Iterator[Pair]:
        yield from _odd_cells(sampler, workload, epsilon, rng)
        for _ in range(PAIRS):
            vector = draw_vector(rng, workload.domain.size)
            yield vector.counts, neighbour(rng, vector)[0]

    found = [*scored(_at_borders(workload.domain.size), BORDER_SECONDS, 0), *scored(drawn(), SECONDS, 1)]
    return [pair for _, pair in sorted(found, key=lambda each: -each[0])[:wanted]]


def _at_borders(n: int) -> Iterator[Pair]:
    """Both sides of every border: in a cell with and without others, in every cell, as a total; 0 and 1 all over."""
    cells, few = np.arange(n), dict.fromkeys((n // 2, 0, n - 1, n // 3))
    for border in BORDERS:
        for cell in few:
            yield _one_fewer(np.where(cells == cell, border, 0), cell)
            yield _one_fewer(np.where(cells == cell, border, cells % 3), cell)
        yield _one_fewer(np.full(n, border), n // 2)
        yield _one_fewer(border // n + (cells < border % n), 0)
    for cell in np.unique(np.linspace(0, n - 1, 6).astype(int)).tolist():
        yield _one_fewer(np.where(cells == cell, 1, 0), cell)
        yield _one_fewer(np.where(cells == cell, 1, 3), cell)


def _one_fewer(more: Counts, cell: int) -> Pair:
    return more - (np.arange(len(more)) == cell), more


def _odd_cells(sampler: Sampler, workload: Workload, epsilon: float, rng: np.random.Generator) -> Iterator[Pair]:
    """Every threshold, one less and one more, and limits of types, in some cell once: cells whose noise stands out."""
    n = workload.domain.size
    values = np.unique(np.concatenate([THRESHOLDS - 1, THRESHOLDS, THRESHOLDS + 1, [1 << p for p in LIMITS]]))
    values = rng.permutation(values[values < LARGEST])
    for start in range(0, len(values), n):
        x = np.resize(values[start : start + n], n)
        seed = np.random.SeedSequence(int(rng.integers(2**31)))
        outputs = sampler(x.reshape(workload.domain.shape), workload, (epsilon, 0.0), LOOKS, seed).reshape(LOOKS, -1)
        off = np.abs(outputs - x)
        size, usual = off.mean(axis=0), float(np.median(off))
        for cell in np.flatnonzero((size * ODD < usual) | (size > ODD * usual)).tolist()[:2]:
            for step in (1, -1):
                y = x.copy()
                y[cell] += step
                if y[cell] >= 0:
                    yield x, y
    for power in (10, 16, 20):  # every cell large
        x = np.full(n, 1 << power)
        yield x, neighbour(rng, Vector(x, 0))[0]


def _apart(outputs: list[Floats], x: Counts, y: Counts) -> float:
    """The largest logarithm of a ratio of frequencies, less its standard error, of simple events."""
    tables = [features(each, x, y) for each in outputs]
    one, other = (np.concatenate([table[family] for family in FAMILIES], axis=1) for table in tables)
    thresholds = np.quantile(np.concatenate([one, other]), QUANTILES, axis=0)[:, np.newaxis]
    below = [(each <= thresholds).sum(axis=1) for each in (one, other)]
    best = -np.inf
    for ours, theirs in ((below[0], below[1]), (RUNS - below[0], RUNS - below[1])):
        ratio = np.abs(np.log((ours + 0.5) / (theirs + 0.5)))
        best = max(best, float((ratio - np.sqrt(1 / (ours + 0.5) + 1 / (theirs + 0.5))).max()))
    return best
