"""By which standards the results of a store are read: as the plans of its runs say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from dpbench.errors import InvalidInput, InvalidStore, shown
from dpbench.loss import label_of
from dpbench.standards import FORMER_TESTS, Standards


def recorded_standards(runs: Mapping[str, Mapping[str, Any]]) -> dict[str, Standards]:
    """The standards of every task, as the latest run of it has them; names of runs are in order of time."""
    return {
        task["name"]: _standards(task)
        for _, record in sorted(runs.items())
        for task in record.get("tasks", [])
        if "name" in task
    }


def common_standards(recorded: Mapping[str, Standards], tasks: Iterable[str], said: Mapping[str, Any]) -> Standards:
    """One standard for all of some tasks: what is said, or else what their plans agree on.

    Tasks that disagree cannot stand in one table unless somebody says how: to average an L1 error with an L2 error, or
    to call one algorithm competitive at two levels, would mean nothing.
    """
    chosen = dict(said)
    for part in (each.name for each in fields(Standards) if each.name not in said):
        values = {getattr(recorded.get(task, Standards()), part): task for task in sorted(tasks, reverse=True)}
        if len(values) > 1:
            words = " and ".join(f"{value} in the task {task}" for value, task in values.items())
            option = "baseline" if part == "baselines" else part
            raise InvalidStore(
                f"{part} is {words}; say by which to read them together (--{option}, or {part}=... in Results.open)"
            )
        chosen[part] = next(iter(values), getattr(Standards, part))
    return Standards(**chosen | {"loss": label_of(chosen["loss"])})


def _standards(task: Mapping[str, Any]) -> Standards:
    """The standards in the record of a task; what an older version did not record is as it is by default."""
    measuring, interpreting = task.get("measuring", {}), task.get("interpreting", {})
    test = interpreting.get("test", Standards.test)
    try:
        return Standards(
            loss=task.get("loss", Standards.loss),
            percentile=measuring.get("percentile", Standards.percentile),
            alpha=interpreting.get("alpha", Standards.alpha),
            baselines=interpreting.get("baselines", Standards.baselines),
            test=FORMER_TESTS.get(test, test),
        )
    except (InvalidInput, TypeError) as error:
        reason = str(error) if isinstance(error, InvalidInput) else f"test is {shown(test)}"
        raise InvalidStore(f"the record of the task {task['name']} has no standards to read by: {reason}") from None
