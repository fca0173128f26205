"""Run what a store lacks of a plan: one way to open the store and one to execute, for every verb that runs."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpbench.errors import InvalidInput
from dpbench.run.executors.system import can_fork, memory_share

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


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a plan is run: none of it changes a result."""

    store: str | None = None
    """The folder of the store; one named after the plan, in ``dpbench-store``, unless given."""
    jobs: int | None = None
    """Worker processes, one per core unless given; 0: in this process."""
    quiet: bool = False
    """No progress on stderr."""
    timeout: float = TIMEOUT
    """Seconds that a unit may take."""
    memory: float | None = None
    """Gigabytes that a worker may use; its share of the machine's unless given."""
    dask: str | None = None
    """Address of a dask cluster to run on."""
    retry_failed: bool = False
    """Whether failed units are run again."""
    shard: tuple[int, int] = (1, 1)
    """Part I of K, for job arrays."""

    def __post_init__(self) -> None:
        if self.timeout <= 0 or (self.memory is not None and self.memory <= 0):
            raise InvalidInput(
                "--timeout and --memory take positive numbers; write for example --timeout 600 --memory 2"
            )

    @property
    def bytes_of_memory(self) -> int | None:
        """Bytes that a worker may use; None where none are given."""
        return None if self.memory is None else int(self.memory * 2**30)

    @property
    def processes(self) -> int:
        """Worker processes: those asked for, or one per core; none where a process cannot fork."""
        if self.jobs is not None:
            return self.jobs
        return (os.cpu_count() or 1) if can_fork() else 0


def store_folder(plan: Plan, options: Options) -> str:
    """The store that was named, or a folder of the plan's name inside the current one, whatever that name is."""
    name = re.sub(r"[^\w.-]+", "-", plan.name.replace("*", "-star")).strip(".-") or "plan"
    return options.store or os.path.join("dpbench-store", name)  # noqa: PTH118


@contextmanager
def opened(plan: Plan, options: Options) -> Iterator[tuple[Store, Agenda]]:
    """The store of a plan, made where it is not there and without damaged shards, and what it lacks.

    Within the block nobody else writes what the plan asks for: another run has to wait, and finds it done.
    """
    from dpbench.run.execution import agenda
    from dpbench.store import Store

    agenda(plan, None)  # whatever is wrong with the plan is said before a folder is made
    store = Store(store_folder(plan, options), create=True)
    with store.writing(options.shard):
        _put_damage_aside(store)
        yield store, agenda(plan, store, retry_failed=options.retry_failed, shard=options.shard)


def execute_missing(
    plan: Plan, todo: Agenda, store: Store, options: Options, change: Change = lambda units: units
) -> RunSummary | None:
    """Run what is missing, on the executor that the options choose; None where nothing is."""
    from dpbench.progress import RunProgress
    from dpbench.run.costs import TimeLeft
    from dpbench.run.execution import execute, record_changes
    from dpbench.run.executors import executor_for

    if not todo.missing:
        record_changes(plan, store)
        return None
    _prepare(plan, quiet=options.quiet)
    quick = options.jobs is None and options.memory is None and options.timeout == TIMEOUT and todo.seconds(1) < QUICK
    jobs = 0 if quick else options.processes
    memory = options.bytes_of_memory or memory_share(jobs)
    executor = executor_for(jobs, dask=options.dask, timeout=options.timeout, memory=memory)
    units = list(change(todo.missing))
    left = TimeLeft(units, todo.measured, executor.jobs)
    with RunProgress(len(units), quiet=options.quiet, estimate=left) as progress:
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
        algorithm._prepare(workload)
        if not quiet and time.monotonic() - begin > 1:
            sys.stderr.write(
                f"prepared {algorithm.name} for {workload.name} on {domain} in {time.monotonic() - begin:.0f} s\n"
            )
