"""The public API, found by looking: every function, class, method and property that the reference page lists."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import dpbench as dpb

WORDS = "a text", "", "two\nlines"


@dataclass(frozen=True)
class Public:
    """Something that can be called, and the receiver that it is called on."""

    label: str
    call: Callable[..., Any]
    signature: inspect.Signature


def public_names(module: ModuleType) -> list[str]:
    """As ``docs/reference_pages.py`` lists them: ``__all__``, or what a module defines without an underscore."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return list(listed)
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]


def modules() -> Iterator[tuple[str, ModuleType]]:
    """The package and its public modules, by what their names begin with."""
    yield "", dpb
    for name in dpb.__all__:
        value = getattr(dpb, name)
        if inspect.ismodule(value):
            yield f"{name}.", value
            for inner in public_names(value):
                if inspect.ismodule(getattr(value, inner)):
                    yield f"{name}.{inner}.", getattr(value, inner)


def public() -> dict[str, Any]:
    """Every function and class by the first name that it has, but no exception."""
    found: dict[int, tuple[str, Any]] = {}
    for start, module in modules():
        for name in public_names(module):
            value = getattr(module, name)
            error = inspect.isclass(value) and issubclass(value, Exception)
            if callable(value) and not error:
                found.setdefault(id(value), (f"{start}{name}", value))
    return dict(found.values())


def members(kind: type) -> list[str]:
    """Methods and properties without an underscore."""
    return [name for name in dir(kind) if not name.startswith("_")]


if __name__ == "__main__":
    for label, value in public().items():
        print(label, inspect.isclass(value))
