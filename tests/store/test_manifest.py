"""The manifest: what is gone is missed, what a stranger left is not read."""

import json
import shutil

import numpy as np
import pytest

from dpbench.errors import InvalidStore
from dpbench.store import Store, manifest
from dpbench.store.store import answers_path
from store.rows import make


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store", create=True)


def reasons(store):
    return {damage.path.name: damage.reason.split(":")[0] for damage in store.verify()}


def earlier(store):
    """The same store as an earlier version would have left it."""
    (store.folder / manifest.NAME).unlink()
    (store.folder / "store.json").write_text('{"dpbench_store": 1}')
    return Store(store.folder)


def test_a_deleted_shard_is_missed(store):
    """By verify with the number of results, by readings in one line; put aside, its results count as missing."""
    store.append([make()], "run")
    gone = store.append([make(sample=1), make(sample=2)], "run")
    gone.unlink()
    (damage,) = store.verify()
    assert (damage.path, damage.reason) == (gone, "missing: it was there, and with it 2 results")
    with pytest.raises(InvalidStore, match="is missing; run `dpbench store verify"):
        store.rows()
    store.quarantine(damage)
    assert store.verify() == []
    assert [row.sample for row in store.rows()] == [0]


def test_deleted_and_changed_answers_are_missed(store):
    """Answers that were there when their row was stored."""
    for sample in range(3):
        path = answers_path(store.folder, f"{sample:032x}", 0)
        path.parent.mkdir(exist_ok=True)
        np.save(path, np.ones((3, 4)))
    store.append([make(sample=sample, key=f"{sample:032x}") for sample in range(3)], "run")
    assert store.verify() == []
    answers_path(store.folder, f"{0:032x}", 0).unlink()
    np.save(answers_path(store.folder, f"{1:032x}", 0), np.zeros((3, 4)))
    assert reasons(store) == {f"{0:032x}-0.npy": "missing", f"{1:032x}-0.npy": "truncated or changed"}
    assert store.damage() == []


def test_a_deleted_or_edited_record_is_missed(store):
    """Records of runs say which versions are shown."""
    store.record_run("a", {"plan": "x"})
    store.record_run("b", {"plan": "x"})
    (store.folder / "runs" / "a.json").unlink()
    (store.folder / "runs" / "b.json").write_text('{"plan": "y"}')
    assert reasons(store) == {"a.json": "missing", "b.json": "changed"}


def test_a_writer_killed_before_its_shard_had_its_name_leaves_no_damage(store, monkeypatch):
    """Announced and not there is nothing lost; half a line is cut off by the next writer."""
    store.append([make()], "run")

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("dpbench.store.store.write_whole", killed)
    with pytest.raises(KeyboardInterrupt):
        store.append([make(sample=1)], "run")
    monkeypatch.undo()
    with (store.folder / manifest.NAME).open("ab") as file:
        file.write(b'{"file": "shards/run-0')
    assert store.verify() == []
    assert [row.sample for row in store.rows()] == [0]
    store.append([make(sample=2)], "run")
    assert store.verify() == []
    assert [row.sample for row in store.rows()] == [0, 2]


def test_a_writer_killed_before_it_confirmed_has_stored_its_rows(store, monkeypatch):
    """The shard is there, whole and announced."""
    whole = manifest.add

    def killed(folder, make, **options):
        if options:
            raise KeyboardInterrupt
        whole(folder, make)

    monkeypatch.setattr(manifest, "add", killed)
    with pytest.raises(KeyboardInterrupt):
        store.append([make()], "run")
    monkeypatch.undo()
    assert store.verify() == []
    assert store.rows() == [make()]


@pytest.mark.parametrize("name", ["notes.parquet", f"run-00007-{'a' * 16}.parquet", "copy.parquet"])
def test_a_foreign_file_is_left_alone(name, store):
    """One whose name does not carry its hash is named and not read, even if it holds results."""
    shard = store.append([make()], "run")
    stranger = store.folder / "shards" / name
    stranger.write_bytes(shard.read_bytes() if name.startswith("copy") else b"PAR1")
    (store.folder / "runs" / "notes.json").write_text("[")
    (store.folder / "notes.txt").write_text("mine")
    assert store.rows() == [make()]
    assert store.runs() == {}
    assert store.verify() == []
    assert store.shards_and_strangers() == ([shard], [stranger])


def test_a_shard_that_carries_its_hash_and_is_not_listed_is_an_error(store):
    """It is a copy, or the manifest was cut short; one that was dropped is not missed."""
    shard = store.append([make()], "run")
    copy = shard.with_name(f"copied-{shard.name}")
    copy.write_bytes(shard.read_bytes())
    assert reasons(store) == {copy.name: "not in the manifest, which was cut short, or a copy"}
    with pytest.raises(InvalidStore, match="run `dpbench store repair .*, or move it out of the store"):
        store.rows()
    assert store.repair() == [copy]
    assert store.rows() == [make()]
    content = copy.read_bytes()
    store._remove(copy, "test")
    copy.write_bytes(content)
    assert store.verify() == []


def test_a_manifest_that_is_gone_or_changed_is_noticed_and_made_again(store):
    """Shards are still known by the hashes in their names; put aside, the next result begins a new list."""
    store.append([make()], "run")
    path = store.folder / manifest.NAME
    path.write_bytes(b"[[[" + path.read_bytes())
    with pytest.raises(InvalidStore, match=r"line 1 of .*manifest.jsonl is damaged; run `dpbench store verify"):
        store.rows()
    assert reasons(store) == {manifest.NAME: "changed"}
    store.quarantine(*store.damage())
    assert reasons(store) == {manifest.NAME: "missing"}
    assert store.rows() == [make()]
    store.append([make(sample=1)], "run")
    assert store.verify() == []
    assert len(store.rows()) == 2


def test_a_store_from_before_manifests_is_read_and_gets_one(store):
    """Verify has nothing to miss anything by; with the next result everything is listed."""
    first = store.append([make()], "run")
    store.record_run("run", {})
    store.append([make(sample=1)], "run").unlink()
    old = earlier(store)
    assert not old.has_manifest
    assert old.verify() == []
    assert old.rows() == [make()]
    old.append([make(sample=2)], "run")
    assert Store(store.folder).has_manifest
    assert old.verify() == []
    first.unlink()
    assert reasons(Store(store.folder)) == {first.name: "missing"}


def test_damage_in_a_store_from_before_manifests_stays_damage(store):
    """What is listed later is what was there, not what it has become."""
    shard = store.append([make()], "run")
    shard.write_bytes(b"")
    old = earlier(store)
    assert reasons(old) == {shard.name: "truncated or changed"}
    old.append([make(sample=1)], "run")
    assert reasons(old) == {shard.name: "truncated or changed"}


def test_dropping_a_version_is_no_loss(store):
    """What is removed on purpose is not missed."""
    store.append([make(algorithm_source="b" * 16), make(sample=1)], "run")
    store.append([make(sample=2, algorithm_source="b" * 16)], "run")
    store.drop_version("b" * 16)
    assert store.verify() == []
    assert [row.sample for row in store.rows()] == [1]


def test_a_copied_store_is_whole(store, tmp_path):
    """Nothing in it depends on where it stands."""
    store.append([make()], "run")
    shutil.copytree(store.folder, tmp_path / "copy")
    assert Store(tmp_path / "copy").verify() == []


def test_the_manifest_is_lines_of_json(store):
    """File, hash and number of rows, before and after."""
    path = store.append([make(), make(sample=1)], "run")
    lines = [json.loads(line) for line in (store.folder / manifest.NAME).read_text().splitlines()]
    assert lines == [
        {"file": f"shards/{path.name}", "sha256": manifest.hash_of(path.read_bytes()), "rows": 2},
        {"kept": f"shards/{path.name}"},
    ]
