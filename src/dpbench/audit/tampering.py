"""Code of a stranger's in place of ours: replay and claims believe the package that they are made of."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import BuiltinFunctionType, FunctionType

PACKAGE = "dpbench"
BESIDE = ("numpy", "numpy.random", "math", "random", "fractions")
"""Modules of others whose names are looked at too, since ours draw and count with them."""
CODE = (FunctionType, BuiltinFunctionType, type, property, staticmethod, classmethod)
CONSTANTS = (bool, int, float, str, tuple, frozenset)
Code = Mapping[str, object]


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
