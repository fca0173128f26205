"""Run what a store lacks of a plan, as the options of a verb say."""

from __future__ import annotations

import argparse
from dataclasses import fields
from typing import TYPE_CHECKING

from dpbench.run.missing import Options, execute_missing, opened

if TYPE_CHECKING:
    from dpbench.run.execution import Agenda, RunSummary
    from dpbench.run.missing import Change
    from dpbench.run.plan import Plan
    from dpbench.store import Store


def run_options(chosen: argparse.Namespace) -> Options:
    """The options of a verb that say how a plan is run; those that it does not have are as usual."""
    return Options(**{each.name: getattr(chosen, each.name) for each in fields(Options) if hasattr(chosen, each.name)})


def fill(
    plan: Plan, chosen: argparse.Namespace, change: Change = lambda units: units
) -> tuple[Store, Agenda, RunSummary | None]:
    """The store with everything of the plan in it, what there was to do, and how the run went if there was one.

    ``change`` is done to units before they run.
    """
    from dpbench.cli.versions import report_changes

    options = run_options(chosen)
    with opened(plan, options) as (store, todo):
        if not options.quiet:
            report_changes(todo, str(store.folder))
        return store, todo, execute_missing(plan, todo, store, options, change)
