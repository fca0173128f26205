"""The summed-area table: every range sum from 2^k corners, in any number of dimensions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain

BLOCK = 2**18
"""How many numbers one block of trials may hold at a time: 2 MB of float64, which stay in the processor's cache."""


def summed_area(values: NDArray[Any]) -> NDArray[Any]:
    """Prefix sums along every axis but the first: `(trials, *domain)` to `(trials, *(side + 1))`.

    Entry `(t, b_1, ..., b_k)` is the sum of the cells below the boundaries b_1, ..., b_k, so the first entry
    along each axis is 0. Integers stay exact.
    """
    if values.ndim == 3:
        from dpbench.mathematics.kernels.summed_area import summed_plane

        return np.asarray(summed_plane(np.ascontiguousarray(values)))
    table = np.zeros((values.shape[0], *(side + 1 for side in values.shape[1:])), dtype=values.dtype)
    inner = table[(slice(None), *(slice(1, None) for _ in values.shape[1:]))]
    inner[...] = values
    for axis in range(1, values.ndim):
        np.add.accumulate(inner, axis=axis, out=inner)
    return table


def box_sums(domain: Domain, lower: NDArray[np.int64], upper: NDArray[np.int64], values: NDArray[Any]) -> NDArray[Any]:
    """Sums of ``values`` `(trials, *domain)` over boxes `(q, ndim)`: `(trials, q)`."""
    table = summed_area(values)
    if domain.ndim == 2:
        from dpbench.mathematics.kernels.summed_area import boxes_of_plane

        return np.asarray(boxes_of_plane(table, lower, upper))
    rows = by_row(table)
    sums = np.zeros((len(values), len(lower)), dtype=values.dtype)
    for sign, flat in corners(domain, lower, upper):
        corner = np.take(rows, flat, axis=1)
        if sign > 0:
            sums += corner
        else:
            sums -= corner
    return sums


def by_row(table: NDArray[Any]) -> NDArray[Any]:
    """Flatten everything but the first axis; with no trials, too, where ``reshape`` cannot infer."""
    return table.reshape(len(table), prod(table.shape[1:]))


def corners(
    domain: Domain, lower: NDArray[np.int64], upper: NDArray[np.int64]
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield the 2^k corners of boxes `(q, ndim)`: a sign, and flat `(q,)` indices into a summed-area table.

    A corner that takes the lower boundary along an odd number of axes counts negatively (inclusion and
    exclusion).
    """
    boundaries = tuple(side + 1 for side in domain)
    for choice in product((True, False), repeat=domain.ndim):
        flat = np.zeros(len(lower), dtype=np.int64)
        for axis, (side, is_upper) in enumerate(zip(boundaries, choice, strict=True)):
            flat *= side
            flat += (upper if is_upper else lower)[:, axis]
        yield (-1 if choice.count(False) % 2 else 1), flat


def trial_blocks(trials: int, width: int) -> Iterator[slice]:
    """Cut the trial axis so that a block of rows of `width` numbers stays near ``BLOCK`` numbers.

    No trials at all are one empty block.
    """
    step = max(1, BLOCK // max(1, width))
    for start in range(0, max(trials, 1), step):
        yield slice(start, min(start + step, trials))
