"""Plain data from the forked processes of an audit: no pickles, since a plug-in runs where they are written.

A value is JSON, and behind it the bytes of its arrays. It can hold numbers, texts, collections, arrays, and dataclasses
that the reader names. Nothing that is read runs any code.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Collection
from dataclasses import fields
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

SIMPLE = (type(None), bool, int, float, str)
"""What JSON has itself, to the last bit."""
NUMBERS = "biufcSUMm"
"""Kinds of arrays that are their bytes."""
_HEAD = struct.Struct("!Q")


class NotPlain(Exception):
    """A value that holds something else than plain data, or bytes that are none."""


def packed(value: Any, kinds: Collection[type] = ()) -> bytes:
    """A value as bytes; ``kinds`` are the dataclasses that it may hold."""
    behind: list[bytes] = []
    try:
        text = json.dumps(_written(value, behind, kinds)).encode()
    except (ValueError, RecursionError) as error:
        raise NotPlain(str(error)) from None
    return b"".join([_HEAD.pack(len(text)), text, *behind])


def unpacked(content: bytes, kinds: Collection[type] = ()) -> Any:
    """The value that bytes stand for."""
    try:
        (length,) = _HEAD.unpack_from(content)
        behind = _Behind(content, _HEAD.size + length)
        named = {each.__name__: each for each in kinds}
        value = _read(json.loads(content[_HEAD.size : _HEAD.size + length]), behind, named)
    except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError, MemoryError, struct.error) as error:
        raise NotPlain(str(error)) from None
    if behind.place != len(content):
        raise NotPlain("bytes that belong to nothing")
    return value


def _written(value: Any, behind: list[bytes], kinds: Collection[type]) -> Any:  # noqa: PLR0911  (one for each kind)
    """A value as JSON has it; whatever JSON lacks is a list that begins with a word."""

    def each(values: Any) -> list[Any]:
        return [_written(one, behind, kinds) for one in values]

    kind = type(value)
    if kind in SIMPLE:
        return value
    if kind in (list, tuple, set, frozenset):
        return [kind.__name__, each(value)]
    if kind is dict:
        return ["dict", each(value.keys()), each(value.values())]
    if kind is bytes:
        behind.append(value)
        return ["bytes", len(value)]
    if kind is Fraction:
        return ["Fraction", value.numerator, value.denominator]
    if kind is complex:
        return ["complex", value.real, value.imag]
    if kind is np.random.SeedSequence:
        return ["SeedSequence", *each((value.entropy, value.spawn_key, value.pool_size, value.n_children_spawned))]
    if kind is np.ndarray and value.dtype.kind == "O":
        return ["objects", list(value.shape), each(value.reshape(-1))]
    if (kind is np.ndarray or isinstance(value, np.generic)) and value.dtype.kind in NUMBERS:
        behind.append(value.tobytes())
        return ["array" if kind is np.ndarray else "scalar", value.dtype.str, list(value.shape)]
    if kind in kinds:
        return ["kind", kind.__name__, each(getattr(value, field.name) for field in fields(kind))]
    raise NotPlain(f"it holds a {kind.__name__}")


class _Behind:
    """The bytes behind the JSON, which are taken one after the other."""

    def __init__(self, content: bytes, place: int) -> None:
        self.content = content
        self.place = place

    def take(self, length: int) -> bytes:
        """So many of them."""
        start, self.place = self.place, self.place + length
        if length < 0 or self.place > len(self.content):
            raise ValueError("bytes are missing")
        return self.content[start : self.place]


def _read(written: Any, behind: _Behind, kinds: dict[str, type]) -> Any:  # noqa: PLR0911  (one for each kind)
    """What JSON stands for."""

    def each(values: Any) -> list[Any]:
        return [_read(one, behind, kinds) for one in values]

    if type(written) in SIMPLE:
        return written
    word, *parts = written
    if word in ("list", "tuple", "set", "frozenset"):
        return {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}[word](each(parts[0]))
    if word == "dict":
        return dict(zip(each(parts[0]), each(parts[1]), strict=True))
    if word == "bytes":
        return behind.take(parts[0])
    if word == "Fraction":
        return Fraction(*map(int, parts))
    if word == "complex":
        return complex(*parts)
    if word == "SeedSequence":
        entropy, key, size, children = each(parts)
        return np.random.SeedSequence(entropy, spawn_key=key, pool_size=size, n_children_spawned=children)
    if word == "objects":
        found = np.empty(len(parts[1]), dtype=object)
        found[:] = each(parts[1])
        return found.reshape(parts[0])
    if word in ("array", "scalar"):
        dtype = np.dtype(parts[0])
        if dtype.kind not in NUMBERS:
            raise ValueError(f"an array of {dtype}")
        numbers = np.frombuffer(behind.take(dtype.itemsize * prod(parts[1])), dtype).reshape(parts[1])
        return numbers.copy() if word == "array" else numbers[()]
    if word == "kind":
        return kinds[parts[0]](*each(parts[1]))
    raise ValueError(f"the word {word!r}")
