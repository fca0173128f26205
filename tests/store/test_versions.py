"""Versions of an algorithm's code in one store: kept apart, one of them shown, dropped when asked."""

import numpy as np
import pytest

from dpbench.errors import InvalidInput, UnknownName
from dpbench.results import Results
from dpbench.store import Store
from dpbench.store.store import answers_path
from dpbench.store.transfer import merge, trial_rows
from dpbench.store.versions import recorded
from store.rows import make

OLD, NEW = "a" * 16, "b" * 16
FORM = ("Identity", "private", "{}")


def old(**changes):
    return make(key="k" * 32, algorithm_source=OLD, run="run1", **changes)


def new(**changes):
    errors = [9.0, 9.0]
    return make(key="n" * 32, algorithm_source=NEW, run="run2", l2=errors, l1=errors, trials=2, **changes)


@pytest.fixture
def store(tmp_path):
    """A store with two versions of Identity, the new one asked for last, and something else."""
    store = Store(tmp_path / "store", create=True)
    store.append([old(), old(sample=1), make(algorithm="Hb")], "run1")
    store.append([new()], "run2")
    store.record_run("run1", {"started": "2026-01-01T00:00:00", "versions": recorded([(FORM, OLD)])})
    store.record_run("run2", {"started": "2026-01-02T00:00:00", "versions": recorded([(FORM, NEW)])})
    return store


def sources(rows):
    return {(row.algorithm, row.algorithm_source) for row in rows}


def test_readings_show_the_version_that_was_asked_for_last(store):
    """Rows, results and exports: one version of each form, the others out of sight and kept."""
    assert sources(store.rows()) == {("Identity", NEW), ("Hb", OLD)}
    assert sources(store.rows(every_version=True)) == {("Identity", NEW), ("Identity", OLD), ("Hb", OLD)}
    assert store.table(["l2"]).column_names == ["l2"]
    assert store.table(["l2"]).num_rows == 2
    assert len(store.index()) == 4
    (mine,) = Results.from_store(store).where(algorithm="Identity")
    assert mine.values.tolist() == [9.0, 9.0]
    assert {row["l2"] for row in trial_rows(store) if row["algorithm"] == "Identity"} == {9.0}


def test_asking_for_the_earlier_version_brings_it_back(store):
    """A record is enough; nothing is run."""
    store.record_run("run3", {"versions": recorded([(FORM, OLD)])})
    assert sources(store.rows()) == {("Identity", OLD), ("Hb", OLD)}
    assert {row.trials for row in store.rows()} == {3}


def test_a_version_that_was_asked_for_and_has_no_results_shows_none(store):
    """Results of other code are not shown in its place."""
    store.record_run("run3", {"versions": recorded([(FORM, "c" * 16)])})
    assert sources(store.rows()) == {("Hb", OLD)}


def test_a_reading_may_ask_for_a_version(store):
    """By its first letters, in place of the current one."""
    assert sources(store.rows(versions=["aaaa"])) == {("Identity", OLD), ("Hb", OLD)}
    found = Results.from_store(store, versions=[OLD]).where(algorithm="Identity")
    assert set(found.columns["algorithm_source"]) == {OLD}
    with pytest.raises(UnknownName, match="version"):
        store.rows(versions=["ffff"])
    store.append([make(algorithm="Hb", algorithm_source="aa" + "c" * 14)], "run2")
    with pytest.raises(InvalidInput, match="several versions"):
        store.rows(versions=["aa"])


def test_forms_have_versions_of_their_own(store):
    """A published form, or other parameters, are not replaced by a new version of the private one."""
    other = [old(variant="published"), old(parameters='{"width": 4}')]
    store.append(other, "run1")
    assert len(store.rows()) == 4


def test_a_store_from_before_versions_has_one(tmp_path):
    """Records that tell nothing of versions; of several, whatever the latest run made is shown."""
    store = Store(tmp_path / "store", create=True)
    store.append([old(), old(sample=1)], "run1")
    store.record_run("run1", {"plan": "small"})
    assert sources(store.rows()) == {("Identity", OLD)}
    store.append([new()], "run2")
    assert sources(store.rows()) == {("Identity", NEW)}


def test_the_overview_counts(store):
    """Settings and trials of each, when it was run last, and which is shown."""
    told = [
        (each.algorithm, each.version, each.settings, each.trials, each.last_run[:10], each.current)
        for each in store.versions()
    ]
    assert told == [
        ("Hb", OLD, 1, 3, "", True),
        ("Identity", OLD, 1, 6, "2026-01-01", False),
        ("Identity", NEW, 1, 2, "2026-01-02", True),
    ]


def test_dropping_a_version_removes_it_and_nothing_else(store):
    """Its rows, its answers and what records say of it; every shard that is left is whole."""
    for row in (old(), new()):
        path = answers_path(store.folder, row.key, row.first_trial)
        path.parent.mkdir(exist_ok=True)
        np.save(path, np.ones((3, 64)))
    assert [each.trials for each in store.drop_version(NEW)] == [2]
    assert sources(store.rows(every_version=True)) == {("Identity", OLD), ("Hb", OLD)}
    assert sources(store.rows()) == {("Identity", OLD), ("Hb", OLD)}
    assert store.verify() == []
    assert store.answers(new()) is None
    assert store.answers(old()) is not None
    assert store.runs()["run2"] == {"started": "2026-01-02T00:00:00", "versions": []}
    assert len(store.shards()) == 1


def test_dropping_takes_only_its_rows_out_of_a_shard(store):
    """A shard that holds others is written anew without them, under the name of its content."""
    (before, _) = store.shards()
    store.drop_version(OLD)
    assert sources(store.rows(every_version=True)) == {("Identity", NEW)}
    assert before not in store.shards()


def test_a_drop_that_is_cut_short_loses_nothing_else(store, monkeypatch):
    """Both the old and the new shard may be there: their rows are the same."""
    store.append([old(sample=2), make(algorithm="Uniform", algorithm_source="u" * 16)], "run1")
    monkeypatch.setattr("pathlib.Path.unlink", _raise)
    with pytest.raises(OSError, match="no"):
        store.drop_version(OLD)
    monkeypatch.undo()
    assert ("Uniform", "u" * 16) in sources(store.rows())
    assert ("Identity", OLD) in sources(store.rows(every_version=True))
    store.drop_version(OLD)
    assert sources(store.rows(every_version=True)) == {("Identity", NEW), ("Uniform", "u" * 16)}
    assert store.verify() == []


def _raise(*_, **__):
    raise OSError("no")


def test_merging_keeps_versions_apart(store, tmp_path):
    """Rows of both, once each; records come along and say which is shown."""
    other, out = Store(tmp_path / "other", create=True), Store(tmp_path / "out", create=True)
    other.append([make(key="z" * 32, algorithm_source="c" * 16, run="run0")], "run0")
    other.record_run("run0", {"versions": recorded([(FORM, "c" * 16)])})
    assert merge([store, other], out)[0] == 5
    assert len({source for name, source in sources(out.rows(every_version=True)) if name == "Identity"}) == 3
    assert ("Identity", NEW) in sources(out.rows())
    assert merge([store, other], out)[0] == 0
