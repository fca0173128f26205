import os
import signal
from dataclasses import replace

import pytest

from chaos.small import study
from dpbench.errors import RunStopped
from dpbench.run.costs import chunks, seconds_of
from dpbench.run.executors import processes
from dpbench.run.executors.processes import Processes


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
