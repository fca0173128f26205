"""The limit and the best known strategy as lines of a figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpbench.interpreting.limit_ratios import queries_of
from dpbench.measuring.yardstick import LOSS, Yardstick
from dpbench.results import Results
from dpbench.store.setting_key import Group

LIMIT = {"color": "black", "linewidth": 1.1, "linestyle": "-"}
BEST = LIMIT | {"linestyle": (0, (8, 3))}


def yardstick_lines(
    results: Results, yardsticks: Mapping[Group, Yardstick], scale: int
) -> list[tuple[str, float, dict[str, Any]]]:
    """Name, error and look of both at a scale of one table; nothing where they are not known."""
    group = results.grid.places[0].group
    known, queries = yardsticks.get(group), queries_of(results)[group]
    if known is None or not queries or results.standards.loss != LOSS:
        return []
    return [
        ("limit", known.scaled_limit(scale, queries), LIMIT),
        (f"best known ({known.algorithm})", known.scaled_best(scale, queries), BEST),
    ]


def yardstick_words(results: Results, yardsticks: Mapping[Group, Yardstick]) -> str:
    """Lines of a title that say what the lines are, short enough for the narrowest figure."""
    if not yardstick_lines(results, yardsticks, 1):
        return ""
    known = yardsticks[results.grid.places[0].group]
    return (
        f"\nsolid line: no unbiased strategy with {known.noise} noise is below"
        f"\nlong dashes: best known strategy ({known.algorithm})"
        f"\nboth are root mean squares; the mean of norms is at most that"
    )
