"""Hashes of our own definitions, kept on this machine for as long as no file of the package changes.

To find what a definition depends on takes a tenth of a second, and longer for an algorithm of many parts; whether a
file has changed, a hundredth for all of them. What a stranger's code depends on is found again every time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from dpbench import fitted

PACKAGE = Path(__file__).resolve().parents[2]
NAME = "identities"
"""The archive; a package that has changed begins it anew."""


def kept_source(objects: Iterable[object], definition: Callable[[Any], Any], make: Callable[[], str]) -> str:
    """The hash of some objects: as it was kept, or as it is made now, and kept if all of them are ours.

    ``definition`` gives the class or function that an object was made from.
    """
    key = _key(objects, definition)
    if key is None:
        return make()
    known = _known()
    if key not in known:
        known[key] = make()
        names, sources = (np.array(list(each)) for each in (known.keys(), known.values()))
        fitted.keep(NAME, {"package": np.array(_package()), "names": names, "sources": sources})
    return known[key]


@cache
def _known() -> dict[str, str]:
    """What was kept of the package as it is, by key."""
    arrays = fitted.kept(NAME) or {}
    if arrays.keys() != {"package", "names", "sources"} or str(arrays["package"]) != _package():
        return {}
    return dict(zip(arrays["names"].tolist(), arrays["sources"].tolist(), strict=False))


@cache
def _package() -> str:
    return package_digest(PACKAGE)


def package_digest(folder: Path) -> str:
    """A hash of every file of code below a folder, and of the version of the Python that reads them."""
    digest = sha256(sys.version.encode())
    for path in sorted(folder.rglob("*.py")):
        content = path.read_bytes()
        digest.update(f"\x1f{path.relative_to(folder)}\x1f{len(content)}\x1f".encode() + content)
    return digest.hexdigest()[:32]


def _key(objects: Iterable[object], definition: Callable[[Any], Any]) -> str | None:
    """What names objects of ours while no file changes: where each is defined, and the values that it holds."""
    words = list[str]()
    waiting = list(objects)
    for each in waiting:
        made_from = definition(each)
        if made_from.__module__.split(".")[0] != "dpbench":
            return None
        line = made_from.__code__.co_firstlineno if isinstance(made_from, FunctionType) else 0
        words.append(f"{made_from.__module__}:{made_from.__qualname__}:{line}")
        for cell in getattr(made_from, "__closure__", None) or ():
            held = cell.cell_contents
            if isinstance(held, type | FunctionType):
                waiting += [] if held in waiting else [held]
            elif isinstance(held, bool | int | float | str | tuple | None):
                words.append(repr(held))
            else:
                return None  # its text may have an address in it
    return "|".join(words)
