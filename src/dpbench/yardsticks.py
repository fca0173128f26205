"""Yardsticks of results: the limit and the best known strategy on every workload, domain and budget that they have."""

from __future__ import annotations

from functools import lru_cache

from dpbench.data_independent import yardstick
from dpbench.errors import DPBenchError
from dpbench.measuring.yardstick import Yardstick
from dpbench.results import Results
from dpbench.store.setting_key import Group, budget_of
from dpbench.task.parts import WorkloadPart


def yardsticks(results: Results) -> dict[Group, Yardstick]:
    """The yardstick of every table; none where the workload is somebody's file, which results know by name alone."""
    groups = dict.fromkeys(place.group for place in results.places)
    found = {group: _yardstick(group.workload, group.domain, tuple(budget_of(group).items())) for group in groups}
    return {group: each for group, each in found.items() if each is not None}


@lru_cache(maxsize=256)
def _yardstick(label: str, domain: str, budget: tuple[tuple[str, float], ...]) -> Yardstick | None:
    try:
        part = WorkloadPart.from_label(label)
        known = "file" not in dict(part.parameters)
        return yardstick(part.build(domain), **dict(budget)) if known else None
    except DPBenchError:
        return None
