from pathlib import Path

import pytest

from chaos.hostile import CONTAINED, HARMLESS
from chaos.small import canonical, study
from dpbench.run.execution import agenda, execute
from dpbench.run.executors.processes import Processes
from dpbench.store import Store

FILE = Path(__file__).with_name("hostile.py")
GOOD = ("Identity", "Hb")
ONE = {"datasets": ["bimodal"], "scales": [1000], "samples": 1, "workloads": [{"name": "RandomRange", "queries": 20}]}


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """The same good algorithms once beside every hostile one and once alone."""
    hostile = [f"{FILE}:{name}" for name in (*CONTAINED, *HARMLESS)]
    made = []
    for algorithms in ([*hostile[:7], *GOOD, *hostile[7:]], GOOD):
        store = Store(tmp_path_factory.mktemp("store"), create=True)
        plan = study(algorithms, **ONE)
        execute(agenda(plan, store).missing, store, Processes(2, timeout=10, memory=2 * 2**30), plan=plan)
        made.append(store)
    return made


@pytest.mark.parametrize("name", CONTAINED)
def test_a_hostile_algorithm_ends_as_a_recorded_failure(name, stores):
    """Whatever an algorithm does, its unit has one row that says what happened, in one line."""
    (row,) = [row for row in stores[0].rows() if row.algorithm == name]
    assert CONTAINED[name] in row.failure
    assert "\n" not in row.failure
    assert row.trials == 0


@pytest.mark.parametrize("name", HARMLESS)
def test_a_loud_but_right_algorithm_is_measured(name, stores):
    """What an algorithm prints or sets for its process is no failure."""
    (row,) = [row for row in stores[0].rows() if row.algorithm == name]
    assert row.failure == ""
    assert row.trials == 3


def test_the_neighbours_of_hostile_algorithms_come_out_the_same(stores):
    """Every other setting is bit for bit what it is without them."""
    beside, alone = (canonical(store, GOOD) for store in stores)
    assert len(alone) == 6
    assert beside == alone
