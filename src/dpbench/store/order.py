"""Rows in the order of exports, in portions that hold all rows of a result."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from dpbench.store.mixing import ONE_RESULT
from dpbench.store.plain_arrays import to_numpy
from dpbench.store.schema import Row, each_trial_once, from_table
from dpbench.store.setting_key import BUDGET, SETTING

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

PORTION = 2000
"""Rows of a portion, about."""


def codes(table: pa.Table, name: str) -> NDArray[np.int64]:
    """The place of each cell among the sorted values of a column; an empty cell counts as 0."""
    column = table[name].combine_chunks()
    if name in BUDGET:
        numbers = to_numpy(column).astype(np.float64)
        return np.unique(np.nan_to_num(numbers), return_inverse=True)[1]
    if name in {"scale", "sample", "seed", "first_trial"}:
        return np.unique(to_numpy(column), return_inverse=True)[1]
    encoded = column.dictionary_encode()
    values = encoded.dictionary.to_pylist()
    rank = np.argsort(np.argsort(np.array(values, dtype=object), kind="stable")) if values else np.zeros(0, np.int64)
    return np.asarray(rank[to_numpy(encoded.indices)], dtype=np.int64)


def in_order(table: pa.Table) -> NDArray[np.int64]:
    """Numbers of the rows, sorted as :attr:`Row.identity` is; equal ones stay in their order."""
    names = (*SETTING, "sample", "seed", "first_trial")
    return np.lexsort([codes(table, name) for name in reversed(names)])


def first_of_result(table: pa.Table, places: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of some sorted rows is the first one of its result."""
    first = np.zeros(len(places), dtype=bool)
    first[:1] = True
    for name in (*SETTING, "sample", "seed"):
        code = codes(table, name)[places]
        first[1:] |= code[1:] != code[:-1]
    return first


def portion_ends(first: NDArray[np.bool_]) -> list[int]:
    """Where portions of sorted rows begin and end: never between two rows of one result."""
    starts = np.flatnonzero(first)
    wanted = np.searchsorted(starts, np.arange(0, len(first), PORTION))
    return sorted({*starts[wanted[wanted < len(starts)]].tolist(), len(first)}) if len(first) else []


def portions(table: pa.Table) -> Iterator[list[Row]]:
    """Rows of a table in the order of exports, each trial once, a few thousand at a time: large stores take little."""
    places = in_order(table)
    alone = first_of_result(table, places)
    for first, stop in pairwise(portion_ends(alone)):
        rows = from_table(table.take(places[first:stop]))
        if alone[first:stop].all():
            yield rows  # no two of one result: nothing stands twice, and the order is that of exports
        else:
            yield sorted(each_trial_once(rows), key=lambda row: row.identity)


def once(table: pa.Table) -> tuple[pa.Table, list[Row]]:
    """Each trial once: the rows that are alone with their result, as they are, and what the others come to."""
    number = np.zeros(table.num_rows, dtype=np.int64)
    for name in ONE_RESULT:
        code = codes(table, name)
        _, number = np.unique(number * (code.max(initial=0) + 1) + code, return_inverse=True)
    alone = np.bincount(number)[number] == 1 if len(number) else np.zeros(0, dtype=bool)
    if alone.all():
        return table, []
    return table.filter(alone), each_trial_once(from_table(table.filter(~alone)))


def other_losses(table: pa.Table) -> list[str]:
    """Labels of the losses that rows hold beyond those that every row holds."""
    alone, rows = once(table)
    held = {label for chunk in alone["other_losses"].chunks for label in set(chunk.keys.to_pylist())}
    return sorted(held | {label for row in rows for label in row.other_losses})
