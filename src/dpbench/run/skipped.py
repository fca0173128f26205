"""What somebody asked for by name and a plan does not run."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path

from dpbench.domain import Domain
from dpbench.run import source_data
from dpbench.run.plan import Plan


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
    """What was named and runs nowhere, or a named pair of dataset and domain that do not fit, each with the reason.

    A suite may have tasks on a line and in the plane: what was named and runs in one of them is not skipped.
    """
    units, skipped = plan.work
    asked = {
        "algorithm": [plan.name_of(name) for name in algorithms],
        "dataset": [source_data.find(name).name for name in datasets],
        "domain": [str(Domain.of(written)) for written in domains],
    }
    run = {
        "algorithm": {unit.algorithm.name for unit in units},
        "dataset": {unit.data.name for unit in units},
        "domain": {unit.domain for unit in units},
    }
    found: dict[str, str] = {}
    for what, names in asked.items():
        for name in names:
            if name not in run[what]:
                reasons = [each.reason for each in skipped if getattr(each, what).split(" [")[0].split("(")[0] == name]
                found[name] = reasons[0] if reasons else f"no task of the plan has the axes of the {what} {name}"
    pairs = {(unit.data.name, unit.domain) for unit in units}
    for each in skipped:
        named = each.dataset in asked["dataset"] or each.domain in asked["domain"]
        if named and (each.dataset, each.domain) not in pairs and not {each.dataset, each.domain} & found.keys():
            found[f"{each.dataset} at {each.domain}"] = each.reason
    return found
