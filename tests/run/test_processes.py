import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from chaos.small import study
from dpbench import algorithms
from dpbench.errors import RunStopped
from dpbench.run.costs import UNITS, chunks, seconds_of
from dpbench.run.executors import contained, processes
from dpbench.run.executors.descendants import children
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


def killed_at_first(connection, timeout):
    """A worker that is killed before it says anything, as often as a file says."""
    left = Path(os.environ["DPBENCH_TEST_KILLS"])
    number = int(left.read_text())
    if number:
        left.write_text(str(number - 1))
        os.kill(os.getpid(), signal.SIGKILL)
    work(connection, timeout)


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


ORPHAN = """
import os, sys
child = os.fork()
if child == 0:
    os.setsid()
    os.closerange(0, 3)
    os.execvp("sleep", ["sleep", "60"])
print(child)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no process takes in orphans")
def test_orphans_that_are_not_of_a_worker_live_on():
    """Whoever runs a study may run other programs, and what those leave behind comes to the same process meanwhile."""
    units, _ = study(["Identity"], datasets=["bimodal"], scales=[100], samples=2).work
    rows = Processes(1).rows([[unit] for unit in units])
    first = next(row for row in rows if row is not None)
    started = subprocess.run([sys.executable, "-c", ORPHAN], capture_output=True, check=True)
    orphan = int(started.stdout)
    try:
        assert orphan in children()
        assert [row.failure for row in (first, *rows) if row is not None] == ["", ""]
        assert os.waitpid(orphan, os.WNOHANG) == (0, 0)
    finally:
        os.kill(orphan, signal.SIGKILL)
        os.waitpid(orphan, 0)


def stalls(connection, timeout):
    """A worker that begins a message and never ends it."""
    os.write(connection.fileno(), b"\0\0\1\0begun")
    time.sleep(60)


def test_a_worker_that_stops_in_the_middle_of_a_message_is_replaced(monkeypatch):
    """A plug-in can stop it there; nothing of ours waits for the rest for ever."""
    monkeypatch.setattr(contained, "WHOLE", 0.2)
    monkeypatch.setattr(processes, "work", stalls)
    units, _ = study(["Identity"], datasets=["bimodal"], scales=[100], samples=1).work
    with pytest.raises(RunStopped, match="workers ended before they were ready"):
        processes_rows(units, Processes(1))


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
