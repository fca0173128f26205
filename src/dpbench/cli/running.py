"""Run what a store lacks of a plan: for verbs that run something in order to tell something of it."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dpbench.cli.arguments import jobs_of

if TYPE_CHECKING:
    from dpbench.run.execution import Agenda
    from dpbench.run.plan import Plan
    from dpbench.run.units import Unit
    from dpbench.store import Store


def fill(
    plan: Plan,
    chosen: argparse.Namespace,
    change: Callable[[Sequence[Unit]], Sequence[Unit]] = lambda units: units,
) -> tuple[Store, Agenda, int]:
    """The store with everything of the plan in it, what there was to do, and how many units failed.

    ``chosen`` has ``store``, ``jobs``, ``quiet`` and perhaps ``dask``; ``change`` is done to units before they run.
    """
    from dpbench.cli.versions import tell_changes
    from dpbench.progress import RunProgress
    from dpbench.run.execution import agenda, execute, record_changes
    from dpbench.run.executors import executor_for
    from dpbench.store import Store

    agenda(plan, None)  # whatever is wrong with the plan is said before a folder is made
    folder = chosen.store or os.path.join("dpbench-store", plan.name.replace("*", "-star"))  # noqa: PTH118
    store = Store(folder, create=True)
    todo = agenda(plan, store)
    if not chosen.quiet:
        tell_changes(todo, folder)
    if not todo.missing:
        record_changes(plan, store)
        return store, todo, 0
    with RunProgress(len(todo.missing), quiet=chosen.quiet) as progress:
        units = list(change(todo.missing))
        executor = executor_for(jobs_of(chosen), dask=getattr(chosen, "dask", None))
        outcome = execute(units, store, executor, plan=plan, measured=todo.measured, on_row=progress)
    return store, todo, len(outcome.failures)
