"""Results on different data never stand side by side in one store; those of different algorithms' code are versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpbench.store.setting_key import IDENTITY
from dpbench.store.versions import short

SOURCES = {
    "dataset_source": (("dataset",), "the dataset {dataset}"),
    "generator_source": ((), "the code that makes data vectors and errors"),
}
"""What a row was made with: the columns that name it, and the same in words."""

ONE_RESULT = (*IDENTITY, "sample", "algorithm_source")
"""Columns that belong to one result."""


class Register:
    """What the rows seen so far were made with."""

    def __init__(self) -> None:
        self._sources: dict[tuple[Any, ...], str] = {}
        self._keys: dict[tuple[Any, ...], str] = {}

    def differs(self, row: Mapping[str, Any]) -> str:
        """What a row was made with that earlier rows were not, in words; empty, and remembered, where nothing differs.

        Failed rows hold no result that could be mixed.
        """
        if row["failure"]:
            return ""
        for source, (names, words) in SOURCES.items():
            known = self._sources.setdefault((source, *(row[name] for name in names)), row[source])
            if known != row[source]:
                return f"{words.format(**row)} ({short(known)} then, {short(row[source])} now)"
        known = self._keys.setdefault(tuple(row[name] for name in ONE_RESULT), row["key"])
        if known != row["key"]:
            return (
                f"the workload {row['workload']} (its file or its code), "
                f"or of the share of the budget that is spent on the scale (rho_total)"
            )
        return ""
