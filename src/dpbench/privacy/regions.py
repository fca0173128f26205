"""Disjoint regions of private counts: boxes of the domain, or lists of flat cell numbers."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbench.errors import InvalidInput

Counts = NDArray[np.int64]
Region = tuple[slice, ...] | slice | NDArray[np.integer[Any]] | Sequence[int]


def cut(counts: Counts, regions: Sequence[Region], reason: str) -> list[Counts]:
    """The counts of each region; no cell may be in two of them, or twice in one.

    A region is read once, into slices of plain numbers or an array of our own: what is checked is what is cut.
    """
    seen = np.zeros(counts.shape, dtype=np.int64)
    pieces = []
    try:
        listed = iter(regions)
    except Exception:  # no list, or whatever code a third party's __iter__ runs
        words = f"the regions of '{reason}' are a {type(regions).__name__}; give a list of regions"
        raise InvalidInput(words) from None
    for region in listed:
        box = _box(region, counts.shape, reason)
        if box is not None:
            seen[box] += 1
            piece = counts[box]  # a view of what nobody can write to
        else:
            cells = _cells(region, counts.size, reason)  # type: ignore[arg-type]  # no box: cell numbers, or refused
            np.add.at(seen.reshape(-1), cells, 1)
            piece = np.frombuffer(counts.reshape(-1)[cells].tobytes(), dtype=np.int64)
        if piece.size == 0:
            raise InvalidInput(f"a region of '{reason}' is empty; every region needs at least one cell")
        pieces.append(piece)
    if (seen > 1).any():
        raise InvalidInput(f"the regions of '{reason}' overlap; only disjoint regions can share a budget")
    return pieces


def _box(region: object, shape: tuple[int, ...], reason: str) -> tuple[slice, ...] | None:
    """The slices of a region that is a box of the domain; None where it is a list of cells."""
    sides = tuple(region) if isinstance(region, tuple) else (region,)
    slices = [side for side in sides if isinstance(side, slice)]
    if not slices or len(slices) < len(sides):
        return None
    try:
        box = tuple(slice(_whole(side.start), _whole(side.stop), _whole(side.step)) for side in slices)
        for side, length in zip(box, shape[: len(box)], strict=True):
            side.indices(length)  # refuses a step of 0
    except (TypeError, ValueError):
        raise InvalidInput(
            f"a region of '{reason}' is no box of a domain of shape {shape}; give a slice of whole numbers per axis"
        ) from None
    return box


def _whole(end: Any) -> int | None:
    return None if end is None else index(end)


def _cells(region: ArrayLike, size: int, reason: str) -> Counts:
    """Flat cell numbers."""
    try:
        cells = np.array(region)
    except Exception:  # rows of unequal lengths, or whatever code a third party's __array__ runs
        cells = np.empty((), dtype=object)
    if cells.dtype.kind not in "iu" or cells.ndim != 1:
        raise InvalidInput(f"a region of '{reason}' is not a box or a list of cell numbers; give slices or numbers")
    if cells.size and not (-size <= cells.min() and cells.max() < size):
        raise InvalidInput(f"a region of '{reason}' has a cell outside the domain; give 0 ... {size - 1}")
    return cells.astype(np.int64)
