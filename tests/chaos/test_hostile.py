"""Whatever a stranger's algorithm does, the results of others are what they are without it.

All hostile algorithms are run beside two good ones, in one run; ``escapers`` strike at processes, ``forgers`` at
results, the others crash or return nonsense.
"""

import os
from pathlib import Path

import pytest

from chaos import escapers, forgers, hostile
from chaos.small import canonical, study
from dpbench.run.bench import Bench
from dpbench.run.execution import agenda, execute
from dpbench.run.executors.processes import Processes
from dpbench.store import Store

FAILING = {**hostile.CONTAINED, **forgers.FORGERS, **escapers.STRIKERS}
SCORED = (*hostile.HARMLESS, *forgers.SCORED, *escapers.LEAVERS)
OTHERS = ("PatchesNoise",)
GOOD = ("Identity", "Hb")
ONE = {"datasets": ["bimodal"], "scales": [1000], "samples": 1, "workloads": [{"name": "RandomRange", "queries": 20}]}


def references():
    """Every hostile algorithm as FILE.py:Class."""
    for module in (hostile, forgers, escapers):
        for name in (*FAILING, *SCORED, *OTHERS):
            if getattr(vars(module).get(name), "__module__", "") == module.__name__:
                yield f"{module.__file__}:{name}"


def sleepers():
    """Processes that a hostile algorithm has left behind."""
    found = []
    for entry in os.listdir("/proc"):  # noqa: PTH208
        try:
            if entry.isdecimal() and b"dpbench-escaper" in Path(f"/proc/{entry}/cmdline").read_bytes():
                found.append(int(entry))
        except OSError:
            continue
    return found


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """The same good algorithms once beside every hostile one and once alone."""
    all_of_them = list(references())
    made = []
    for algorithms in ([*all_of_them[:20], *GOOD, *all_of_them[20:]], GOOD):
        folder = tmp_path_factory.mktemp("run")
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            store = Store(folder / "store", create=True)
            plan = study(algorithms, **ONE)
            execute(agenda(plan, store).missing, store, Processes(2, timeout=8, memory=2 * 2**30), plan=plan)
        made.append(store)
    return made


def row_of(name, store):
    (row,) = [row for row in store.rows() if row.algorithm == name]
    return row


def test_every_behaviour_is_tried():
    """Forty and more, each in one place."""
    names = [reference.rpartition(":")[2] for reference in references()]
    assert len(names) == len(set(names)) == len(FAILING) + len(SCORED) + len(OTHERS)
    assert len(names) > 40


@pytest.mark.parametrize("name", FAILING)
def test_a_hostile_algorithm_ends_as_a_recorded_failure(name, stores):
    """Whatever an algorithm does, its unit has one row that says what happened, in one line."""
    row = row_of(name, stores[0])
    assert FAILING[name] in row.failure
    assert row.failure.isprintable()
    assert len(row.failure) < 400
    assert row.trials == 0


@pytest.mark.parametrize("name", SCORED)
def test_a_good_estimate_is_scored_as_what_it_is(name, stores):
    """What an algorithm prints, patches or leaves behind changes no error, neither up nor down."""
    row = row_of(name, stores[0])
    assert row.failure == ""
    assert row.trials == 3
    assert min(row.l2) > 0.001
    assert row.private


def test_the_neighbours_of_hostile_algorithms_come_out_the_same(stores):
    """Every other setting is bit for bit what it is without them."""
    beside, alone = (canonical(store, GOOD) for store in stores)
    assert len(alone) == 6
    assert beside == alone


def test_nothing_is_left_running(stores):
    """Neither forked, nor in a session of its own, nor without parent or environment."""
    assert sleepers() == []


def test_nothing_was_unpickled(stores):
    """What a stranger sends is read as numbers and JSON."""
    assert not any((store.folder.parent / "bomb").exists() for store in stores)


def test_no_count_is_in_a_text(stores):
    """What a stranger says of a failure comes from a run on made-up counts, or has no number in it."""
    (unit,), _ = study(["Identity"], **ONE).work
    counts = Bench().given(unit).x
    for name, between in (("ShowsCounts", " "), ("NamedLikeCounts", "_")):
        failure = row_of(name, stores[0]).failure
        assert failure.startswith(("ValueError: counts", "Error"))
        assert between.join(map(str, counts[:12])) not in failure
    assert not any(letter.isdigit() for letter in row_of("NamedLikeCounts", stores[0]).failure)


def test_time_is_the_systems_count(stores):
    """What an algorithm says of its own time is not believed where the system says otherwise."""
    assert row_of("FakesTime", stores[0]).seconds >= 0.2
