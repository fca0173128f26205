"""What an algorithm does outside its handle: files that it opens, text that it prints."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from dpbench import fitted

CODE = (".py", ".pyc", ".so", ".pyd", ".dll", ".nbi", ".nbc", ".lock")
"""Endings of files that Python and numba open by themselves: imports, and kernels kept compiled."""
_watchers: list[list[str]] = []
_hooked: list[bool] = []


@contextmanager
def files_opened() -> Iterator[list[str]]:
    """Paths that are opened meanwhile, code and what belongs to this package or to Python aside."""
    if not _hooked:
        sys.addaudithook(_notice)  # cannot be taken away again, so there is one for good
        _hooked.append(True)
    found: list[str] = []
    _ours()  # before anything is watched: finding it out opens files
    _watchers.append(found)
    try:
        yield found
    finally:
        _watchers.remove(found)


@lru_cache(maxsize=1)
def _ours() -> tuple[str, ...]:
    """Where files belong to this package, with what it has fitted to workloads, to Python or to the system."""
    return (
        str(Path(__file__).parents[1]),
        str(fitted._path("any").parent),
        sys.prefix,
        sys.base_prefix,
        "/dev/",
        "/proc/",
    )


def _notice(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watchers or event != "open" or not isinstance(arguments[0], str | bytes | os.PathLike):
        return
    path = os.fsdecode(arguments[0])
    if not path.endswith(CODE) and not str(Path(path).absolute()).startswith(_ours()):
        for found in _watchers:
            found.append(path)
