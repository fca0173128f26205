"""What the audit said of the catalogue, and where budgets go: kept by revision, as it takes minutes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any

from dpbench import __version__, algorithms
from dpbench.algorithm import Algorithm
from dpbench.errors import DPBenchError
from dpbench.gallery.budget_use import BudgetUse
from dpbench.run.identity import algorithm_version

TIMEOUT = 1800.0
"""Seconds that the audit of one algorithm may take."""
NOTION_WORDS = {"pure": "pure DP", "zCDP": "zCDP"}
"""Notions of privacy as a reader sees them."""


def audit_words(reference: str) -> str:
    """The audit of an algorithm, run now, in one line that begins with "no leak found", "not examined" or "failed".

    A stranger's is run in a process of its own.
    """
    from dpbench.audit.examinations import Examination, examine  # what only looks needs none of it

    examination = Examination(reference, as_class=True)
    ((_, report),) = examine([examination], jobs=0, timeout=TIMEOUT)
    if isinstance(report, DPBenchError):
        return f"not examined: {report}"
    if not report.passed:
        return f"{'failed' if report.failures else 'not examined'}: {report.causes[0].cause}"
    ledgers = report.layer("ledger").figures["ledgers"]
    return f"no leak found in {report.tried()}; {ledgers} ledgers add up to the budget"


def kept_words(kind: type[Algorithm]) -> str:
    """What the audit said of an algorithm of the catalogue; nothing where another revision was audited."""
    return kept_of(kind)[0]


def kept_of(kind: type[Algorithm]) -> tuple[str, BudgetUse | None]:
    """The same, with the date and version of that audit, and where its budget goes; None where that is not known."""
    kept = _kept().get(kind.name, {})
    if kept.get("source") != algorithm_version(kind, kind().files):
        return "", None
    use = kept.get("budget_use")
    return f"{kept['words']} ({kept['made']})", None if use is None else BudgetUse.read(use)


def audit_catalogue() -> str:
    """Audit the catalogue; the file that comes with the package, as text."""
    kinds = algorithms.ours()
    made = f"audited on {datetime.now(UTC).date()} by dpbench {__version__}"
    found = {
        name: {
            "source": algorithm_version(kind, kind().files),
            "words": audit_words(name),
            "made": made,
            "budget_use": BudgetUse.of(kind()).plain(),
        }
        for name, kind in kinds.items()
    }
    return json.dumps(found, indent=1) + "\n"


@cache
def _kept() -> Mapping[str, Mapping[str, Any]]:
    found: Mapping[str, Mapping[str, Any]] = json.loads(
        files("dpbench.gallery").joinpath("audited.json").read_text(encoding="utf-8")
    )
    return found
