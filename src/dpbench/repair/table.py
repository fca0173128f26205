"""Tables of parameters: what was trained for which signal and domain, with where it came from."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from dpbench.domain import Domain
from dpbench.errors import InvalidTraining

FORMAT = 1


@dataclass(frozen=True)
class TrainedRow:
    """The best parameters for one signal on one domain."""

    dimensions: int
    cells: int
    log10_product: float
    """log10 of epsilon * scale."""
    parameters: tuple[tuple[str, float], ...]
    regret: float
    """Geometric mean over shapes of its error over the best in the grid for that shape."""
    standard_error: float
    """Of the logarithm of the regret, over data samples and runs."""
    epsilon: float | None = None
    """Where it was trained; None where only the product matters, because the algorithm is exchangeable."""


@dataclass(frozen=True)
class ParameterTable:
    """Parameters of an algorithm by number of axes, number of cells and signal."""

    algorithm: str
    rows: tuple[TrainedRow, ...]
    provenance: tuple[tuple[str, str], ...] = ()

    def look_up(self, domain: Domain, product: float, epsilon: float | None = None) -> dict[str, float]:
        """The parameters of the nearest key: dimension first, then cells, epsilon if it is a key, signal, by factor.

        Ties go to the lower key; beyond the ends the end is taken. A dimension that was not trained takes the
        nearest one that was.
        """
        axes = min({row.dimensions for row in self.rows}, key=lambda each: (abs(each - domain.ndim), each))
        trained = [row for row in self.rows if row.dimensions == axes]
        wanted = math.log2(domain.size)
        cells = min({row.cells for row in trained}, key=lambda each: (round(abs(math.log2(each) - wanted), 9), each))
        trained = [row for row in trained if row.cells == cells]
        signal = math.log10(max(product, 1e-300))

        def distance(row: TrainedRow) -> tuple[float, ...]:
            factor = 0.0 if row.epsilon is None or epsilon is None else abs(math.log10(row.epsilon / epsilon))
            return round(factor, 9), row.epsilon or 0.0, round(abs(row.log10_product - signal), 9), row.log10_product

        row = min(trained, key=distance)
        return dict(row.parameters)

    def to_json(self) -> str:
        """The table as a person reads it: one line per row."""
        rows = [
            json.dumps(
                {
                    "dimensions": row.dimensions,
                    "cells": row.cells,
                    **({} if row.epsilon is None else {"epsilon": row.epsilon}),
                    "log10_product": row.log10_product,
                    **dict(row.parameters),
                    "regret": round(row.regret, 4),
                    "standard_error": round(row.standard_error, 4),
                }
            )
            for row in self.rows
        ]
        head = json.dumps(
            {"dpbench_table": FORMAT, "algorithm": self.algorithm, "provenance": dict(self.provenance)}, indent=1
        )
        return head.removesuffix("\n}") + ',\n "rows": [\n  ' + ",\n  ".join(rows) + "\n ]\n}\n"


def read_table(text: str, where: str, algorithm: str, parameters: Sequence[str]) -> ParameterTable:
    """A table from JSON; one line of refusal for a table of something else."""
    try:
        plain = json.loads(text)
        version, owner, rows = plain["dpbench_table"], plain["algorithm"], plain["rows"]
    except (ValueError, KeyError, TypeError):
        raise InvalidTraining(
            f"{where} is not a table of parameters; make one with `dpbench tune {algorithm}`"
        ) from None
    if version != FORMAT:
        raise InvalidTraining(f"{where} has format {version} and this version reads {FORMAT}; train it again")
    if owner != algorithm:
        raise InvalidTraining(f"{where} is a table for {owner} and not for {algorithm}; train one for {algorithm}")
    if not rows:
        raise InvalidTraining(f"{where} has no rows; train it again")
    try:
        trained = tuple(_row(row, parameters) for row in rows)
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidTraining(f"{where} has a row without {error}; train it again") from None
    return ParameterTable(algorithm, trained, tuple(sorted(plain.get("provenance", {}).items())))


def _row(plain: Mapping[str, Any], parameters: Sequence[str]) -> TrainedRow:
    return TrainedRow(
        dimensions=int(plain["dimensions"]),
        cells=int(plain["cells"]),
        log10_product=float(plain["log10_product"]),
        parameters=tuple((name, plain[name]) for name in parameters),
        regret=float(plain.get("regret", 1.0)),
        standard_error=float(plain.get("standard_error", 0.0)),
        epsilon=float(plain["epsilon"]) if "epsilon" in plain else None,
    )


@lru_cache(maxsize=32)
def load_table(path: str, algorithm: str, parameters: tuple[str, ...]) -> ParameterTable:
    """A table from a file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise InvalidTraining(
            f"cannot read the table {path!r}; give a file made by `dpbench tune {algorithm}`"
        ) from None
    return read_table(text, path, algorithm, parameters)
