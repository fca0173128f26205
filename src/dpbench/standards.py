"""How errors are read: the parts of a task that act when results are measured and interpreted (L, E_M, E_I)."""

from __future__ import annotations

from dataclasses import dataclass


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
