"""Run a plan from Python, as ``dpbench run`` does."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from typing import Any

from dpbench.domain import Domain
from dpbench.errors import InvalidPlan, shown
from dpbench.given import as_path, known, of_kind, real, whole
from dpbench.results import Results
from dpbench.run.executors.system import memory_of_plugins
from dpbench.run.missing import TIMEOUT, Options, execute_missing, opened
from dpbench.run.plan import Plan, narrow
from dpbench.run.suites import load_plan
from dpbench.task.parts import listed
from dpbench.task.task import Task

PARTS = ("samples", "trials", "seed", "loss", "variant", "side_information")
MOST_JOBS = 4096


def run_plan(
    plan: str | PathLike[str] | Task | Plan,
    store: str | PathLike[str] | None = None,
    *,
    algorithms: Sequence[str] = (),
    added: Sequence[str] = (),
    datasets: Sequence[str] = (),
    domains: Sequence[str] = (),
    scales: Sequence[float] = (),
    epsilons: Sequence[float] = (),
    deltas: Sequence[float] = (),
    rhos: Sequence[float] = (),
    jobs: int | None = None,
    timeout: float = TIMEOUT,
    memory: float | None = None,
    dask: str | None = None,
    quiet: bool = True,
    **parts: Any,
) -> Results:
    """Run what a store lacks of a plan, and return all results of that store.

    ``plan`` is a suite by name, a TOML file, or a task. The lists restrict or replace parts of it as the options of
    ``dpbench run`` do; ``added`` names further algorithms (``"mine.py:Mine"``). ``parts`` are samples, trials, seed,
    loss, variant and side_information. The store is ``dpbench-store/PLAN`` unless given, what it holds is not run
    again, and results are the same bytes as the command's. With worker processes (``jobs``, one per core unless
    given), call this from below ``if __name__ == "__main__":``, or in a notebook.

    >>> import tempfile
    >>> import dpbench as dpb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     dpb.run_plan(
    ...         "demo", folder, algorithms=["Identity", "Hb"], datasets=["bimodal"], domains=["64"], scales=[1000],
    ...         samples=1, trials=2, jobs=0,
    ...     )
    <Results: 2 settings: 2 algorithms, 1 dataset, 1 domain, 1 scale, 1 epsilon>
    """
    for name in parts:
        known(name, "part of a plan", PARTS)
    numbers = {"scales": scales, "epsilons": epsilons, "deltas": deltas, "rhos": rhos}
    scales, epsilons, deltas, rhos = (listed(what, each) for what, each in numbers.items())
    folder = None if store is None else fspath(as_path(store, "the store"))
    of_kind(quiet, bool, "quiet", "True")
    if jobs is not None:
        whole(jobs, "jobs", 0, MOST_JOBS)
    if dask is not None:
        of_kind(dask, str, "the address of a cluster", "'tcp://127.0.0.1:8786'")
    for name, number in (("timeout", timeout), ("memory", memory)):
        if number is not None:
            real(number, name, "a positive number")
    options = Options(store=folder, jobs=jobs, timeout=timeout, memory=memory, dask=dask, quiet=quiet)
    with memory_of_plugins(options.bytes_of_memory):
        narrowed = narrow(
            _plan(plan),
            algorithm=_names("algorithms", algorithms),
            added=_names("added", added),
            dataset=_names("datasets", datasets),
            domain=[str(Domain.of(each)) for each in listed("domains", domains)],
            scale=scales,
            epsilon=epsilons,
            delta=deltas,
            rho=rhos,
            **parts,
        )
        with opened(narrowed, options) as (kept, todo):
            execute_missing(narrowed, todo, kept, options)
    return Results.from_store(kept)


def _plan(given: str | PathLike[str] | Task | Plan) -> Plan:
    if isinstance(given, Plan):
        return given
    if isinstance(given, Task):
        return Plan(name=given.name, tasks=(given,))
    if isinstance(given, str | PathLike):
        return load_plan(given if isinstance(given, str) else fspath(as_path(given, "the plan", InvalidPlan)))
    raise InvalidPlan(f"the plan is {shown(given)}; give the name of a suite, a TOML file or a task")


def _names(what: str, given: Sequence[str]) -> list[str]:
    if isinstance(given, str):
        raise InvalidPlan(f"{what} is {shown(given)}; give a list of names")
    names = listed(what, given)
    for each in names:
        if not isinstance(each, str):
            raise InvalidPlan(
                f"{what} holds {shown(each)}, which is no name; write names, or FILE.py:Class for your own"
            )
    return list(names)
