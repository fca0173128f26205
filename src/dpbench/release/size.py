"""The time and the memory that a release takes, from its domain and its algorithm, before anything is charged."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dpbench.domain import Domain
from dpbench.errors import NotEnoughMemory, ReleaseRefused
from dpbench.given import ALWAYS, MEMORY, afford
from dpbench.progress import duration

PER_CELL = {
    "AGrid": (3, 200),
    "AHP": (16, 240),
    "AHP*": (14, 240),
    "Cascade": (23, 3500),
    "DAWA": (100, 840),
    "DPCube": (15, 240),
    "GreedyH": (8, 490),
    "H": (8, 410),
    "HDMM": (4, 190),
    "Hb": (5, 330),
    "HbW": (14, 470),
    "HybridTree": (3, 200),
    "Identity": (4, 130),
    "Privelet": (6, 240),
    "QuadTree": (4, 320),
    "TopDown": (17, 310),
    "UGrid": (3, 190),
    "Uniform": (28, 690),
}
"""By algorithm, microseconds and bytes per cell, rounded up.

Measured by releases of 100,000 rows on 10^6 cells, of one axis and of two, as CPU time and as the largest memory of the
process beyond :data:`BASE`; the larger one counts. Hb is also of 10^7 cells, Identity of 10^8; DAWA on one axis is of
10^5. They are for all but the reading of the table: what the study says of the error, the rehearsal, the release.
"""
OTHERS = (30, 700)
"""For "recommended", whose algorithm is found when that is known."""
BASE = 0.33e9
"""Bytes that a release takes whatever its size."""
GROUP = Path("/sys/fs/cgroup")
"""What a container may use."""


@dataclass(frozen=True)
class Size:
    """About how long, and how much memory at most."""

    cells: int
    seconds: float
    memory: float
    """Bytes."""

    def __str__(self) -> str:
        return f"about {duration(self.seconds)} and {self.memory / 1e9:.1f} GB of memory"


def size_of(domain: Domain, algorithm: str) -> Size:
    """What a release takes on a machine like those of today, in proportion to the number of cells."""
    known = {name.casefold(): numbers for name, numbers in PER_CELL.items()}
    microseconds, each = known.get(algorithm.strip().casefold(), OTHERS)
    return Size(domain.size, domain.size * microseconds * 1e-6, BASE + domain.size * each)


def insist_on_memory(size: Size) -> None:
    """Refuse a release that takes more memory than is free, or than the user allows."""
    if size.cells <= ALWAYS:
        return
    if os.environ.get(MEMORY, "").strip():
        try:
            afford(int(size.memory) // 8, "the release")
        except NotEnoughMemory as error:
            raise ReleaseRefused(f"{error}; nothing was charged") from None
        return
    free = available()
    if free is not None and size.memory > free:
        raise ReleaseRefused(
            f"the release takes {size}, and {free / 1e9:.1f} GB are free; nothing was charged; take fewer bins, or set "
            f"{MEMORY} to the gigabytes that it may take"
        )


def available() -> float | None:
    """Bytes of memory that are free on the machine, and in its container; None where the system does not say."""
    found = []
    with suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found.append(float(next(line for line in lines if line.startswith("MemAvailable")).split()[1]) * 1024)
    with suppress(OSError, ValueError, StopIteration):
        most, used = (float((GROUP / name).read_text(encoding="ascii")) for name in ("memory.max", "memory.current"))
        facts = dict(line.split() for line in (GROUP / "memory.stat").read_text(encoding="ascii").splitlines())
        found.append(most - used + float(facts.get("inactive_file", 0)))
    if not found and hasattr(os, "sysconf"):
        with suppress(OSError, ValueError):
            found.append(float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")))
    return min(found, default=None)
