"""What names a setting: the one place where these columns are listed."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NamedTuple


@dataclass(frozen=True, kw_only=True)
class SettingKey:
    """A task's data, budget and workload, and the form of an algorithm on them."""

    task: str
    """Name of the task."""
    dataset: str
    """Name of the dataset."""
    domain: str
    """The domain, as in 128x128."""
    workload: str
    """The workload with its parameters."""
    scale: int
    """Number of records."""
    epsilon: float
    """Privacy budget; 0 where it is a rho."""
    algorithm: str
    """Name of the algorithm."""
    variant: str
    """private or published."""
    side_information: str
    """Where a declared scale came from; empty where none is declared."""
    parameters: str
    """Parameters that differ from the defaults, as JSON."""
    delta: float = 0.0
    """The delta beside epsilon; 0 for pure differential privacy."""
    rho: float = 0.0
    """Privacy budget in zCDP; 0 where it is an epsilon."""


SETTING = tuple(each.name for each in fields(SettingKey))
"""The columns that name a setting, in the order in which exports are sorted."""
IDENTITY = (*SETTING, "seed")
"""The same within a study: settings of one seed share their data vectors."""
BUDGET = ("epsilon", "delta", "rho")
"""The columns that say the budget; those that do not apply are 0 in memory, and empty wherever they are written."""


class Place(NamedTuple):
    """What algorithms are compared on: everything of a setting but the algorithm."""

    task: str
    dataset: str
    domain: str
    workload: str
    scale: int
    epsilon: float
    seed: int
    delta: float = 0.0
    rho: float = 0.0

    @property
    def group(self) -> Group:
        """What stays the same within one table: all but dataset and scale."""
        return Group(self.task, self.workload, self.domain, self.epsilon, self.seed, self.delta, self.rho)

    @property
    def words(self) -> str:
        """The place in one line."""
        return f"{self.dataset}, {self.workload} on {self.domain}, scale {self.scale:g}, {self.group.budget}"


class Group(NamedTuple):
    """What one table is about."""

    task: str
    workload: str
    domain: str
    epsilon: float
    seed: int
    delta: float = 0.0
    rho: float = 0.0

    @property
    def budget(self) -> str:
        """The budget in words."""
        return budget_words(self.epsilon, self.delta, self.rho)


def budget_of(group: object) -> dict[str, Any]:
    """The budget of whatever has its columns, as an algorithm takes it: epsilon, epsilon and delta, or rho."""
    return {name: value for name in BUDGET if (value := getattr(group, name))}


def budget_order(budget: tuple[float, float, float]) -> tuple[float, ...]:
    """Where a budget stands in a list: pure ones first, then those with a delta, then those of zCDP."""
    epsilon, delta, rho = budget
    return bool(rho) + bool(rho or delta), epsilon, delta, rho


def budget_words(epsilon: float, delta: float = 0.0, rho: float = 0.0) -> str:
    """A budget as captions name it; budgets of different notions never look alike."""
    if rho:
        return f"rho {rho:g} (zCDP)"
    return f"epsilon {epsilon:g}" + (f", delta {delta:g}" if delta else "")
