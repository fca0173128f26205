"""How errors are read: the parts of a task that act when results are measured and interpreted (L, E_M, E_I)."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from dpbench.errors import InvalidInput, UnknownName

TESTS = ("unpaired", "paired", "blocked", "percentile")
"""The tests that decide which algorithms are competitive."""
FORMER_TESTS = {"unpaired t, Bonferroni": "unpaired"}
"""What plans and records of earlier versions call a test."""


@dataclass(frozen=True, kw_only=True)
class Standards:
    """The loss, and the standards by which its values become statements."""

    loss: str = "L2"
    """L: label of the loss whose errors are read."""

    percentile: float = 95
    """E_M: the percentile of the error that a risk-averse user looks at, beside the mean."""

    alpha: float = 0.05
    """E_I: the level at which two errors count as different."""

    baselines: tuple[str, ...] = ("Identity", "Uniform")
    """E_I: the algorithms that every other one should beat."""

    test: str = "unpaired"
    """E_I: name of the test that decides which algorithms are competitive."""

    def __post_init__(self) -> None:
        for name, value, most in (("percentile", self.percentile, 100), ("alpha", self.alpha, 1)):
            if not (isinstance(value, int | float) and isfinite(value) and 0 < value < most):
                raise InvalidInput(f"{name} has the value {value!r}; give a number between 0 and {most}")
        if self.test not in TESTS:
            raise UnknownName.among("test", self.test, TESTS)
