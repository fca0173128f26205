"""What was asked for by name and a plan does not run."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

from dpbench.domain import Domain
from dpbench.run import source_data
from dpbench.run.plan import Plan, Skipped


def named_in_file(reference: str, plan: Plan) -> dict[str, list[str]]:
    """The algorithms, datasets and domains that a plan's file names itself; none of those that its base brings."""
    parts = tomllib.loads(Path(reference).read_text(encoding="utf-8-sig")) if reference.endswith(".toml") else {}
    keys = {key for task in parts.get("tasks", [parts]) for key in (*task, *task.get("generator", {}))}
    listed = {
        "algorithms": [part.name for task in plan.tasks for part in task.algorithms],
        "datasets": [str(name) for task in plan.tasks for name in task.datasets],
        "domains": [str(domain) for task in plan.tasks for domain in task.generator.domains],
    }
    return {what: names if what in keys else [] for what, names in listed.items()}


def skipped_by_name(
    plan: Plan, algorithms: Sequence[str], datasets: Sequence[str], domains: Sequence[str]
) -> dict[str, str]:
    """Return what was named and runs nowhere, or a named pair of dataset and domain that do not fit, with the reason.

    A suite may have tasks on one and on two axes: what was named and runs in one of them is not skipped.
    """
    units, skipped = plan.work
    asked = {
        "algorithm": [plan.named(name) for name in algorithms],
        "dataset": [(found.name, found.name) for found in map(source_data.find, datasets)],
        "domain": [(str(found), str(found)) for found in map(Domain.of, domains)],
    }
    run = {
        "algorithm": {unit.reference for unit in units},
        "dataset": {unit.data.name for unit in units},
        "domain": {unit.domain for unit in units},
    }
    found: dict[str, str] = {}
    for what, named in asked.items():
        for reference, name in named:
            if reference not in run[what]:
                found[name] = _reason(skipped, what, reference, name)
    pairs = {(unit.data.name, unit.domain) for unit in units}
    names = {what: [name for _, name in named] for what, named in asked.items()}
    for each in skipped:
        by_name = each.dataset in names["dataset"] or each.domain in names["domain"]
        if by_name and (each.dataset, each.domain) not in pairs and not {each.dataset, each.domain} & found.keys():
            found[f"{each.dataset} at {each.domain}"] = each.reason
    return found


def main_reason(skipped: Iterable[Skipped]) -> str:
    """Return why nothing of this runs: where a dataset fits a domain, what is amiss with the algorithm."""
    reasons = {each.fits: each.reason for each in reversed([*skipped])}
    return reasons.get(True) or reasons.get(False, "")


def _reason(skipped: Sequence[Skipped], what: str, reference: str, name: str) -> str:
    """Return why what was named runs nowhere."""
    key = {"algorithm": "reference"}.get(what, what)
    other = {"domain": "dataset"}.get(what, "domain")
    return main_reason(each for each in skipped if getattr(each, key) == reference) or (
        f"no task of the plan has the axes of the {what} {name} and a {other} with as many"
    )
