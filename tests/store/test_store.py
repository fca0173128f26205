import errno
import json
import os

import numpy as np
import pyarrow.parquet as pq
import pytest

from dpbench.errors import DPBenchError, InvalidStore
from dpbench.store import Store, schema
from dpbench.store.store import answers_path, write_whole
from store.rows import make


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store", create=True)


def test_rows_come_back(store):
    """What was appended is there for the next one who opens the store."""
    rows = [make(), make(sample=1)]
    store.append(rows, "run")
    again = Store(store.folder)
    assert again.rows() == rows
    assert [entry["trials"] for entry in again.index()] == [3, 3]


def test_the_index_says_which_losses_are_there(store):
    """Those that every row holds, and others by label."""
    store.append([make(), make(sample=1, other_losses={"relative:floor=0.1": [1.0, 2.0, 3.0]})], "run")
    assert [entry["losses"] for entry in store.index()] == [
        ["L2", "L1", "Linf"],
        ["L2", "L1", "Linf", "relative:floor=0.1"],
    ]


def test_shards_from_before_other_losses_are_read(store, monkeypatch):
    """Beside shards of today."""
    new = make(sample=1, queries=64, other_losses={"relative": [1.0, 2.0, 3.0]})
    whole = schema.to_table
    monkeypatch.setattr(
        "dpbench.store.store.to_table", lambda rows: whole(rows).drop_columns(["queries", "other_losses"])
    )
    store.append([make()], "old")
    monkeypatch.undo()
    store.append([new], "young")
    assert "queries" not in pq.read_schema(store.shards()[0]).names
    assert store.rows() == [make(), new]
    assert [len(entry["losses"]) for entry in store.index()] == [3, 4]


def test_an_empty_store_has_no_rows(store):
    """A store without shards can be read in every way."""
    assert store.rows() == []
    assert store.index() == []
    assert store.runs() == {}
    assert store.verify() == []
    assert store.table(["algorithm"]).num_rows == 0


def test_an_empty_folder_becomes_a_store(tmp_path):
    """A folder that exists and is empty is as good as none."""
    assert Store(tmp_path, create=True).rows() == []


def test_a_store_whose_making_was_cut_short_is_made_whole(tmp_path):
    """A kill between the first folder and the marker leaves something that the next run can use."""
    (tmp_path / "shards").mkdir()
    (tmp_path / ".store.json.123.part").write_text("{")
    store = Store(tmp_path, create=True)
    store.append([make()], "run")
    assert Store(tmp_path).rows() == [make()]


@pytest.mark.parametrize("what", ["file", "other folder", "missing", "bad marker", "other version", "below a file"])
def test_what_is_not_a_store_is_refused(what, tmp_path):
    """Each refusal is one line with the path."""
    path = tmp_path / "place"
    if what == "file":
        path.write_text("x")
    elif what == "other folder":
        path.mkdir()
        (path / "thesis.tex").write_text("x")
    elif what == "below a file":
        path.write_text("x")
        path /= "store"
    elif what != "missing":
        Store(path, create=True)
        (path / "store.json").write_text("{" if what == "bad marker" else json.dumps({"dpbench_store": 99}))
    with pytest.raises(InvalidStore) as refused:
        Store(path, create=what != "missing")
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_folder_that_cannot_be_written_is_refused(tmp_path, monkeypatch):
    """A read-only place is reported in one line."""

    def refuse(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("pathlib.Path.mkdir", refuse)
    with pytest.raises(InvalidStore, match="Permission denied"):
        Store(tmp_path / "store", create=True)


def test_a_store_is_not_made_by_looking(tmp_path):
    """Only those who may create leave a folder behind."""
    with pytest.raises(InvalidStore):
        Store(tmp_path / "store")
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("harm", ["truncated", "flipped", "emptied", "foreign"])
def test_damage_is_found_and_put_aside(harm, store):
    """A shard that is not what its name says is named by verify, read by nobody, and can be put aside."""
    kept = store.append([make()], "run")
    hurt = store.append([make(sample=1)], "run")
    content = bytearray(hurt.read_bytes())
    content[len(content) // 2] ^= 1
    damaged = {"truncated": content[:-7], "flipped": content, "emptied": b"", "foreign": kept.read_bytes()}
    hurt.write_bytes(damaged[harm])
    (damage,) = store.verify()
    assert damage.path == hurt
    with pytest.raises(InvalidStore, match=r"damaged; run `dpbench store verify"):
        store.rows()
    store.quarantine(damage)
    assert store.verify() == []
    assert store.rows() == [make()]


def test_a_damaged_record_of_a_run_is_found(store):
    """Records of runs are looked at as well."""
    store.record_run("good", {"plan": "small"})
    store.record_run("bad", {"plan": "small"})
    (store.folder / "runs" / "bad.json").write_bytes(b'{"plan": \xff')
    with pytest.raises(InvalidStore, match="bad.json"):
        store.runs()
    (damage,) = store.verify()
    store.quarantine(damage)
    assert store.runs() == {"good": {"plan": "small"}}


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    """A disk that fills up leaves neither half a file nor a temporary one, and what was there stays."""
    path = tmp_path / "file"
    write_whole(path, b"old")

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_shards_of_one_run_never_collide(store):
    """Equal rows appended twice are two shards, and one result."""
    store.append([make()], "run")
    store.append([make()], "run")
    assert len(store.shards()) == 2
    assert store.rows() == [make()]


def test_answers_are_found_by_key(store):
    """Answers of a row lie under its key and first trial; rows without have none."""
    row = make()
    assert store.answers(row) is None
    path = answers_path(store.folder, row.key, row.first_trial)
    path.parent.mkdir()
    np.save(path, np.ones((3, 64)))
    answers = store.answers(row)
    assert answers is not None
    assert answers.shape == (3, 64)


def test_every_refusal_is_one_of_ours(tmp_path):
    """Whoever catches DPBenchError catches what stores refuse."""
    with pytest.raises(DPBenchError):
        Store(tmp_path / "nowhere")


def test_a_store_that_another_run_makes_meanwhile_is_a_store(tmp_path, monkeypatch):
    """Two runs begin at once: the one sees no marker, and then the files of the other."""
    Store(tmp_path / "store", create=True)
    looks = iter([False])
    exists = type(tmp_path).exists

    def late(path):
        return next(looks, True) if path.name == "store.json" else exists(path)

    monkeypatch.setattr(type(tmp_path), "exists", late)
    assert Store(tmp_path / "store", create=True).rows() == []
