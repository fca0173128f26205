"""The algorithms (the paper's M), one file each, found by looking: a new file needs no other edit.

An algorithm of somebody else's joins through the entry point group ``dpbench.algorithms`` of its distribution.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pkgutil import iter_modules
from typing import Any, TypeVar

from dpbench.algorithm import Algorithm
from dpbench.errors import InvalidInput, UnknownName
from dpbench.given import known

__all__ = ["catalogue", "everything", "get", "names"]

Named = TypeVar("Named")

GROUP = "dpbench.algorithms"
"""The group of entry points."""
PAPER_ORDER = [
    "Identity",
    "Privelet",
    "H",
    "Hb",
    "GreedyH",
    "Uniform",
    "MWEM",
    "MWEM*",
    "AHP",
    "AHP*",
    "DPCube",
    "DAWA",
    "QuadTree",
    "HybridTree",
    "UGrid",
    "AGrid",
    "PHP",
    "EFPA",
    "SF",
]
"""The order of the paper's Table 1; other algorithms follow by name."""


def catalogue(notion: str = "pure") -> Mapping[str, type[Algorithm]]:
    """The algorithms that have a notion of privacy, by name: by default those that need nothing but an epsilon.

    >>> import dpbench as dpb
    >>> dpb.algorithms.catalogue()["DAWA"].dimensions
    (1, 2)
    """
    chosen = known(notion, "notion of privacy", ("pure", "zCDP"))
    return {name: kind for name, kind in everything().items() if chosen in kind.notions}


@lru_cache(maxsize=1)
def everything() -> Mapping[str, type[Algorithm]]:
    """Every algorithm by name: those of this package, then those of installed plug-ins, whose code is loaded."""
    found = dict(ours())
    for point in installed():
        _add_point(found, point)
    return in_order(found)


@lru_cache(maxsize=1)
def ours() -> Mapping[str, type[Algorithm]]:
    """The algorithms of this package by name; nobody else's code is loaded."""
    found: dict[str, type[Algorithm]] = {}
    for module in iter_modules(__path__):
        contents = vars(import_module(f"{__name__}.{module.name}"))
        for kind in contents.values():
            if _is_algorithm(kind) and kind.__module__ == f"{__name__}.{module.name}":
                _add(found, kind)
    for point in entry_points(group=GROUP):
        if _is_ours(point):
            _add_point(found, point)
    return in_order(found)


def installed() -> list[EntryPoint]:
    """The entry points of other distributions, as they are written down; nothing is loaded."""
    return [point for point in entry_points(group=GROUP) if not _is_ours(point)]


def load_point(value: str) -> type[Algorithm]:
    """The algorithm of one entry point, ``MODULE:CLASS``; no other plug-in is loaded."""
    found: dict[str, type[Algorithm]] = {}
    _add_point(found, EntryPoint(value, value, GROUP))
    return next(iter(found.values()))


def ours_by_name(name: str) -> type[Algorithm] | None:
    """An algorithm of this package in any spelling; None where no such name is ours."""
    return _ours_folded().get(str(name).casefold())


@lru_cache(maxsize=1)
def _ours_folded() -> Mapping[str, type[Algorithm]]:
    return {known.casefold(): kind for known, kind in ours().items()}


def in_order(named: Mapping[str, Named]) -> dict[str, Named]:
    """In the order of the paper's Table 1; other algorithms follow by name."""
    place = {name: position for position, name in enumerate(PAPER_ORDER)}
    return dict(sorted(named.items(), key=lambda item: (place.get(item[0], len(place)), item[0])))


def names(notion: str = "pure") -> list[str]:
    """Names of the algorithms that have a notion of privacy, in the order of the paper's Table 1.

    >>> import dpbench as dpb
    >>> dpb.algorithms.names()[:4]
    ['Identity', 'Privelet', 'H', 'Hb']
    >>> "SquareRoot" in dpb.algorithms.names("zCDP")
    True
    """
    return list(catalogue(notion))


def get(name: str, *, variant: str = "private", **parameters: Any) -> Algorithm:
    """An algorithm by name, in its private or its published form, with any parameter replaced.

    >>> import dpbench as dpb
    >>> dpb.algorithms.get("hb").name
    'Hb'
    >>> dpb.algorithms.get("MWEM", rounds=5).rounds
    5
    """
    kind = ours_by_name(name) if isinstance(name, str) else None
    if kind is None and isinstance(name, str):  # only then is anybody else's code loaded
        kind = {known.casefold(): kind for known, kind in everything().items()}.get(name.casefold())
    if kind is None:
        raise UnknownName.among("algorithm", name, everything())
    kind._refuse_unknown(parameters)
    return kind(variant=variant, **parameters)  # type: ignore[arg-type]  # checked in __post_init__


def _is_algorithm(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Algorithm) and bool(kind.name)


def _is_ours(point: EntryPoint) -> bool:
    return point.module.split(".")[0] == __name__.split(".")[0]


def _add_point(found: dict[str, type[Algorithm]], point: EntryPoint) -> None:
    kind = point.load()
    if not _is_algorithm(kind):
        raise InvalidInput(f"entry point {point.name} = {point.value} is not a named Algorithm subclass")
    _add(found, kind)


def _add(found: dict[str, type[Algorithm]], kind: type[Algorithm]) -> None:
    other = found.get(kind.name)
    if other is not None and other is not kind:
        raise InvalidInput(
            f"two algorithms are named {kind.name!r}: {other.__module__} and {kind.__module__}; rename one"
        )
    found[kind.name] = kind
