"""One writer at a time, by a lock that ends with its process."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from dpbench.errors import InvalidStore
from dpbench.store import Store
from dpbench.store import lock as store_lock

HOLD = """
import os, sys, time
from dpbench.store import Store
with Store(sys.argv[1]).writing((int(sys.argv[2]), int(sys.argv[3]))):
    if "orphan" in sys.argv and os.fork() == 0:  # a child that lives on, with everything that it inherits
        os.write(1, f"{os.getpid()}\\n".encode())  # a line at once: both write to one pipe
        time.sleep(600)
    os.write(1, b"held\\n")
    time.sleep(600)
"""


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store", create=True)


@pytest.fixture
def hold(store):
    """Starts a process that is the writer of a part, and returns once it is."""
    started = []

    def held(part=1, parts=1, *words):
        command = [sys.executable, "-c", HOLD, str(store.folder), str(part), str(parts), *words]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        started.append(process)
        lines = [process.stdout.readline().strip() for _ in range(1 + len(words))]
        assert "held" in lines
        return process, [int(line) for line in lines if line != "held"]

    yield held
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def free(store, part=(1, 1)):
    """Whether the lock can be had without waiting."""
    number = os.open(store.folder / store_lock.NAME, os.O_RDWR | os.O_CREAT)
    try:
        return store_lock._taken(number, part)
    finally:
        os.close(number)


def test_a_writer_keeps_others_out(store, hold):
    """Whole runs and parts of any split."""
    assert free(store)
    hold()
    assert not free(store)
    assert not free(store, (1, 2))


def test_parts_of_one_split_write_side_by_side(store, hold):
    """The same part, a part of another split and a whole run wait."""
    hold(1, 3)
    assert free(store, (2, 3))
    hold(2, 3)
    assert free(store, (3, 3))
    assert not free(store, (1, 3))
    assert not free(store, (1, 2))
    assert not free(store)


def test_a_killed_writer_does_not_keep_the_lock(store, hold):
    """Neither it nor a forked child that lives on with all its open files."""
    process, (orphan,) = hold(1, 1, "orphan")
    try:
        process.send_signal(signal.SIGKILL)
        process.wait()
        os.kill(orphan, 0)
        assert free(store)
    finally:
        os.kill(orphan, signal.SIGKILL)


def test_who_waits_says_for_whom_once_and_goes_on(store, hold, capsys):
    """One line with the process, its machine and its command; then, when that ends, the block."""
    process, _ = hold()
    threading.Timer(0.5, process.kill).start()
    with store.writing():
        pass
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert f"{store.folder} is being written to by process {process.pid} on " in error


def test_threads_wait_for_each_other(store, capsys):
    """Record locks do not tell threads apart; ours does."""
    order = []

    def write(name):
        with store.writing():
            order.append(name)
            time.sleep(0.2)
            order.append(name)

    threads = [threading.Thread(target=write, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert order in (list("aabb"), list("bbaa"))
    assert "another thread of this process" in capsys.readouterr().err


def test_a_writer_may_begin_again(store):
    """Within a block that has a part, a block that asks for all changes nothing, and gives nothing back."""
    with store.writing((1, 2)):
        with Store(store.folder).writing():
            pass
        code = f"import sys; sys.path[:0] = {sys.path!r}\nfrom store.test_lock import Store, free"
        ask = f"{code}\nprint(free(Store({str(store.folder)!r})), free(Store({str(store.folder)!r}), (2, 2)))"
        asked = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
        assert asked.stdout.split() == ["False", "True"]
    assert free(store)


def test_a_store_that_cannot_be_locked_is_refused_in_one_line(store):
    """As on a disk that cannot be written to."""
    (store.folder / store_lock.NAME).mkdir()
    with pytest.raises(InvalidStore, match="cannot be used as a store: Is a directory"), store.writing():
        pass
