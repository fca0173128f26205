"""From a plan to a full store: do what is missing, keep what is done."""

from __future__ import annotations

import errno
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Protocol

from dpbench.errors import InvalidPlan, InvalidStore, RunStopped
from dpbench.experiment.costs import Measured, chunks, seconds_of
from dpbench.experiment.plan import Plan, Skipped
from dpbench.experiment.provenance import code_state, machine
from dpbench.experiment.unit import Bench, Unit
from dpbench.store import Row, Store

SOURCES = {
    "algorithm_source": "the code of {algorithm}",
    "dataset_source": "the dataset {dataset}",
    "generator_source": "the code that makes data vectors and errors",
}


class Executor(Protocol):
    """Something that runs portions of units."""

    def rows(self, portions: list[list[Unit]]) -> Iterator[Row | None]:
        """Rows as they finish, in any order; None now and then while nothing comes."""
        ...

    def stop(self) -> None:
        """End at once, dropping what is under way."""
        ...


class Serial:
    """Runs units in this process, one after the other: for looking closely, without any containment."""

    def __init__(self) -> None:
        self._bench = Bench()

    def rows(self, portions: list[list[Unit]]) -> Iterator[Row | None]:
        """Rows in order."""
        for portion in portions:
            for unit in portion:
                yield self._bench.run(unit)

    def stop(self) -> None:
        """Nothing runs beside us."""


@dataclass(frozen=True)
class Agenda:
    """What a plan amounts to, given what a store already holds."""

    missing: list[Unit]
    done: int
    failed: int
    skipped: list[Skipped]
    measured: Measured

    @property
    def settings(self) -> int:
        """Settings of which something is missing."""
        return len({unit.row().setting for unit in self.missing})

    def seconds(self, jobs: int) -> float:
        """About how long the missing part takes."""
        return sum(seconds_of(unit, self.measured) for unit in self.missing) / jobs


def agenda(plan: Plan, store: Store | None, *, retry_failed: bool = False, shard: tuple[int, int] = (1, 1)) -> Agenda:
    """Find out what is missing; refuse to mix results of different code or data."""
    units, skipped = plan.units()
    if not units:
        reason = f" ({skipped[0].reason})" if skipped else ""
        raise InvalidPlan(f"the plan {plan.name} has nothing that can run{reason}; see --list-skipped")
    units = [unit for unit in units if _in_shard(unit, shard)]
    index = store.index() if store is not None else []
    _refuse_mixing(units, index)
    trials_done: dict[str, int] = {}
    failed_keys: set[str] = set()
    for entry in index:
        if entry["failure"]:
            failed_keys.add(entry["key"])
        else:
            reached = entry["first_trial"] + entry["trials"]
            trials_done[entry["key"]] = max(trials_done.get(entry["key"], 0), reached)
    failed_keys -= set(trials_done)
    missing = []
    for unit in units:
        reached = trials_done.get(unit.key, 0)
        if reached < unit.trials and (retry_failed or unit.key not in failed_keys):
            missing.append(replace(unit, first_trial=reached, trials=unit.trials - reached))
    known = {unit.key for unit in units}
    return Agenda(missing, len(units) - len(missing), len(failed_keys & known), skipped, _measured(store))


def _in_shard(unit: Unit, shard: tuple[int, int]) -> bool:
    """Whether a unit belongs to part i of k; its data vector decides, so that a vector is made once."""
    part, parts = shard
    digest = sha256(repr((unit.task, unit.vector)).encode()).digest()
    return int.from_bytes(digest[:8], "big") % parts == part - 1


def _refuse_mixing(units: list[Unit], index: list[dict[str, Any]]) -> None:
    known: dict[tuple[str, ...], str] = {}
    for entry in index:
        names = {"algorithm_source": (entry["algorithm"], entry["variant"]), "dataset_source": (entry["dataset"],)}
        for source in SOURCES:
            known[source, *names.get(source, ())] = entry[source]
    for unit in units:
        row = unit.row()
        names = {"algorithm_source": (row.algorithm, row.variant), "dataset_source": (row.dataset,)}
        for source, words in SOURCES.items():
            stored = known.get((source, *names.get(source, ())))
            if stored is not None and stored != getattr(row, source):
                what = words.format(algorithm=row.algorithm, dataset=row.dataset)
                raise InvalidStore(
                    f"{what} has changed since the store was made ({stored[:8]} then, {getattr(row, source)[:8]} now); "
                    f"results are not mixed: use another --store, or go back to that version"
                )


def _measured(store: Store | None) -> Measured:
    """Seconds per trial, by algorithm and domain, as a store has measured them."""
    if store is None or not store.shards():
        return {}
    table = store.table(["algorithm", "domain", "seconds", "l2"]).to_pydict()
    totals: dict[tuple[str, str], tuple[float, int]] = {}
    for algorithm, domain, seconds, errors in zip(*table.values(), strict=True):
        spent, trials = totals.get((algorithm, domain), (0.0, 0))
        totals[algorithm, domain] = (spent + seconds, trials + len(errors))
    return {key: spent / trials for key, (spent, trials) in totals.items() if trials}


@dataclass
class Outcome:
    """How a run went."""

    finished: int = 0
    failures: list[Row] = field(default_factory=list)
    wall: float = 0.0
    algorithm: float = 0.0
    """Seconds spent in algorithms, over all workers."""
    other: float = 0.0
    """Seconds spent on data vectors, answers and losses, over all workers."""


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
            self._store.append(self._rows, self._run)
            self._rows = []
        self._last = time.monotonic()


def execute(
    units: Iterable[Unit],
    store: Store,
    executor: Executor,
    *,
    plan: Plan,
    measured: Measured | None = None,
    on_row: Callable[[Row], None] | None = None,
) -> Outcome:
    """Run units and store their rows; whatever happens, rows that came back are stored."""
    run = f"{time.strftime('%Y%m%dT%H%M%S')}-{uuid.uuid4().hex[:8]}"
    store.record_run(
        run,
        {
            "plan": plan.name,
            "tasks": [task.to_dict() | {"name": task.name} for task in plan.tasks],
            "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
            "machine": machine(),
            "code": code_state(),
        },
    )
    portions = chunks([replace(unit, run=run) for unit in units], measured)
    outcome, shards, begin = Outcome(), Shards(store, run), time.monotonic()
    try:
        for row in executor.rows(portions):
            shards.add(row)
            if row is not None:
                outcome.finished += 1
                outcome.algorithm += row.seconds
                outcome.other += row.seconds_other
                if row.failure:
                    outcome.failures.append(row)
                if on_row is not None:
                    on_row(row)
    except OSError as error:
        executor.stop()
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise RunStopped(
                f"the disk of {store.folder} is full; everything stored so far is kept: "
                f"make room and run the same command"
            ) from None
        raise
    except KeyboardInterrupt:
        executor.stop()
        shards.flush()
        raise
    shards.flush()
    outcome.wall = time.monotonic() - begin
    return outcome
