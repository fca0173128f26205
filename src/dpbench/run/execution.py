"""From a plan to a full store: do what is missing, keep what is done."""

from __future__ import annotations

import errno
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Protocol

from dpbench.errors import InvalidPlan, InvalidStore, RunStopped
from dpbench.results.recorded_standards import recorded_standards
from dpbench.run.costs import Measured, chunks, seconds_of
from dpbench.run.identity import IDENTITY
from dpbench.run.interruption import Interruption
from dpbench.run.plan import Plan, Skipped
from dpbench.run.provenance import code_state, command, machine
from dpbench.run.skipped import main_reason
from dpbench.run.units import Unit, describe
from dpbench.store import Row, Store
from dpbench.store.loss_versions import asked_for_losses
from dpbench.store.mixing import Register
from dpbench.store.versions import Form, asked_for, recorded


class Executor(Protocol):
    """Something that runs portions of units."""

    @property
    def jobs(self) -> int:
        """How many units it runs at once."""
        ...

    def rows(self, portions: list[list[Unit]]) -> Iterator[Row | None]:
        """Rows as they finish, in any order; None now and then while nothing comes."""
        ...

    def stop(self) -> None:
        """End at once, dropping what is under way."""
        ...


@dataclass(frozen=True)
class Changed:
    """An algorithm whose code is not what the last run asked for."""

    algorithm: str
    variant: str
    before: str
    now: str
    settings: int
    """Settings that the plan asks of it."""
    missing: int
    """Those of them that are to be run."""


@dataclass(frozen=True)
class Agenda:
    """What a plan amounts to, given what a store already holds."""

    units: list[Unit]
    """Everything that the plan asks for."""
    missing: list[Unit]
    done: int
    failed: int
    skipped: list[Skipped]
    measured: Measured
    changed: tuple[Changed, ...] = ()
    """Algorithms of which the last run asked for another version."""
    changed_losses: tuple[str, ...] = ()
    """Losses of which the last run asked for another version, by label."""

    @property
    def settings(self) -> int:
        """Settings that the plan asks for."""
        return len({unit.row().setting for unit in self.units})

    def seconds(self, jobs: int) -> float:
        """About how long the missing part takes."""
        return sum(seconds_of(unit, self.measured) for unit in self.missing) / jobs


def agenda(plan: Plan, store: Store | None, *, retry_failed: bool = False, shard: tuple[int, int] = (1, 1)) -> Agenda:
    """Find out what is missing; refuse to mix results on different data."""
    units, skipped = plan.work
    if not units:
        reason = main_reason(skipped) or "it names no dataset"
        advice = "see --list-skipped" if skipped else "name one with datasets, or --dataset"
        raise InvalidPlan(f"the plan {plan.file or plan.name} has nothing that can run ({reason}); {advice}")
    units = [unit for unit in units if _in_shard(unit, shard)]
    index = store.index() if store is not None else []
    _refuse_mixing(units, index, store)
    held: dict[str, list[tuple[int, int]]] = {}
    failures: set[tuple[str, int]] = set()
    for entry in _holding_losses(units, index):
        first = entry["first_trial"]
        if entry["failure"]:
            failures.add((entry["key"], first))
        else:
            held.setdefault(entry["key"], []).append((first, first + entry["trials"]))
    missing: list[Unit] = []
    done = failed = 0
    for unit in units:
        gaps = _gaps(held.get(unit.key, []), unit.trials)
        broken = [gap for gap in gaps if (unit.key, gap[0]) in failures]
        wanted = gaps if retry_failed else [gap for gap in gaps if gap not in broken]
        whole = wanted == [(0, unit.trials)]
        missing += [unit] if whole else [replace(unit, first_trial=a, trials=b - a) for a, b in wanted]
        done += not wanted
        failed += bool(broken)
    runs = store.runs() if store is not None else {}
    before = asked_for_losses(runs)
    losses = tuple(label for label, now in _loss_sources(units).items() if before.get(label, now) != now)
    changed = _changed(units, missing, asked_for(runs))
    return Agenda(units, missing, done, failed, skipped, _measured(store), changed, losses)


def _changed(units: list[Unit], missing: list[Unit], before: dict[Form, str]) -> tuple[Changed, ...]:
    """The algorithms of a plan of which the last run asked for another version."""
    named: dict[tuple[str, str, str, str], list[Unit]] = {}
    for unit in units:
        known = before.get(unit.form, unit.algorithm_source)
        if known != unit.algorithm_source:
            named.setdefault((*unit.form[:2], known, unit.algorithm_source), []).append(unit)
    left = {unit.key for unit in missing}
    return tuple(
        Changed(
            *names,
            settings=len({unit.row().setting for unit in found}),
            missing=len({unit.row().setting for unit in found if unit.key in left}),
        )
        for names, found in named.items()
    )


def _holding_losses(units: list[Unit], index: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries of a store that hold the loss which their unit asks for; a unit without it is run again."""
    wanted = {unit.key: unit.loss_name for unit in units}
    return [entry for entry in index if wanted.get(entry["key"]) in entry["losses"]]


def _gaps(held: list[tuple[int, int]], trials: int) -> list[tuple[int, int]]:
    """Which of the first ``trials`` trials are not there, as (first, after the last)."""
    gaps, reached = [], 0
    for first, stop in sorted(held):
        if reached < min(first, trials):
            gaps.append((reached, min(first, trials)))
        reached = max(reached, stop)
    return [*gaps, (reached, trials)] if reached < trials else gaps


def _in_shard(unit: Unit, shard: tuple[int, int]) -> bool:
    """Whether a unit belongs to part i of k; its data vector decides, so that a vector is made once."""
    part, parts = shard
    digest = sha256(repr((unit.task, *unit.vector, unit.seed)).encode()).digest()
    return int.from_bytes(digest[:8], "big") % parts == part - 1


def _refuse_mixing(units: list[Unit], index: list[dict[str, Any]], store: Store | None) -> None:
    if store is None or not index:
        return
    register = Register()
    for entry in index:
        register.differs(entry)
    for unit in units:
        differs = register.differs(vars(unit.row()))
        if differs and not any(record.get("identity") == IDENTITY for record in store.runs().values()):
            raise InvalidStore(
                f"{store.folder} was made by a version of dpbench that identified code in another way; "
                f"it can be read, and a run needs another --store"
            )
        if differs:
            raise InvalidStore(
                f"since the store was made there is another state of {differs}; results on different data are not "
                f"mixed: use another --store, or go back to that state"
            )


def _measured(store: Store | None) -> Measured:
    """Seconds per trial, by algorithm and domain, as a store has measured them."""
    if store is None or not store.shards():
        return {}
    table = store.table(["algorithm", "domain", "seconds", "l2"], every_version=True).to_pydict()
    totals: dict[tuple[str, str], tuple[float, int]] = {}
    for algorithm, domain, seconds, errors in zip(*table.values(), strict=True):
        spent, trials = totals.get((algorithm, domain), (0.0, 0))
        totals[algorithm, domain] = (spent + seconds, trials + len(errors))
    return {key: spent / trials for key, (spent, trials) in totals.items() if trials}


@dataclass
class RunSummary:
    """How a run went."""

    finished: int = 0
    failures: list[Row] = field(default_factory=list)
    wall: float = 0.0
    algorithm: float = 0.0
    """Seconds spent in algorithms, over all workers."""
    other: float = 0.0
    """Seconds spent on data vectors, answers and losses, over all workers."""

    def add(self, row: Row) -> None:
        """Count one more row."""
        self.finished += 1
        self.algorithm += row.seconds
        self.other += row.seconds_other
        if row.failure:
            self.failures.append(row)


class Shards:
    """Collects rows and writes them as shards: soon at first, then every fiftieth of the time gone by."""

    def __init__(self, store: Store, run: str) -> None:
        self._store = store
        self._run = run
        self._rows: list[Row] = []
        self._begin = self._last = time.monotonic()

    def add(self, row: Row | None) -> None:
        """Keep a row, and write if it is time."""
        if row is not None:
            self._rows.append(row)
        now = time.monotonic()
        if self._rows and now - self._last > max(1.0, 0.02 * (now - self._begin)):
            self.flush()

    def flush(self) -> None:
        """Write what there is."""
        if self._rows:
            try:
                self._store.append(self._rows, self._run)
            except OSError as error:
                raise _cannot_write(self._store, error) from None
            self._rows = []
        self._last = time.monotonic()


def _cannot_write(store: Store, error: OSError) -> RunStopped:
    if not store.folder.is_dir():
        return RunStopped(f"the store {store.folder} has gone; put it back, or run the same command to begin anew")
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        what, advice = f"the disk of {store.folder} is full", "free some space"
    else:
        what, advice = f"cannot write to {store.folder} ({describe(error)})", "make it writable"
    return RunStopped(f"{what}; everything stored so far is kept: {advice} and run the same command")


def record_run(plan: Plan, store: Store) -> str:
    """Keep what is run, by which command and code, in which versions, and by which standards it is read.

    The name of the run. Names are in order of time (UTC, to the microsecond): the latest run of a task says how its
    results are read, and in which versions.
    """
    run = f"{datetime.now(UTC).strftime('%Y%m%dT%H%M%S.%f')}-{uuid.uuid4().hex[:8]}"
    forms = {(unit.algorithm, unit.algorithm_source): unit for unit in plan.work[0]}
    record = {
        "plan": plan.name,
        "command": command(),
        "tasks": [task.to_dict() for task in plan.tasks],
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "machine": machine(),
        "code": code_state(),
        "identity": IDENTITY,
        "versions": recorded((unit.form, version) for (_, version), unit in forms.items()),
        "losses": _loss_sources(plan.work[0]),
    }
    try:
        store.record_run(run, record)
    except OSError as error:
        raise _cannot_write(store, error) from None
    return run


def record_changes(plan: Plan, store: Store) -> None:
    """Keep how a plan is read that has nothing to run: where the latest runs ask for other standards or versions."""
    runs = store.runs()
    standards, versions, losses = recorded_standards(runs), asked_for(runs), asked_for_losses(runs)
    if (
        any(standards.get(task.name) != task.standards for task in plan.tasks)
        or any(versions.get(unit.form) != unit.algorithm_source for unit in plan.work[0])
        or any(losses.get(label) != source for label, source in _loss_sources(plan.work[0]).items())
    ):
        record_run(plan, store)


def _loss_sources(units: Iterable[Unit]) -> dict[str, str]:
    """The versions of the losses that units ask for; those that every row holds have none."""
    return {unit.loss.label: unit.loss_source for unit in units if unit.loss_source}


def execute(
    units: Iterable[Unit],
    store: Store,
    executor: Executor,
    *,
    plan: Plan,
    measured: Measured | None = None,
    on_row: Callable[[Row], None] | None = None,
) -> RunSummary:
    """Run units and store their rows; whatever happens, rows that came back are stored.

    Who executes is the store's one writer meanwhile; a caller that already is, perhaps of a part, stays so.
    """
    with store.writing():
        return _execute(units, store, executor, plan, measured, on_row)


def _execute(
    units: Iterable[Unit],
    store: Store,
    executor: Executor,
    plan: Plan,
    measured: Measured | None,
    on_row: Callable[[Row], None] | None,
) -> RunSummary:
    run = record_run(plan, store)
    portions = chunks([replace(unit, run=run) for unit in units], measured, executor.jobs)
    outcome, shards, begin = RunSummary(), Shards(store, run), time.monotonic()
    try:
        with Interruption() as interruption:
            for row in executor.rows(portions):
                shards.add(row)
                if row is not None:
                    outcome.add(row)
                    if on_row is not None:
                        on_row(row)
                if interruption.asked:
                    raise KeyboardInterrupt
    except OSError as error:
        raise RunStopped(f"the run cannot go on ({describe(error)}); everything finished is stored") from None
    finally:
        executor.stop()
        shards.flush()
    outcome.wall = time.monotonic() - begin
    return outcome
