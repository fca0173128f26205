"""Versions of losses: errors by changed code stand beside the earlier ones, and a reading shows one version of each.

The losses that every row holds belong to the code that makes errors. Any other loss is stored under its label and the
version of its code, ``relative@r1``. Every run records the versions that it asked for; a reading takes, of
each label, the one that was asked for last. Older stores have bare labels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

COLUMN = "other_losses"


def stored_label(label: str, source: str) -> str:
    """The name under which rows hold a loss."""
    return f"{label}@{source}" if source else label


def label_and_source(stored: str) -> tuple[str, str]:
    """The label and the version of the code; the latter is empty in older stores."""
    found = re.fullmatch(r"(.+)@(r[0-9]+|[0-9a-f]{16})", stored)
    return (found[1], found[2]) if found else (stored, "")


def asked_for_losses(records: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The version of each loss that the latest run asked for; names of runs are in order of time."""
    found: dict[str, str] = {}
    for _, record in sorted(records.items()):
        found |= record.get("losses", {})
    return found


def choose_losses(table: pa.Table, records: Mapping[str, Mapping[str, Any]]) -> pa.Table:
    """The table with the losses that a reading shows, under their labels."""
    import pyarrow as pa

    if COLUMN not in table.column_names:
        return table
    if not any(len(chunk.items) for chunk in table[COLUMN].chunks):
        return table
    held = [others or [] for others in table[COLUMN].to_pylist()]
    shown = _shown({stored for others in held for stored, _ in others}, asked_for_losses(records))
    kept = [[(shown[stored], values) for stored, values in others if stored in shown] for others in held]
    place = table.column_names.index(COLUMN)
    return table.set_column(place, table.field(COLUMN), pa.array(kept, table.field(COLUMN).type))


def _shown(held: Iterable[str], asked: Mapping[str, str]) -> dict[str, str]:
    """Labels by the names in a store: of each label the version that was asked for, or where no run says, the one."""
    named = {stored: label_and_source(stored) for stored in sorted(held)}
    last = {**dict(named.values()), **asked}
    return {stored: label for stored, (label, source) in named.items() if last[label] == source}
