"""What a stranger's file does beside its algorithm: it puts code of its own in place of ours, or waits for the end.

Replay and claims believe the package that they are made of, so nothing of it may be somebody else's.
"""

from __future__ import annotations

import atexit
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from types import BuiltinFunctionType, FunctionType
from typing import Any

PACKAGE = "dpbench"
BESIDE = ("numpy", "numpy.random", "math", "random", "fractions")
"""Modules of others whose names are looked at too, since ours draw and count with them."""
CODE = (FunctionType, BuiltinFunctionType, type, property, staticmethod, classmethod)
CONSTANTS = (bool, int, float, str, tuple, frozenset)
Code = Mapping[str, object]

_farewells: list[Callable[[], object]] = []


def code_of_the_package() -> Code:
    """Functions, classes, methods and constants of every module of this package that is loaded, by name."""
    found: dict[str, object] = {}
    for module in [name for name in sys.modules if name.split(".")[0] == PACKAGE or name in BESIDE]:
        for name, value in list(vars(sys.modules[module]).items()):
            if isinstance(value, CODE) or (isinstance(value, CONSTANTS) and name.isupper()):
                found[f"{module}.{name}"] = value
            if isinstance(value, type) and value.__module__ == module:
                own = {f"{module}.{name}.{each}": part for each, part in vars(value).items() if isinstance(part, CODE)}
                found.update(own)
    return found


def replaced_since(before: Code) -> str:
    """The first of the package's parts that is not what it was, in words; empty where all are."""
    now = code_of_the_package()
    for name, value in before.items():
        if name not in now or not (now[name] is value or _same_constant(now[name], value)):
            return f"{name}, which is not its own"
    return ""


def _same_constant(one: object, other: object) -> bool:
    return isinstance(one, CONSTANTS) and type(one) is type(other) and one == other


@contextmanager
def farewells_noted() -> Iterator[None]:
    """Remember what is registered meanwhile to be done when the process ends."""
    register = atexit.register

    def noted(function: Callable[..., Any], *arguments: Any, **named: Any) -> Callable[..., Any]:
        _farewells.append(partial(function, *arguments, **named))
        return register(function, *arguments, **named)

    atexit.register = noted  # type: ignore[assignment]
    try:
        yield
    finally:
        atexit.register = register


def farewells() -> Iterator[Callable[[], object]]:
    """What was registered, in the order in which it would be done; each once."""
    while _farewells:
        yield _farewells.pop()
