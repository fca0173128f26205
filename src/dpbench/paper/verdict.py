"""A claim of the paper is a function of measurements; a verdict is what it says of a study."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log10
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpbench.paper.study import Part, Study

REPRODUCED, DIFFERS, UNDECIDED = "reproduced", "differs", "cannot be decided"
HOLDS, REFUTED = "holds", "refuted"
"""The same of what is claimed by us."""


class Undecided(Exception):
    """Measurements do not suffice; the message says what is missing. Never leaves this package."""


@dataclass(frozen=True)
class Answer:
    """What measurements say of a claim."""

    ours: str
    """What was measured, in a few words."""
    holds: bool | None
    """Whether the claim holds; None where it cannot be decided."""
    why: str = ""
    """By how much it differs, or why it cannot be decided."""
    quantities: Mapping[str, Any] = field(default_factory=dict)
    rows: Sequence[Mapping[str, Any]] = ()
    """A table of the details."""

    def word(self, words: tuple[str, str] = (REPRODUCED, DIFFERS)) -> str:
        """The verdict in a word."""
        return UNDECIDED if self.holds is None else words[not self.holds]


@dataclass(frozen=True)
class Claim:
    """One thing that the paper says, and how it is decided in one setting of a study."""

    group: str
    """Where it belongs: "finding 3", "table 2", "figure 1", "text and plots", "not shown", "discussion", "beyond"."""
    claim: str
    source: str
    """Where the paper says it."""
    says: str
    decide: Callable[[Part], Answer]
    headline: bool = False
    """Whether it is the finding itself rather than a number that goes with it."""
    fixed: bool = False
    """Whether it depends on no measurement, so that the setting makes no difference."""
    words: tuple[str, str] = (REPRODUCED, DIFFERS)
    """What the verdict is called where it holds, and where it does not."""


@dataclass(frozen=True)
class Verdict:
    """A claim beside what was measured in the paper's setting and end-to-end private."""

    group: str
    claim: str
    source: str
    says: str
    ours: str
    private: str
    verdict: str
    private_verdict: str
    why: str
    private_why: str
    headline: bool
    quantities: Mapping[str, Any]
    private_quantities: Mapping[str, Any]
    rows: Sequence[Mapping[str, Any]] = ()
    private_rows: Sequence[Mapping[str, Any]] = ()


def judge(claim: Claim, study: Study) -> Verdict:
    """Decide one claim in both settings."""
    ours = _answer(claim, study.published)
    private = ours if claim.fixed else _answer(claim, study.private)
    return Verdict(
        group=claim.group,
        claim=claim.claim,
        source=claim.source,
        says=claim.says,
        ours=ours.ours,
        private=private.ours,
        verdict=ours.word(claim.words),
        private_verdict=private.word(claim.words),
        why=ours.why,
        private_why=private.why,
        headline=claim.headline,
        quantities=ours.quantities,
        private_quantities=private.quantities,
        rows=ours.rows,
        private_rows=private.rows,
    )


def _answer(claim: Claim, part: Part) -> Answer:
    try:
        return claim.decide(part)
    except Undecided as missing:
        return Answer("-", None, str(missing))


def close(ours: float, theirs: float, decades: float) -> tuple[bool, str]:
    """Whether two numbers differ by at most so much in log10, and by how much they differ otherwise."""
    fits = abs(log10(ours / theirs)) <= decades
    return fits, "" if fits else f"{100 * (ours / theirs - 1):+.0f} %"
