"""Labels as short as they can be and still tell algorithms apart."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from dpbench.results.results import Results


def short_labels(results: Results) -> NDArray[Any]:
    """Labels without the marks of their form; in full where two would be the same."""
    short = {label: re.sub(r" \[[^\]]*\]$", "", label) for label in dict.fromkeys(results.labels.tolist())}
    number: dict[str, int] = {}
    for name in short.values():
        number[name] = number.get(name, 0) + 1
    return np.array([short[each] if number[short[each]] == 1 else each for each in results.labels], dtype=object)
