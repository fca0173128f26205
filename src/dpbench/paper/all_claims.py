"""Every claim, in the order of the paper."""

from __future__ import annotations

from collections.abc import Callable

from dpbench.paper import (
    disagreements,
    figures,
    finding_4,
    findings_inputs,
    findings_practice,
    open_problems,
    price,
    since_2016,
    tables,
    unplotted,
)
from dpbench.paper.study import Study
from dpbench.paper.verdict import Claim, Verdict, judge


def all_claims() -> list[Claim]:
    """Tables, figures, findings, disagreements, what is not shown, the discussion."""
    modules = (tables, figures, findings_inputs, finding_4, findings_practice, disagreements, unplotted)
    found = [claim for module in modules for claim in module.claims()]
    return sorted(found, key=lambda claim: (_order(claim.group), not claim.headline))


def verdicts(study: Study, wanted: Callable[[str], bool] = lambda _: True) -> list[Verdict]:
    """Decide every claim whose group is wanted, in both settings: those of the paper, and then our own."""
    found = [judge(claim, study) for claim in all_claims() if wanted(claim.group)]
    found += price.verdicts(study) if wanted("beyond") else []
    return [*found, *since_2016.verdicts(study, wanted), *open_problems.verdicts(study, wanted)]


def _order(group: str) -> tuple[int, int]:
    kinds = ("table", "figure", "finding", "text", "not", "discussion", "beyond")
    kind, _, number = group.partition(" ")
    return kinds.index(kind), int(number) if number.isdigit() else 0
