"""Strategies that a search has found, as arrays by name: those that come with the package, and those of this machine.

Only what depends on public things alone (a workload, parameters) may be kept. ``python -m benchmarks.fit_hdmm`` makes
the ones in this folder. Others are kept in the folder ``DPBENCH_CACHE``, or in the user's cache; where nothing can be
read or written there, a search costs its time again and nothing else.
"""

from __future__ import annotations

import contextlib
import os
import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[np.generic]]

SHIPPED = Path(__file__).parent


def shipped_files() -> tuple[str, ...]:
    """Paths of the arrays that come with the package."""
    return tuple(str(path) for path in sorted(SHIPPED.glob("*.npz")))


def shipped(name: str) -> Arrays | None:
    """Arrays that come with the package."""
    return _read(SHIPPED / f"{name}.npz")


def kept(name: str) -> Arrays | None:
    """Arrays that an earlier run has left on this machine."""
    return _read(_folder() / f"{name}.npz")


def keep(name: str, arrays: Arrays) -> None:
    """Leave arrays for later runs, where that is possible."""
    path = _folder() / f"{name}.npz"
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{path.stem}.{os.getpid()}.npz")
        write(unfinished, arrays)
        unfinished.replace(path)


def write(path: Path, arrays: Arrays) -> None:
    """Write arrays in the least space."""
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]  # numpy types a keyword of its own among them


def _read(path: Path) -> Arrays | None:
    unreadable = (OSError, ValueError, EOFError, zipfile.BadZipFile)
    with contextlib.suppress(*unreadable), path.open("rb") as file, np.load(file) as found:
        return {name: found[name] for name in found.files}
    return None


def _folder() -> Path:
    chosen = os.environ.get("DPBENCH_CACHE")
    if chosen:
        return Path(chosen)
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("dpbench", appauthor=False))
