"""Two different results under one key: same setting, data vector, code and trial, and another error.

Equal results may stand twice, since every number follows from its names. Different ones mean that one of them was not
made by this code on this data, so that neither can be trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isclose, isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from dpbench.store.mixing import ONE_RESULT
from dpbench.store.plain_arrays import list_lengths, text_codes, to_numpy
from dpbench.store.schema import ERRORS

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

Entry = dict[str, Any]
ONE_KEY = (*ONE_RESULT, "key")
"""Columns in which rows agree that hold trials of one result."""
NEEDED = (*ONE_KEY, "first_trial", "l2", "other_losses")
"""Columns without which nothing can be found."""
TOLERANCE = 1e-9
"""Results of different machines may differ in the last digits: sums are taken in another order there."""


def conflicts(table: pa.Table, where: Callable[[int], str]) -> Iterator[str]:
    """One line for every pair of results that cannot both be right; ``where`` says where a row of the table stands."""
    suspects = _overlapping(table)
    if not len(suspects):
        return
    rows = table.take(suspects).to_pylist()
    groups: dict[tuple[Any, ...], list[tuple[Entry, int]]] = {}
    for row, number in zip(rows, suspects.tolist(), strict=True):
        groups.setdefault(tuple(row[name] for name in ONE_KEY), []).append((row, number))
    for group in groups.values():
        yield from _among(group, where)


def _overlapping(table: pa.Table) -> NDArray[np.int64]:
    """Rows that hold a trial which another row of their key holds as well, by number, and more of these keys."""
    if not table.num_rows:
        return np.zeros(0, dtype=np.int64)
    code, different = text_codes(table["key"])
    if different == len(code):
        return np.zeros(0, dtype=np.int64)
    first = to_numpy(table["first_trial"])
    stop = first + list_lengths(table["l2"])
    held = np.flatnonzero(stop > first)
    order = held[np.lexsort((first[held], code[held]))]
    same = (code[order[1:]] == code[order[:-1]]) & (first[order[1:]] < stop[order[:-1]])
    touched = np.unique(code[order[1:]][same])
    return np.flatnonzero(np.isin(code, touched) & (stop > first))


def _among(rows: list[tuple[Entry, int]], where: Callable[[int], str]) -> Iterator[str]:
    """The conflicts among rows of one key; one line per pair of rows."""
    known: dict[tuple[str, int], tuple[float, int]] = {}
    named: set[tuple[int, int]] = set()
    for row, number in rows:
        losses = {name: row[name] for name in ERRORS if name in row} | dict(row["other_losses"] or ())
        for label, values in losses.items():
            for trial, value in enumerate(values, row["first_trial"]):
                other, holder = known.setdefault((label, trial), (value, number))
                if not _agree(value, other) and (holder, number) not in named:
                    named.add((holder, number))
                    yield (
                        f"two different results of {row['algorithm']} on {row['dataset']} ({row['workload']} on "
                        f"{row['domain']}, scale {row['scale']}, sample {row['sample']}, trial {trial}): {label} is "
                        f"{other:.6g} in {where(holder)} and {value:.6g} in {where(number)}"
                    )


def _agree(one: float, other: float) -> bool:
    return isclose(one, other, rel_tol=TOLERANCE) or (isnan(one) and isnan(other))
