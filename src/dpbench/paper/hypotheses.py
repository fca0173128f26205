"""What was expected before it was looked at (``data/hypotheses.toml``), and how it becomes a verdict."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from dpbench.paper.study import Study
from dpbench.paper.verdict import HOLDS, REFUTED, Answer, Claim, Verdict, judge

SINCE, PROBLEM = "since 2016", "open problem"
"""Groups of claims that are ours and not the paper's."""
Numbers = Mapping[str, Any]
Decide = Callable[[Study, Numbers], Answer]


@dataclass(frozen=True)
class Hypothesis:
    """What we say, and the numbers that would refute it."""

    group: str
    name: str
    claim: str
    says: str
    """What is expected, with its numbers."""
    at: Numbers
    """The same numbers, to decide by."""
    known: str
    """What its author knew when the numbers were fixed."""


@cache
def hypotheses() -> tuple[Hypothesis, ...]:
    """All of them, in order."""
    text = files("dpbench.paper").joinpath("data", "hypotheses.toml").read_text(encoding="utf-8")
    return tuple(Hypothesis(**each) for each in tomllib.loads(text)["hypothesis"])


def is_ours(group: str) -> bool:
    """Whether a group of claims is ours and not the paper's."""
    return group.startswith((SINCE, PROBLEM))


def decided(study: Study, deciding: Mapping[str, Decide], wanted: Callable[[str], bool]) -> list[Verdict]:
    """A verdict on every hypothesis that one of the functions decides, if its group is wanted."""
    found = []
    for each in hypotheses():
        if each.name in deciding and wanted(each.group):
            decide = deciding[each.name]
            claim = Claim(
                each.group, each.claim, f"known before: {each.known}", each.says,
                lambda _, decide=decide, at=each.at: decide(study, at),  # type: ignore[misc]  # bound in the loop
                fixed=True, words=(HOLDS, REFUTED),
            )  # fmt: skip
            found.append(judge(claim, study))
    return found
