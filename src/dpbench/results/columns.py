"""Some rows of a table by columns, each gathered when somebody asks for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


class RowsOf(Mapping[str, NDArray[Any]]):
    """The rows of some columns that have the given numbers, in the order of the numbers."""

    def __init__(self, whole: Mapping[str, NDArray[Any]], numbers: NDArray[np.int64]) -> None:
        self._whole = whole
        self._numbers = numbers
        self._gathered: dict[str, NDArray[Any]] = {}

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._gathered:
            self._gathered[name] = self._whole[name][self._numbers]
        return self._gathered[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole)

    def __len__(self) -> int:
        return len(self._whole)
