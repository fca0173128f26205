"""Arrays for a browser: one compressed block of typed numbers, and where each array lies in it."""

from __future__ import annotations

import gzip
from base64 import b64encode
from typing import Any

import numpy as np
from numpy.typing import NDArray

ALIGNMENT = 8
"""A browser reads numbers of 8 bytes only at multiples of 8."""


class Block:
    """Arrays one after the other, each at its place."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, values: NDArray[Any], kind: str) -> list[Any]:
        """Append an array as ``f4``, ``f8``, ``u1`` or ``u2``; its kind, place and length."""
        packed = np.ascontiguousarray(values, dtype=f"<{kind}").tobytes()
        place = [kind, self._size, int(values.size)]
        padding = -len(packed) % ALIGNMENT
        self._parts.append(packed + bytes(padding))
        self._size += len(packed) + padding
        return place

    def text(self) -> str:
        """The whole block, compressed, as text. The same numbers give the same text.

        Level 3 takes 1.5 times as long and makes the study's blocks smaller by 0.6 %, level 9 4 times and by 1 %.
        """
        return b64encode(gzip.compress(b"".join(self._parts), compresslevel=1, mtime=0)).decode()
