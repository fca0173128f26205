"""Names of a package that are imported when somebody first asks for them, since what they need is heavy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def on_first_use(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A package's ``__getattr__``: ``homes`` has the module within the package that each name is from.

    To be used where ``TYPE_CHECKING`` is false, so that a type checker finds a typo before anything runs.
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return find
