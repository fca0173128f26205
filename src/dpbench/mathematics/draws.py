"""Whole tables of counts, drawn from the posterior of a cascade (``mathematics/cascade.py``), without its slopes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import Unsupported
from dpbench.mathematics.cascade import SHARPNESS, Posterior, given, known_of, tables

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

LARGEST_WORKSPACE = 2**25
"""Numbers per array of likelihoods up to which draws are made."""
BLOCK = 2**23
"""Numbers in the draws that are made at a time."""
PURPOSE = 0x64726177
"""Part of every seed, so that draws share no random numbers with anything else of the same seed."""

ROWS = 0x726F7773
"""The same for the noise that draws take beside the answers of wide rows."""


def blocks_of_draws(found: Posterior, points: int, reach: float, many: int, seed: tuple[int, ...]) -> Iterator[Ints]:
    """``many`` tables ``(some, *domain)`` at a time: non-negative whole numbers, each draw from a seed of its own."""
    from dpbench.mathematics.kernels.draws import draw

    squares = found.squares
    likelihoods = found.likelihoods
    if likelihoods is None:
        likelihoods = given(
            squares, found.weights, points, reach, known_of(squares, np.zeros((squares.count, 2))), LARGEST_WORKSPACE
        ).likelihoods
    if likelihoods is None:
        raise Unsupported(
            f"draws on {squares.domain} need likelihoods of more than {LARGEST_WORKSPACE:,} numbers; "
            f"ask on a coarser domain, or for intervals with guaranteed=True"
        )
    states = np.random.SeedSequence((PURPOSE, *seed)).generate_state(many, np.uint64)[:, None].copy()
    logs = replace(likelihoods, beta=np.log(np.maximum(likelihoods.beta, 1e-300)))
    normal = np.zeros((many, 0))
    if found.upper:
        rng = np.random.default_rng(np.random.SeedSequence((PURPOSE, ROWS, *seed)))
        normal = rng.standard_normal((many, len(found.upper.wide.answers)))
    step = max(1, BLOCK // squares.domain.size)
    for start in range(0, many, step):
        some = states[start : start + step]
        out = np.zeros((len(some), *squares.sides.tolist()), dtype=np.int64)
        rows = len(some) if found.upper else 1
        counts, alike = np.zeros((rows, squares.count), dtype=np.int64), np.zeros((rows, squares.count), dtype=np.bool_)
        stops = [0, *([found.upper.between[0]] if found.upper else []), squares.count]
        for begin, until in pairwise(stops):
            if begin and found.upper:
                found.upper.correct_draws(counts, normal[start : start + step])
            draw(
                squares.tree,
                squares.corner,
                squares.sides,
                (squares.answer, squares.rate, squares.gaussian),
                found.weights,
                int(squares.log_domain[1]) + 1,
                tables(),
                _quantiles(),
                likelihoods.base,
                logs.bundle,
                some,
                out,
                counts,
                alike,
                begin,
                until,
            )
        yield out.reshape(len(some), *squares.domain.shape)


@lru_cache(maxsize=1)
def _quantiles() -> Floats:
    """``(3, 1025)``: the quantiles of each Beta at even chances."""
    from scipy.special import betaincinv

    return np.array([betaincinv(a, a, np.linspace(0.0, 1.0, 1025)) for a in SHARPNESS])
