"""Public things that take long to compute, kept on disk between runs and shared by workers.

Only what depends on public things (a workload, a domain, parameters) may be kept. The key holds the code that made it,
so a new version never reads what an old one left. The folder is ``DPBENCH_CACHE``, or the user's cache.
"""

from __future__ import annotations

import contextlib
import os
import time
import zipfile
from collections.abc import Callable, Sequence
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[np.generic]]

WORTH = 1.0
"""Seconds that something must have taken to be kept."""


def folder() -> Path:
    """Where things are kept."""
    chosen = os.environ.get("DPBENCH_CACHE")
    if chosen:
        return Path(chosen)
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("dpbench", appauthor=False))


def keep(kind: str, key: str, modules: Sequence[str], build: Callable[[], Arrays]) -> Arrays:
    """What ``build`` gives, from the disk where an earlier run of the same code has left it.

    A file that cannot be read, or a folder that cannot be written, costs time and nothing else.
    """
    code = sha256("".join(_code(name) for name in modules).encode()).hexdigest()
    path = folder() / f"{kind}-{sha256(f'{key}|{code}'.encode()).hexdigest()[:32]}.npz"
    with (
        contextlib.suppress(OSError, ValueError, EOFError, zipfile.BadZipFile),
        path.open("rb") as file,
        np.load(file) as kept,
    ):
        return {name: kept[name] for name in kept.files}
    begin = time.monotonic()
    arrays = build()
    if time.monotonic() - begin > WORTH:
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.with_name(f".{path.stem}.{os.getpid()}.npz")
            np.savez(temporary, **arrays)  # type: ignore[arg-type]  # numpy types a keyword of its own among them
            temporary.replace(path)
    return arrays


def _code(name: str) -> str:
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(name)
    return sha256(Path(spec.origin).read_bytes()).hexdigest()
