"""Strategies that a search has found: those that come with the package, and those that this machine has searched for.

Only what depends on public things alone (a workload, parameters) may be kept. ``python -m benchmarks.fit_hdmm`` makes
the archive in this folder. Others are kept in the folder ``DPBENCH_CACHE``, or in the user's cache; where nothing can
be read or written there, a search costs its time again and nothing else.
"""

from __future__ import annotations

import contextlib
import csv
import json
import os
import zipfile
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[np.generic]]

ERROR_BARS = Path(__file__).parent / "error_bars.json"
"""How wide Cascade's intervals are; ``python -m benchmarks.coverage --train`` makes it."""
COVERAGE = Path(__file__).parent / "coverage.csv"
"""How often Cascade's intervals held on the paper's histograms; ``python -m benchmarks.coverage`` makes it."""
SHIPPED = Path(__file__).parent / "hdmm.npz"
"""The archive that comes with the package; the arrays of a strategy are named ``name/array``."""


UNREADABLE = (OSError, ValueError, EOFError, KeyError, RuntimeError, zipfile.BadZipFile, zlib.error)
"""What reading a damaged archive may raise."""


def shipped(name: str) -> Arrays | None:
    """The arrays of a strategy that comes with the package."""
    with np.load(SHIPPED) as archive:
        found = {path: archive[path] for path in archive.files if path.startswith(f"{name}/")}
    return {path.removeprefix(f"{name}/"): array for path, array in found.items()} or None


def error_bars() -> dict[str, Any]:
    """Levels, and by "calibrated" and "cautious", number of axes and level, the A and C of ``posterior_bars.py``."""
    found: dict[str, Any] = json.loads(ERROR_BARS.read_text())
    return found


def coverage() -> list[dict[str, str]]:
    """Measured coverage, per cent, by dataset, domain, scale, kind of query and form of interval."""
    with COVERAGE.open(newline="") as file:
        return list(csv.DictReader(file))


def kept(name: str) -> Arrays | None:
    """Arrays that an earlier run has left on this machine."""
    with contextlib.suppress(*UNREADABLE), np.load(BytesIO(_path(name).read_bytes())) as archive:
        return {path: archive[path] for path in archive.files}
    return None


def keep(name: str, arrays: Arrays) -> None:
    """Leave arrays for later runs, where that is possible."""
    path = _path(name)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{path.stem}.{os.getpid()}.npz")
        write(unfinished, arrays)
        unfinished.replace(path)


def write(path: Path, arrays: Arrays) -> None:
    """Write arrays in little space."""
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]  # numpy types a keyword of its own among them


def _path(name: str) -> Path:
    chosen = os.environ.get("DPBENCH_CACHE")
    if chosen:
        return Path(chosen) / f"{name}.npz"
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("dpbench", appauthor=False)) / f"{name}.npz"
