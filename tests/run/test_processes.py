import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from chaos.small import study
from dpbench import algorithms
from dpbench.errors import RunStopped
from dpbench.run.costs import UNITS, chunks, seconds_of
from dpbench.run.executors import processes
from dpbench.run.executors.processes import Processes, _Worker, work


def identities(rows):
    return sorted((row.identity, tuple(row.l2)) for row in rows if row is not None)


def test_killed_workers_are_replaced_and_no_row_is_lost_or_doubled():
    """Workers that are killed at several moments, with rows in their pipes, leave every unit with one row."""
    units, _ = study(samples=8).work
    wanted = identities(processes_rows(units, Processes(1)))
    executor, rows = Processes(2), []
    for row in executor.rows([units[:50], units[50:]]):
        rows.append(row)
        if sum(row is not None for row in rows) in {1, 30, 60} and row is not None:
            os.kill(executor._workers[-1].process.pid, signal.SIGKILL)
    assert identities(rows) == wanted
    assert len(wanted) == len(units)


def processes_rows(units, executor):
    return list(executor.rows(chunks(units)))


def test_workers_that_cannot_even_start_stop_the_run(monkeypatch):
    """Endless replacing helps nobody."""
    monkeypatch.setattr(processes, "work", os._exit)  # which does not like what it is given, and ends
    units, _ = study().work
    with pytest.raises(RunStopped, match="3 workers ended before they were ready"):
        processes_rows(units, Processes(1))


def killed_at_first(connection, memory, timeout):
    """A worker that is killed before it says anything, as often as a file says."""
    left = Path(os.environ["DPBENCH_TEST_KILLS"])
    number = int(left.read_text())
    if number:
        left.write_text(str(number - 1))
        os.kill(os.getpid(), signal.SIGKILL)
    work(connection, memory, timeout)


def test_workers_that_are_killed_before_they_are_ready_are_replaced(monkeypatch, tmp_path):
    """Somebody else killed them: nothing of ours is wrong, up to a number that no accident reaches."""
    left = tmp_path / "left"
    monkeypatch.setenv("DPBENCH_TEST_KILLS", str(left))
    monkeypatch.setattr(processes, "work", killed_at_first)
    units, _ = study(["Identity"], datasets=["bimodal"], scales=[100], samples=1).work
    left.write_text("4")
    assert [row.failure for row in processes_rows(units, Processes(1)) if row is not None] == [""]
    left.write_text("100")
    with pytest.raises(RunStopped, match=r"10 workers ended before they were ready \(signal SIGKILL\)"):
        processes_rows(units, Processes(1))


def test_a_unit_of_ours_whose_workers_are_killed_is_tried_again_but_not_for_ever():
    """A kill from outside is nobody's failure; ten on one unit are recorded."""
    units, _ = study(["Identity"], datasets=["bimodal"], scales=[100], samples=1).work
    executor, worker = Processes(1), _Worker(None, None)
    verdicts = [executor._verdict(worker, units[0], -signal.SIGKILL) for _ in range(10)]
    assert verdicts == [""] * 9 + ["ended 10 workers (signal SIGKILL)"]
    executor, worker.whose = Processes(1), "mine.py:Mine"
    assert [executor._verdict(worker, units[0], -signal.SIGKILL) for _ in range(2)][1].startswith("ended 2 workers")


def test_the_environment_is_left_as_it_was(monkeypatch):
    """Workers compute on one thread each; whoever started them keeps their own settings."""
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    units, _ = study(["Identity"], datasets=["bimodal"], scales=[100], samples=1).work
    rows = processes_rows(units, Processes(1))
    assert [row.failure for row in rows if row is not None] == [""]
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "MKL_NUM_THREADS" not in os.environ


def test_portions_hold_every_unit_once_and_long_ones_first():
    """Short units travel together, a unit that is long by itself goes alone and early."""
    units, _ = study(domains=["64", "32"]).work
    measured = {("Hb", "64"): 10.0, ("Uniform", "64"): 20.0}
    portions = chunks(units, measured, jobs=2)
    assert sorted(unit.key for portion in portions for unit in portion) == sorted(unit.key for unit in units)
    assert [portion[0].algorithm.name for portion in portions[:16]] == ["Uniform"] * 8 + ["Hb"] * 8
    assert all(len(portion) == 1 for portion in portions[:16])
    assert len(portions) < 20
    assert seconds_of(units[0], measured) < 0.1


def test_small_studies_are_shared_and_unknown_algorithms_go_in_few():
    """Two workers never wait for one that has everything; what nobody has timed may be slow."""
    known, _ = study(samples=20).work
    assert len(chunks(known, jobs=2)) > 4
    unknown = [replace(unit, algorithm=replace(unit.algorithm, name="Mine")) for unit in known]
    assert max(len(portion) for portion in chunks(unknown, jobs=2)) <= 6


def test_every_algorithm_of_the_package_has_been_timed():
    """An estimate of a plan's time is made for each from a number of its own."""
    assert UNITS.keys() == algorithms.ours().keys()
