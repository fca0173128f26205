"""How long things take, roughly: for estimates of a plan's time, and to start long units first.

An algorithm's cost is in units of one n-cell Laplace draw, as in ``make bench``. What a store has measured counts more
than the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dpbench.domain import Domain
from dpbench.plugins import is_stranger
from dpbench.run.units import Unit

SECONDS_PER_CELL = 20e-9
"""One cell of a Laplace draw, on the kind of machine that the table was measured on."""
OVERHEAD = 0.5e-3
"""Data vector, answers and losses of a small unit."""
UNITS = {
    "Identity": 1.0,
    "Privelet": 2.0,
    "H": 3.0,
    "Hb": 3.0,
    "GreedyH": 2.0,
    "Uniform": 0.3,
    "MWEM": 18.0,
    "MWEM*": 700.0,
    "AHP": 7.0,
    "AHP*": 8.0,
    "DPCube": 9.0,
    "DAWA": 25.0,
    "PHP": 65.0,
    "EFPA": 3.0,
    "SF": 120.0,
    "QuadTree": 2.0,
    "HybridTree": 10.0,
    "UGrid": 1.0,
    "AGrid": 2.5,
    "HDMM": 2.0,
    "HbW": 3.0,
    "Cascade": 160.0,
    "GaussianOptimal": 2.0,
    "MWEM-D": 60.0,
    "PrivTree": 5.0,
    "SquareRoot": 28.0,
    "TopDown": 6.0,
}
"""As ``make bench`` measured them at the domains of the paper's figures."""
UNKNOWN = 50.0

LONGEST, SHORTEST = 0.3, 0.01
"""Seconds that a portion of units may take: longer ones are unevenly shared, shorter ones are all overhead."""
PORTIONS = 8
"""Portions that every worker gets, at least, where units are many enough."""
UNTIMED = 0.05
"""Seconds that a unit of an algorithm is taken for that nobody has timed, when portions are made."""

Measured = Mapping[tuple[str, str], float]
"""Seconds per trial, by algorithm and domain."""


def seconds_of(unit: Unit, measured: Measured | None = None) -> float:
    """About how long a unit takes."""
    known = (measured or {}).get((unit.algorithm.name, unit.domain))
    cells = Domain.of(unit.domain).size
    each = UNITS.get(unit.algorithm.name, UNKNOWN) * SECONDS_PER_CELL * cells if known is None else known
    return OVERHEAD + unit.trials * (each + 2 * SECONDS_PER_CELL * cells)


def whose(unit: Unit) -> str:
    """Which stranger's algorithm a unit runs; empty for one of ours. No process runs the code of two."""
    return unit.reference if is_stranger(unit.reference) else ""


def chunks(units: Iterable[Unit], measured: Measured | None = None, jobs: int = 1) -> list[list[Unit]]:
    """Units in portions: those of one data vector together, long ones alone and first, enough for all to share.

    A stranger's units are in portions of their own, before ours.

    Of an algorithm that nobody has timed few units go into one portion: it may be slow.
    """
    listed = list(units)
    known = {name for name, _ in measured or {}} | set(UNITS)
    seconds = {
        id(unit): max(seconds_of(unit, measured), 0.0 if unit.algorithm.name in known else UNTIMED) for unit in listed
    }
    longest = min(LONGEST, max(sum(seconds.values()) / (PORTIONS * jobs), SHORTEST))
    by_vector: dict[tuple[object, ...], list[Unit]] = {}
    alone: list[list[Unit]] = []
    for unit in listed:
        if seconds[id(unit)] > longest:
            alone.append([unit])
        else:
            by_vector.setdefault((whose(unit), unit.data, unit.vector, unit.seed), []).append(unit)
    alone.sort(key=lambda portion: -seconds[id(portion[0])])
    portions: list[list[Unit]] = []
    current: list[Unit] = []
    total = 0.0
    order = sorted(by_vector.items(), key=lambda item: (not item[0][0], item[0][0], -Domain.of(item[1][0].domain).size))
    for (owner, *_), together in order:
        for unit in together:
            if current and (whose(current[0]) != owner or total + seconds[id(unit)] > longest):
                portions.append(current)
                current, total = [], 0.0
            current.append(unit)
            total += seconds[id(unit)]
    return alone + portions + ([current] if current else [])
