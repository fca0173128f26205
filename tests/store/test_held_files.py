"""What another process can do to files of a store: lock them, or put something in their place that is waited for."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dpbench.errors import DPBenchError, InvalidStore
from dpbench.store import Store, manifest
from dpbench.store.lock import NAME as LOCK
from dpbench.store.store import answers_path, write_whole
from store.rows import make

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such files")
HOLD = """
import fcntl, os, sys, time
number = os.open(sys.argv[1], os.O_RDWR)
fcntl.flock(number, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(3)
"""


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store", create=True)


@pytest.fixture(autouse=True)
def alarm():
    """What would wait for ever is interrupted by a signal that pytest reports."""
    before = signal.signal(signal.SIGALRM, _ring)
    signal.alarm(30)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def _ring(number, frame):
    raise TimeoutError("it waits for ever")


def fifo(path):
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def folder(path):
    path.unlink(missing_ok=True)
    path.mkdir()


def circle(path):
    path.unlink(missing_ok=True)
    path.symlink_to(path)


def zeros(path):
    path.unlink(missing_ok=True)
    path.symlink_to("/dev/zero")


def test_a_lock_on_the_manifest_is_not_waited_for_for_ever(store, monkeypatch):
    """One line says who holds it; afterwards rows can be added."""
    monkeypatch.setattr(manifest, "WAIT", 0.2)
    store.append([make()], "run")
    command = [sys.executable, "-c", HOLD, str(store.folder / manifest.NAME)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(InvalidStore, match="has been locked for 0.2 s by ") as refused:
            store.append([make(sample=1)], "run")
        assert str(refused.value).isprintable()
        if Path("/proc/locks").exists():
            assert f"by process {holder.pid} (" in str(refused.value)
        holder.kill()
    store.append([make(sample=1)], "run")
    assert [row.sample for row in store.rows()] == [0, 1]
    assert store.verify() == []


@pytest.mark.parametrize("put", [fifo, folder, zeros, circle])
def test_something_else_in_place_of_the_manifest_is_refused(put, store):
    """In one line, where rows are read and where they are added."""
    store.append([make()], "run")
    put(store.folder / manifest.NAME)
    with pytest.raises((InvalidStore, OSError)):
        store.append([make(sample=1)], "run")
    with pytest.raises(InvalidStore, match="manifest.jsonl is no regular file"):
        store.rows()
    assert [damage.path.name for damage in store.verify()] == [manifest.NAME]


@pytest.mark.parametrize("put", [fifo, zeros])
def test_something_else_in_place_of_another_file_is_damage(put, store):
    """Shards, records, answers, the marker and the writer's lock."""
    kept = answers_path(store.folder, "k" * 32, 0)
    kept.parent.mkdir()
    np.save(kept, np.ones((3, 4)))
    store.record_run("a", {"plan": "x"})
    shard = store.append([make()], "run")
    for path in (shard, kept, store.folder / "runs" / "a.json"):
        put(path)
    assert {damage.path.name for damage in store.verify()} == {shard.name, kept.name, "a.json"}
    for read in (store.rows, store.runs, lambda: store.answers(make())):
        with pytest.raises(InvalidStore):
            read()
    put(store.folder / LOCK)
    with pytest.raises(InvalidStore, match="is no regular file"), store.writing():
        pass
    put(store.folder / "store.json")
    with pytest.raises(DPBenchError, match="is no regular file"):
        Store(store.folder)


def test_a_file_is_written_beside_whatever_has_its_temporary_name(tmp_path):
    """The name can be foreseen; to open a FIFO would be to wait for somebody who reads it."""
    path = tmp_path / "file"
    os.mkfifo(tmp_path / f".file.{os.getpid()}.part")
    write_whole(path, b"content")
    assert path.read_bytes() == b"content"
