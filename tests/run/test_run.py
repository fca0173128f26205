import errno
import json
import os
import shutil
import signal
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from chaos.small import study
from dpbench.errors import InvalidPlan, InvalidStore, RunStopped
from dpbench.loss import LOSSES, Relative
from dpbench.results import Results
from dpbench.run.execution import agenda, execute, record_changes
from dpbench.run.executors.serial import Serial
from dpbench.run.interruption import Interruption
from dpbench.standards import Standards
from dpbench.store import Store

ONE = {"datasets": ["bimodal"], "scales": [100], "samples": 1}

FICKLE = '''
from dataclasses import dataclass
from pathlib import Path
import dpbench as dpb
from dpbench.mathematics.cells import Cells


@dataclass(frozen=True, kw_only=True)
class Fickle(dpb.Algorithm):
    """Fails while a file is there."""

    name = "Fickle"

    def estimate(self, data, workload):
        if Path({flag!r}).exists():
            raise RuntimeError("not today")
        return data.laplace(Cells(data.domain), data.epsilon, "cells")
'''


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store", create=True)


@pytest.fixture
def fickle(tmp_path):
    """A plug-in that fails while the flag is there; its reference and the flag."""
    flag = tmp_path / "flag"
    flag.touch()
    (tmp_path / "fickle.py").write_text(FICKLE.format(flag=str(flag)))
    return f"{tmp_path / 'fickle.py'}:Fickle", flag


@pytest.fixture
def listening():
    """Ctrl-C as in a terminal, also where the tests run in the background and are deaf to it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def run(plan, store, **options):
    return execute(agenda(plan, store, **options).missing, store, Serial(), plan=plan)


def test_an_agenda_counts(store):
    """Settings, units, trials, and what is done of them."""
    todo = agenda(study(), store)
    assert (todo.settings, len(todo.units), len(todo.missing), todo.done, todo.failed) == (12, 24, 24, 0, 0)
    assert todo.seconds(2) > 0
    run(study(["Hb"]), store)
    todo = agenda(study(), store)
    assert (todo.settings, len(todo.missing), todo.done) == (12, 16, 8)
    assert ("Hb", "64") in todo.measured


def test_a_plan_without_anything_to_run_is_refused():
    """With the reason of the first thing that was skipped."""
    with pytest.raises(InvalidPlan, match="QuadTree runs on 2-D"):
        agenda(study(["QuadTree"]), None)


def test_failures_stay_until_they_are_asked_for(store, fickle):
    """A failed unit is not run again by itself, is run by retry_failed, and then counts as done."""
    reference, flag = fickle
    plan = study([reference], **ONE)
    assert [row.failure for row in run(plan, store).failures] == ["RuntimeError: not today"]
    todo = agenda(plan, store)
    assert (todo.missing, todo.done, todo.failed) == ([], 1, 1)
    assert len(agenda(plan, store, retry_failed=True).missing) == 1
    flag.unlink()
    run(plan, store, retry_failed=True)
    (row,) = store.rows()
    assert (row.failure, row.trials) == ("", 3)
    todo = agenda(plan, store, retry_failed=True)
    assert (todo.missing, todo.done, todo.failed) == ([], 1, 0)


def test_an_extension_that_failed_stays_failed(store, fickle):
    """More trials that fail are recorded once, keep what there is, and are tried again only when asked."""
    reference, flag = fickle
    flag.unlink()
    run(study([reference], **ONE), store)
    flag.touch()
    longer = study([reference], **ONE, trials=5)
    run(longer, store)
    todo = agenda(longer, store)
    assert (todo.missing, todo.failed) == ([], 1)
    assert sorted((row.first_trial, row.trials, bool(row.failure)) for row in store.rows()) == [
        (0, 3, False),
        (3, 0, True),
    ]
    flag.unlink()
    run(longer, store, retry_failed=True)
    assert sorted((row.first_trial, row.trials, bool(row.failure)) for row in store.rows()) == [
        (0, 3, False),
        (3, 2, False),
    ]


class TestLosses:
    """Results that lack the loss of a plan are run again, with the same noise."""

    def test_a_loss_that_is_not_held_is_measured(self, store):
        """All that both runs hold is equal, and then nothing is missing, for either plan."""
        run(study(["Hb"]), store)
        before = {(row.setting, row.sample): row.l2 for row in store.rows()}
        assert agenda(study(["Hb"], loss="Linf"), store).missing == []
        relative = study(["Hb"], loss="relative")
        assert len(agenda(relative, store).missing) == 8
        run(relative, store)
        rows = store.rows()
        assert {(row.setting, row.sample): row.l2 for row in rows} == before
        assert all(len(row.other_losses["relative"]) == 3 for row in rows)
        for plan in (relative, study(["Hb"])):
            assert agenda(plan, store).missing == []
        assert len(agenda(study(["Hb"], loss="relative:floor=0.5"), store).missing) == 8

    def test_only_what_lacks_the_loss_is_run(self, store):
        """More trials than have it, and settings that never had it."""
        run(study(["Hb"], loss="relative"), store)
        todo = agenda(study(["Hb", "Identity"], loss="relative", trials=5), store)
        assert {(unit.algorithm.name, unit.first_trial, unit.trials) for unit in todo.missing} == {
            ("Hb", 3, 2),
            ("Identity", 0, 5),
        }

    def test_a_loss_that_fails_is_a_failure_of_its_own(self, store, monkeypatch):
        """It is not tried again by itself, hides nothing that there is, and does not count for other losses."""
        plain, relative = study(["Hb"], **ONE), study(["Hb"], **ONE, loss="relative")
        run(plain, store)
        monkeypatch.setattr(Relative, "errors", lambda self, answers: np.zeros(1))
        (failed,) = run(relative, store).failures
        assert "return one finite number per trial" in failed.failure
        assert [(row.failure, row.trials) for row in store.rows()] == [("", 3)]
        todo = agenda(relative, store)
        assert (todo.missing, todo.failed) == ([], 1)
        assert (agenda(plain, store).missing, agenda(plain, store).failed) == ([], 0)
        monkeypatch.undo()
        assert len(agenda(study(["Hb"], **ONE, loss="relative:floor=0.5"), store).missing) == 1
        run(relative, store, retry_failed=True)
        todo = agenda(relative, store)
        assert (todo.missing, todo.failed) == ([], 0)

    def test_a_failure_that_was_repaired_does_not_stand_in_the_way(self, store, fickle):
        """A unit that failed once and came through is run again for its loss like any other."""
        reference, flag = fickle
        run(study([reference], **ONE), store)
        flag.unlink()
        run(study([reference], **ONE), store, retry_failed=True)
        assert len(agenda(study([reference], **ONE, loss="relative"), store).missing) == 1

    def test_a_loss_cannot_have_the_name_of_a_column(self, monkeypatch):
        """An export would have two columns of one name."""
        monkeypatch.setitem(LOSSES, "trial", Relative)
        monkeypatch.setattr(Relative, "name", "trial")
        with pytest.raises(InvalidPlan, match="the loss trial has the name of a column"):
            agenda(study(loss="trial"), None)


def test_a_plan_with_nothing_to_run_says_how_results_are_read(store):
    """A record is written where the standards of a task have changed, and only there."""
    run(study(["Hb"]), store)
    record_changes(study(["Hb"]), store)
    assert len(store.runs()) == 1
    record_changes(study(["Hb"], loss="L1", percentile=80), store)
    assert len(store.runs()) == 2
    assert Results.from_store(store).standards == Standards(loss="L1", percentile=80)


def test_a_changed_algorithm_is_another_version(store, fickle, tmp_path):
    """What was run of it is run again; failures of the one are nothing to the other, and nobody else is concerned."""
    reference, flag = fickle
    path = tmp_path / "fickle.py"
    run(study([reference, "Identity"], **ONE), store)
    path.write_text(path.read_text().replace("not today", "not now"))
    flag.unlink()
    todo = agenda(study([reference, "Identity"], **ONE), store)
    assert [(each.algorithm, each.settings, each.missing) for each in todo.changed] == [("Fickle", 1, 1)]
    assert {unit.algorithm.name for unit in todo.missing} == {"Fickle"}
    run(study([reference], **ONE), store)
    assert [row.failure for row in store.rows()] == ["", ""]
    assert len(store.rows(every_version=True)) == 3
    assert agenda(study([reference], **ONE), store).changed == ()


def test_a_version_is_asked_for_by_a_run_that_has_nothing_to_do(store, fickle, tmp_path):
    """It leaves a record where the latest one says otherwise, and none where it does not."""
    reference, flag = fickle
    path, text = tmp_path / "fickle.py", (tmp_path / "fickle.py").read_text()
    flag.unlink()
    for state in (text, text.replace("today", "now"), text):
        path.write_text(state)
        plan = study([reference], **ONE)
        if agenda(plan, store).missing:
            run(plan, store)
        record_changes(plan, store)
    versions = [record["versions"][0]["version"] for _, record in sorted(store.runs().items())]
    assert len(versions) == 3
    assert versions[0] == versions[2] != versions[1]
    assert {row.algorithm_source for row in store.rows()} == {versions[0]}


def test_a_changed_dataset_is_not_mixed(store, tmp_path):
    """A file with other counts is other data under the same name."""
    path = tmp_path / "own.npy"
    np.save(path, np.arange(64))
    plan = study(["Identity"], datasets=[str(path)])
    run(plan, store)
    np.save(path, np.arange(64) + 1)
    with pytest.raises(InvalidStore, match="another state of the dataset own"):
        agenda(study(["Identity"], datasets=[str(path)]), store)


def test_a_changed_generator_is_not_mixed(store, monkeypatch):
    """Other code for data vectors, answers or losses makes everything different."""
    run(study(["Identity"]), store)
    monkeypatch.setattr("dpbench.run.plan.generator_version", lambda: "other")
    with pytest.raises(InvalidStore, match="makes data vectors and errors"):
        agenda(study(["Identity"]), store)


def test_a_store_of_an_earlier_version_can_be_read_and_not_added_to(store, monkeypatch):
    """Its hashes are of another kind, so that nothing could be recognised."""
    run(study(["Identity"]), store)
    ((name, record),) = store.runs().items()
    store.record_run(name, {key: value for key, value in record.items() if key not in {"identity", "versions"}})
    monkeypatch.setattr("dpbench.run.plan.generator_version", lambda: "other")
    with pytest.raises(InvalidStore, match="it can be read, and a run needs another --store"):
        agenda(study(["Identity"]), store)
    assert len(store.rows()) == 8


def test_another_share_for_the_scale_is_not_mixed(store):
    """rho_total is no column of a store, and results that differ in it do not stand under one setting."""
    common = {"datasets": ["clusters"], "domains": "8x8", "dimensions": 2, "workloads": ["Identity"], "samples": 1}
    run(study(["UGrid"], **common), store)
    with pytest.raises(InvalidStore, match="rho_total"):
        agenda(study(["UGrid"], **common, rho_total=0.2), store)


def test_a_run_leaves_a_record(store):
    """Plan, seeds, CPU and versions of what made the rows."""
    run(study(**ONE), store)
    ((name, record),) = store.runs().items()
    assert {row.run for row in store.rows()} == {name}
    assert {"cpu", "python", "numpy", "dpbench"} <= set(record["machine"])
    assert record["tasks"][0]["generator"]["seed"] == 0
    assert record["command"].split()[0] == Path(sys.argv[0]).name
    assert json.dumps(record)


def test_a_full_disk_stops_the_run_with_everything_stored_kept(store, monkeypatch):
    """The message says what to do, and the run can go on later."""
    run(study(["Hb"]), store)
    monkeypatch.setattr(os, "fsync", _raise(errno.ENOSPC))
    with pytest.raises(RunStopped, match="full; everything stored so far is kept: free some space"):
        run(study(), store)
    monkeypatch.undo()
    assert len(store.rows()) == 8
    assert run(study(), store).finished == 16


def test_a_store_that_cannot_be_written_any_more_stops_the_run(store, monkeypatch):
    """Any other trouble with the disk is reported in one line as well."""
    monkeypatch.setattr(Store, "append", _raise(errno.EIO))
    with pytest.raises(RunStopped, match="cannot write to"):
        run(study(**ONE), store)


def test_a_store_that_has_gone_stops_the_run(store):
    """Its folder was moved or removed in the meantime."""

    class Removed(Serial):
        def rows(self, portions):
            yield from super().rows(portions)
            shutil.rmtree(store.folder)

    plan = study(**ONE)
    with pytest.raises(RunStopped, match="has gone; put it back") as stopped:
        execute(agenda(plan, store).missing, store, Removed(), plan=plan)
    assert "\n" not in str(stopped.value)


def test_rows_that_came_back_are_stored_whatever_ends_the_run(store):
    """A cluster that goes away takes nothing along that was finished."""

    class Gone(Serial):
        def rows(self, portions):
            yield from list(super().rows(portions))[:5]
            raise RunStopped("the cluster went away")

    plan = study()
    with pytest.raises(RunStopped):
        execute(agenda(plan, store).missing, store, Gone(), plan=plan)
    assert len(store.rows()) == 5


def test_ctrl_c_lets_the_row_under_way_be_stored(store, listening):
    """A signal between two rows ends the run after the row that was just received."""

    class Signalled(Serial):
        def rows(self, portions):
            for number, row in enumerate(super().rows(portions)):
                if number == 4:
                    os.kill(os.getpid(), signal.SIGINT)
                yield row

    plan = study()
    with pytest.raises(KeyboardInterrupt):
        execute(agenda(plan, store).missing, store, Signalled(), plan=plan)
    assert len(store.rows()) == 5
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_second_ctrl_c_acts_at_once(listening):
    """Whoever presses twice does not want to wait."""
    with Interruption() as interruption:
        os.kill(os.getpid(), signal.SIGINT)
        assert interruption.asked
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_runs_can_be_started_from_any_thread(store):
    """Only the main thread can catch signals; the others run all the same."""
    outcomes = []
    thread = threading.Thread(target=lambda: outcomes.append(run(study(**ONE), store)))
    thread.start()
    thread.join()
    assert outcomes[0].finished == 3


def test_kept_answers_are_the_answers(store):
    """Each trial's answers lie under the row's key; they are float64 (trials, q) and give the stored errors."""
    from dataclasses import replace

    plan = study(["Identity"], **ONE)
    units = [replace(unit, answers=str(store.folder)) for unit in agenda(plan, store).missing]
    execute(units, store, Serial(), plan=plan)
    (row,) = store.rows()
    answers = store.answers(row)
    assert answers is not None
    assert (answers.shape, answers.dtype) == ((3, 64), np.float64)
    assert list(store.folder.glob("answers/*")) == [store.folder / "answers" / f"{row.key}-0.npy"]
    differences = answers[1:] - answers[0]
    assert np.abs(differences).max() / (100 * 64) < 2 * max(row.linf)


def test_answers_that_cannot_be_kept_stop_the_run(store, monkeypatch):
    """A full disk is no failure of the algorithm."""
    from dataclasses import replace

    plan = study(["Identity"], **ONE)
    units = [replace(unit, answers=str(store.folder)) for unit in agenda(plan, store).missing]
    monkeypatch.setattr("dpbench.run.bench.write_whole", _raise(errno.ENOSPC))
    with pytest.raises(RunStopped, match="cannot keep answers"):
        execute(units, store, Serial(), plan=plan)
    assert store.rows() == []


def _raise(number):
    def refuse(*_, **__):
        raise OSError(number, os.strerror(number))

    return refuse
