"""What an object holds, as a hash that does not depend on where in memory anything is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from hashlib import sha256
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic)
CODE = (type, FunctionType, BuiltinFunctionType, MethodType, ModuleType)
"""What holds no results of a run."""
DEEPEST = 12
"""Objects within objects; what is deeper is not looked at."""
LARGEST = 1 << 22
"""Bytes of an array that are hashed; what is behind them is not looked at."""


def contents(value: object) -> str:
    """A hash of what a value holds: numbers, texts, arrays, collections, and the attributes of any other object."""
    digest = sha256()
    for part in _parts(value, {}, 0):
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def _parts(value: Any, seen: dict[int, Any], depth: int) -> Iterator[bytes]:
    yield type(value).__qualname__.encode()
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        yield f"{value.shape} {value.dtype.str}".encode()
        flat = value.reshape(-1)
        yield np.ascontiguousarray(flat[: LARGEST // max(value.itemsize, 1)]).tobytes()
    elif isinstance(value, PLAIN):
        yield repr(value).encode()
    elif not isinstance(value, CODE) and id(value) not in seen and depth <= DEEPEST:
        seen[id(value)] = value  # kept, so that nothing else gets its number
        for part in _held(value):
            yield from _parts(part, seen, depth + 1)


def _held(value: Any) -> Iterator[Any]:
    """What a collection holds, or the attributes of an object; sets in an order of their own."""
    if isinstance(value, Mapping):
        for name in value:
            yield name
            yield value[name]
    elif isinstance(value, AbstractSet):
        yield from sorted(map(contents, value))
    elif isinstance(value, list | tuple | np.ndarray):
        yield from value
    else:
        yield from _held(getattr(value, "__dict__", {}))
        for kind in type(value).__mro__:
            named = vars(kind).get("__slots__", ())
            for name in (named,) if isinstance(named, str) else tuple(named):
                hidden = name.startswith("__") and not name.endswith("__")
                yield getattr(value, f"_{kind.__name__.lstrip('_')}{name}" if hidden else name, None)
