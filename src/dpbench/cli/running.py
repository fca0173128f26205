"""Run what a store lacks of a plan: one way to open the store and one to execute, for every verb that runs."""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dpbench.cli.arguments import jobs_of

if TYPE_CHECKING:
    from dpbench.run.execution import Agenda, RunSummary
    from dpbench.run.plan import Plan
    from dpbench.run.units import Unit
    from dpbench.store import Store

    Change = Callable[[Sequence[Unit]], Sequence[Unit]]

TIMEOUT = 1800.0
"""Seconds that a unit may take where nobody says otherwise."""

QUICK = 0.5
"""Seconds, about, that our algorithms may take for workers to be slower than none: to start one takes as long."""


def fill(
    plan: Plan, chosen: argparse.Namespace, change: Change = lambda units: units
) -> tuple[Store, Agenda, RunSummary | None]:
    """The store with everything of the plan in it, what there was to do, and how the run went if there was one.

    ``chosen`` has ``store``, ``jobs``, ``quiet`` and perhaps the other options of ``dpbench run``; ``change`` is done
    to units before they run.
    """
    from dpbench.cli.versions import report_changes

    with opened(plan, chosen) as (store, todo):
        if not chosen.quiet:
            report_changes(todo, str(store.folder))
        return store, todo, execute_missing(plan, todo, store, chosen, change)


def store_folder(plan: Plan, chosen: argparse.Namespace) -> str:
    """The store that was named, or a folder of the plan's name inside the current one, whatever that name is."""
    name = re.sub(r"[^\w.-]+", "-", plan.name.replace("*", "-star")).strip(".-") or "plan"
    return chosen.store or os.path.join("dpbench-store", name)  # noqa: PTH118


@contextmanager
def opened(plan: Plan, chosen: argparse.Namespace) -> Iterator[tuple[Store, Agenda]]:
    """The store of a plan, made where it is not there and without damaged shards, and what it lacks.

    Within the block nobody else writes what the plan asks for: another run has to wait, and finds it done.
    """
    from dpbench.run.execution import agenda
    from dpbench.store import Store

    agenda(plan, None)  # whatever is wrong with the plan is said before a folder is made
    store = Store(store_folder(plan, chosen), create=True)
    retry, shard = getattr(chosen, "retry_failed", False), getattr(chosen, "shard", (1, 1))
    with store.writing(shard):
        _put_damage_aside(store)
        yield store, agenda(plan, store, retry_failed=retry, shard=shard)


def execute_missing(
    plan: Plan, todo: Agenda, store: Store, chosen: argparse.Namespace, change: Change = lambda units: units
) -> RunSummary | None:
    """Run what is missing, on the executor that the options choose; None where nothing is."""
    from dpbench.progress import RunProgress
    from dpbench.run.execution import execute, record_changes
    from dpbench.run.executors import executor_for

    if not todo.missing:
        record_changes(plan, store)
        return None
    _prepare(plan, quiet=chosen.quiet)
    given, dask = getattr(chosen, "memory", None), getattr(chosen, "dask", None)
    timeout = getattr(chosen, "timeout", TIMEOUT)
    quick = chosen.jobs is None and given is None and timeout == TIMEOUT and todo.seconds(1) < QUICK
    jobs = 0 if quick else jobs_of(chosen)
    memory = int(given * 2**30) if given else _machine_memory() * 9 // (10 * max(jobs, 1))
    executor = executor_for(jobs, dask=dask, timeout=timeout, memory=memory)
    units = list(change(todo.missing))
    with RunProgress(len(units), quiet=chosen.quiet) as progress:
        try:
            return execute(units, store, executor, plan=plan, measured=todo.measured, on_row=progress)
        except KeyboardInterrupt:
            sys.stderr.write("\nstopped; everything finished is stored: run the same command to go on\n")
            raise


def _put_damage_aside(store: Store) -> None:
    from contextlib import suppress

    for damage in store.damage():
        there, aside = damage.path.exists(), damage.path
        with suppress(FileNotFoundError):  # a run of another part of the study was quicker
            aside = store.quarantine(damage)
        kept = f"put aside as {aside.name}, " if there else ""
        sys.stderr.write(f"dpbench: {damage.path.name} is {damage.reason}; {kept}what it held is run again\n")


def _machine_memory() -> int:
    """Bytes of memory that the machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _prepare(plan: Plan, *, quiet: bool) -> None:
    """Compile kernels and compute what depends on workloads alone, once, before workers start."""
    from importlib import import_module
    from pkgutil import iter_modules

    from dpbench.mathematics.kernel_cache import KERNELS, is_warm

    begin = time.monotonic()
    for module in () if is_warm() else iter_modules([str(KERNELS)]):
        if module.name != "__main__":
            import_module(f"dpbench.mathematics.kernels.{module.name}")
    if not quiet and time.monotonic() - begin > 5:
        sys.stderr.write(f"kernels are ready after {time.monotonic() - begin:.0f} s (kept on disk)\n")
    for algorithm, domain, workload in plan.preparations():
        begin = time.monotonic()
        algorithm.prepare(workload)
        if not quiet and time.monotonic() - begin > 1:
            sys.stderr.write(
                f"prepared {algorithm.name} for {workload.name} on {domain} in {time.monotonic() - begin:.0f} s\n"
            )
