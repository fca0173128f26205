"""How long things take, roughly: for estimates of a plan's time, and to start long units first.

An algorithm's cost is in units of one n-cell Laplace draw, as in ``make bench``. What a store has measured counts more
than the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dpbench.domain import Domain
from dpbench.experiment.unit import Unit

SECONDS_PER_CELL = 20e-9
"""One cell of a Laplace draw, on the kind of machine that the table was measured on."""
OVERHEAD = 0.5e-3
"""Data vector, answers and losses of a small unit."""
UNITS = {"Identity": 1.0, "Privelet": 2.0, "H": 2.0, "Hb": 2.0, "GreedyH": 2.0, "Uniform": 0.2}
UNKNOWN = 50.0

Measured = Mapping[tuple[str, str], float]
"""Seconds per trial, by algorithm and domain."""


def seconds_of(unit: Unit, measured: Measured | None = None) -> float:
    """About how long a unit takes."""
    known = (measured or {}).get((unit.algorithm.name, unit.domain))
    cells = Domain.of(unit.domain).size
    each = UNITS.get(unit.algorithm.name, UNKNOWN) * SECONDS_PER_CELL * cells if known is None else known
    return OVERHEAD + unit.trials * (each + 2 * SECONDS_PER_CELL * cells)


def chunks(units: Iterable[Unit], measured: Measured | None = None, wanted: float = 0.3) -> list[list[Unit]]:
    """Units in portions of about ``wanted`` seconds, those of one data vector together, long ones first."""
    by_vector: dict[object, list[Unit]] = {}
    alone: list[list[Unit]] = []
    for unit in units:
        if seconds_of(unit, measured) > wanted:
            alone.append([unit])
        else:
            by_vector.setdefault((unit.data, unit.vector), []).append(unit)
    alone.sort(key=lambda portion: -seconds_of(portion[0], measured))
    portions: list[list[Unit]] = []
    current: list[Unit] = []
    total = 0.0
    for together in sorted(by_vector.values(), key=lambda group: -Domain.of(group[0].domain).size):
        for unit in together:
            if current and total + seconds_of(unit, measured) > wanted:
                portions.append(current)
                current, total = [], 0.0
            current.append(unit)
            total += seconds_of(unit, measured)
    return alone + portions + ([current] if current else [])
