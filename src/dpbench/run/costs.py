"""How long things take, roughly: for estimates of a plan's time, and to start long units first.

An algorithm's cost is in units of one n-cell Laplace draw, as in ``make bench``. What a store has measured counts more
than the table.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from statistics import median, median_low
from typing import TYPE_CHECKING

from dpbench.domain import Domain
from dpbench.plugins import is_stranger
from dpbench.run.units import Unit

if TYPE_CHECKING:
    from dpbench.store.schema import Row

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

STARTING = 2.0
"""Seconds in which workers start and load kernels: the pace of a run is taken from then on."""
FEWEST, MOST, SHARE = 5, 20, 50
"""So many units have to be done, one of 50, before the pace is known well enough to say how long the rest takes."""
SOONEST = 3.0
"""And so many seconds gone."""
TRUST = 0.6
"""How much the table counts for a kind of which nothing is done."""
RECENT = 50
"""Units of one kind that its cost is taken from."""

Kind = tuple[str, str]
"""An algorithm on a domain."""
Measured = Mapping[Kind, float]
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


class TimeLeft:
    """How long a run still takes: what is left, at the pace of what is done.

    Units are not alike and the longest come first, so that to count them would mislead. A unit of a kind, an algorithm
    on a domain, takes the median of what others of its kind took, so that one that compiles does not count. Nor do the
    first units of a run, one for each worker.
    """

    def __init__(self, units: Iterable[Unit], measured: Measured | None = None, jobs: int = 1) -> None:
        self._waiting: dict[tuple[str, int], Kind] = {}
        self._left, self._done = Counter[Kind](), Counter[Kind]()
        self._cost: dict[Kind, float] = {}
        for unit in units:
            kind = self._waiting[unit.key, unit.first_trial] = unit.algorithm.label, unit.domain
            self._left[kind] += 1
            self._cost[kind] = max(self._cost.get(kind, 0.0), seconds_of(unit, measured))
        self._took: dict[Kind, deque[float]] = {kind: deque(maxlen=RECENT) for kind in self._left}
        self._fewest = min(max(len(self._waiting) // SHARE, FEWEST), MOST)
        self._first = jobs
        self._counted = 0
        self._start = self._last = 0.0
        self._begin: float | None = None

    def start(self, now: float) -> None:
        """Note that the run begins."""
        self._start = self._last = now

    def add(self, row: Row, now: float) -> None:
        """Note that a unit is done. A failure has no time of its own: it took as long as nothing else came."""
        kind = self._waiting.pop((row.key, row.first_trial), None)
        since, self._last = now - self._last, now
        if kind is None:
            return
        self._left[kind] -= 1
        if self._begin is None:
            self._first -= 1
            if self._first <= 0 and now - self._start >= STARTING:
                self._begin = now
            return
        self._took[kind].append(since if row.failure else row.seconds + row.seconds_other)
        self._done[kind] += 1
        self._counted += 1

    def seconds(self, now: float) -> float | None:
        """Seconds that are left; None as long as that cannot be known."""
        if self._begin is None or self._counted < self._fewest or now - self._begin < SOONEST:
            return None
        each = self._each()
        done = sum(number * each[kind] for kind, number in self._done.items())
        left = sum(number * each[kind] for kind, number in self._left.items())
        return (now - self._begin) * left / done if done else None

    def _each(self) -> dict[Kind, float]:
        """What a unit of each kind takes: the median of those that are done, or else a guess.

        The guess is between what the table says, corrected by how far it is off for others, and what these took, by
        logarithms. The table may be wrong by much, and so may be the belief that all units are alike.
        """
        known = {kind: median_low(took) for kind, took in self._took.items() if took}
        off = {kind: each / self._cost[kind] for kind, each in known.items()}
        found = dict[Kind, float]()
        for kind, cost in self._cost.items():
            alike = [other for other in known if other[0] == kind[0]] or list(known)
            by_table = cost * median(off[other] for other in alike)
            if_alike = median(known[other] for other in alike)
            found[kind] = known.get(kind, by_table**TRUST * if_alike ** (1 - TRUST))
        return found
