"""What an audit found: one entry a layer, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Verdict = Literal["pass", "fail", "not run"]
LAYERS = ("conformance", "ledger", "sensitivity", "replay", "black box", "mechanisms")


@dataclass(frozen=True)
class Layer:
    """The outcome of one layer."""

    name: str
    """One of ``LAYERS``, or "samplers"."""
    verdict: Verdict
    cause: str = ""
    """Why it failed, or was not run, in words; empty where it passed."""
    figures: Mapping[str, Any] = field(default_factory=dict)
    """What was measured: calls replayed, the largest change beside the claim, the epsilon refuted, ..."""


@dataclass(frozen=True)
class AuditReport:
    """Everything that was found out about one algorithm."""

    name: str
    form: str
    """private, published, or plain function."""
    side_information: str | None
    layers: tuple[Layer, ...]
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    """What is no failure and worth knowing: that it prints, say."""

    @property
    def passed(self) -> bool:
        """Whether no layer failed."""
        return not self.failures

    @property
    def failures(self) -> tuple[Layer, ...]:
        """The layers that failed."""
        return tuple(layer for layer in self.layers if layer.verdict == "fail")

    def layer(self, name: str) -> Layer:
        """A layer by name."""
        return next(layer for layer in self.layers if layer.name == name)

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "passed": self.passed}
