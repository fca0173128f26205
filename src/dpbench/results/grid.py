"""Places and algorithms: which setting of some results stands where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import InvalidInput, shown
from dpbench.given import known
from dpbench.store.setting_key import Group, Place


@dataclass(frozen=True)
class Grid:
    """Settings by place and algorithm."""

    places: tuple[Place, ...]
    labels: tuple[str, ...]
    """Algorithms with their form, as in tables."""
    index: NDArray[np.int64]
    """``(places, labels)``: number of the setting, -1 where there is none."""

    def spread(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """One number per setting as ``(places, labels)``; NaN where there is no setting."""
        try:
            with np.errstate(over="ignore"):
                numbers = np.asarray(values, dtype=np.float64)
        except Exception:  # whatever is no array of numbers to numpy
            numbers = np.empty(())
        if numbers.ndim != 1 or 0 < len(numbers) <= self.index.max(initial=-1):
            raise InvalidInput(f"the numbers of the settings are {shown(values)}; give one number for each setting")
        if not len(numbers):
            return np.full(self.index.shape, np.nan)
        spread = numbers[self.index]
        return np.where(self.index >= 0, spread, np.nan)

    def column(self, name: str) -> NDArray[Any]:
        """One part of every place, such as the scale."""
        known(name, "part of a place", Place._fields)
        return np.array([getattr(place, name) for place in self.places])

    def groups(self) -> dict[Group, NDArray[np.int64]]:
        """Numbers of the places of each table; see :attr:`Place.group`."""
        found: dict[Group, list[int]] = {}
        for number, place in enumerate(self.places):
            found.setdefault(place.group, []).append(number)
        return {group: np.array(numbers) for group, numbers in found.items()}
