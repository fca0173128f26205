"""What an audit found: one entry a layer, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from dpbench.errors import CheckFailed

Verdict = Literal["pass", "fail", "not run"]
FOUND, NOTHING, UNKNOWN = "leak or fault found", "nothing found", "not examined"
"""What an audit comes to, as a reader sees it."""
LAYERS = ("conformance", "ledger", "sensitivity", "replay", "black box", "mechanisms")


class NotExamined(CheckFailed):
    """A check that did not come to its end: nothing was found, and nothing is known."""


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
    missing: bool = False
    """Not run although it should have been: it took too long, say."""


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
    def outcome(self) -> str:
        """One of three: a leak or a fault was found, nothing was found, or a layer that matters is missing."""
        if self.failures:
            return FOUND
        return UNKNOWN if any(layer.missing for layer in self.layers) else NOTHING

    @property
    def passed(self) -> bool:
        """Whether every layer that matters was examined and nothing was found."""
        return self.outcome == NOTHING

    @property
    def failures(self) -> tuple[Layer, ...]:
        """The layers that failed."""
        return tuple(layer for layer in self.layers if layer.verdict == "fail")

    @property
    def causes(self) -> tuple[Layer, ...]:
        """The layers that say why nothing else follows: those that failed, else those that are missing."""
        return self.failures or tuple(layer for layer in self.layers if layer.missing)

    def tried(self) -> str:
        """Describe what was tried without a finding; empty where nothing was replayed and nothing probed."""
        parts = [tried_words(layer) for layer in self.layers if layer.verdict == "pass"]
        return "; ".join(part for part in parts if part)

    def layer(self, name: str) -> Layer:
        """A layer by name."""
        return next(layer for layer in self.layers if layer.name == name)

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "passed": self.passed, "outcome": self.outcome, "tried": self.tried()}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> AuditReport:
        """A report from plain values, which may come from anywhere; ``ValueError`` where they are not one."""
        try:
            layers = tuple(
                Layer(
                    _text(each["name"]),
                    _choice(each["verdict"]),
                    _text(each["cause"]),
                    _mapping(each["figures"]),
                    bool(each["missing"]),
                )
                for each in values["layers"]
            )
            side = values["side_information"]
            if [layer.name for layer in layers if layer.name in LAYERS] != list(LAYERS):
                raise ValueError("a report has every layer once")
            return cls(
                _text(values["name"]),
                _text(values["form"]),
                None if side is None else _text(side),
                layers,
                float(values["seconds"]),
                tuple(map(_text, values["notes"])),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(str(error)) from None


def tried_words(layer: Layer) -> str:
    """What a layer that found nothing had tried; empty where that says nothing."""
    figures = layer.figures
    if layer.name == "replay" and figures.get("cases"):
        cells, epsilons = figures["cells"], figures["epsilons"]
        words = (
            f"{figures['cases']:,} random cases replayed (domains: {figures['domains']} of {cells[0]} to {cells[1]} "
            f"cells; epsilon {epsilons[0]:g} to {epsilons[1]:g}; {', '.join(figures['notions'])}; "
            f"{', '.join(figures['workloads'])})"
        )
        asked = figures.get("asked for", 0)
        words += f", of {asked:,} asked for, since the time was up" if figures["cases"] < asked // 2 else ""
        slow = figures.get("batches that took too long", 0)
        words += f", {slow} of the batches left out, as they took too long" if slow else ""
        kept_out = figures["domains kept out by supports()"]
        aside = figures["left aside, as different on the same counts too"]
        words += f", {kept_out} domains drawn kept out by supports()" if kept_out else ""
        return words + (f", {' and '.join(aside)} left aside: different on the same counts too" if aside else "")
    if layer.name == "black box" and "power" in figures:
        return (
            f"black box with {figures['runs a side']:,} runs per side: a loss of {figures['power']:.2f} at epsilon "
            f"{figures['epsilon']:g}, on an event as frequent as those that were tried, would have been found in 19 of "
            f"20 such examinations"
        )
    return ""


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is wanted")
    return "".join(letter for letter in value if letter.isprintable() or letter == "\n")


def _choice(value: object) -> Verdict:
    if value not in ("pass", "fail", "not run"):
        raise TypeError("a verdict is wanted")
    return value


def _mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("figures are wanted")
    return value
