"""Bit for bit the same results, however a study is run."""

import random

import pytest

from chaos.small import canonical, study
from dpbench.run.execution import agenda, execute
from dpbench.run.executors.processes import Processes
from dpbench.run.executors.serial import Serial
from dpbench.store import Store
from dpbench.store.transfer import merge


@pytest.fixture
def new(tmp_path):
    """Makes stores."""
    numbers = iter(range(100))
    return lambda: Store(tmp_path / f"store{next(numbers)}", create=True)


@pytest.fixture(scope="module")
def calm(tmp_path_factory):
    """The study run by one process, in order."""
    store = Store(tmp_path_factory.mktemp("calm"), create=True)
    plan = study()
    execute(plan.work[0], store, Serial(), plan=plan)
    return canonical(store)


def run(plan, store, executor=None, units=None, **options):
    missing = agenda(plan, store, **options).missing if units is None else units
    return execute(missing, store, executor or Serial(), plan=plan)


@pytest.mark.parametrize("jobs", [1, 2])
def test_workers_change_nothing(jobs, calm, new):
    """One worker, two workers, none: the same numbers."""
    store = new()
    run(study(), store, Processes(jobs))
    assert canonical(store) == calm


def test_order_changes_nothing(calm, new):
    """Units shuffled, and in portions of another size."""
    store, plan = new(), study()
    units = list(plan.work[0])
    random.Random(0).shuffle(units)
    run(plan, store, units=units[:11])
    run(plan, store, units=units[11:])
    assert canonical(store) == calm


def test_an_interruption_changes_nothing(calm, new):
    """A run that is stopped after some rows, and the same command again."""
    store, plan = new(), study()

    class Stopped(Serial):
        def rows(self, portions):
            for number, row in enumerate(super().rows(portions)):
                if number == 9:
                    raise KeyboardInterrupt
                yield row

    with pytest.raises(KeyboardInterrupt):
        run(plan, store, Stopped())
    assert len(store.rows()) == 9
    assert run(plan, store).finished == 15
    assert canonical(store) == calm


def test_other_algorithms_change_nothing(calm, new):
    """Each algorithm alone, together as much as all at once."""
    store = new()
    for name in ("Uniform", "Hb", "Identity"):
        run(study([name]), store)
    assert canonical(store) == calm


def test_shards_of_a_study_are_the_study(calm, new):
    """Parts 1/3, 2/3 and 3/3 are disjoint, and merged they are the whole."""
    parts = [new() for _ in range(3)]
    for number, part in enumerate(parts, 1):
        run(study(), part, shard=(number, 3))
    assert sum(len(part.rows()) for part in parts) == 24
    whole = new()
    merge(parts, whole)
    assert canonical(whole) == calm


def test_more_trials_add_to_what_is_there(calm, new):
    """From 3 trials to 7 only 4 are run, and the result is that of 7 at once."""
    grown, at_once = new(), new()
    run(study(), grown)
    assert canonical(grown) == calm
    more = agenda(study(trials=7), grown).missing
    assert {(unit.first_trial, unit.trials) for unit in more} == {(3, 4)}
    run(study(trials=7), grown)
    run(study(trials=7), at_once)
    assert canonical(grown) == canonical(at_once)
    assert agenda(study(), grown).missing == []


def test_a_damaged_shard_is_run_again_and_nothing_else(calm, new):
    """Also where later trials of the same settings are in a shard that is whole."""
    store = new()
    run(study(), store)
    run(study(trials=5), store)
    first = min(store.shards(), key=lambda path: path.stat().st_mtime_ns)
    first.write_bytes(first.read_bytes()[:-1])
    (damage,) = store.verify()
    store.quarantine(damage)
    lost = agenda(study(trials=5), store).missing
    assert {(unit.first_trial, unit.trials) for unit in lost} == {(0, 3)}
    run(study(trials=5), store)
    whole = new()
    run(study(trials=5), whole)
    assert canonical(store) == canonical(whole)


def test_two_runs_at_once_leave_the_same(calm, new):
    """Two commands that did not see each other's results: at worst every unit twice, each counted once."""
    store, plan = new(), study()
    units = agenda(plan, store).missing
    run(plan, store, units=units)
    run(plan, store, units=units)
    assert store.table().num_rows == 48
    assert canonical(store) == calm
