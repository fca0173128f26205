"""One writer at a time: a lock on a store that ends with its process, however that ends.

It is a record lock of the operating system on ``STORE/writer.lock``, which belongs to the process that took it: a
killed process does not keep it, and no child has it, whether forked or started anew. What the file says, who writes
since when, is for those who wait, and decides nothing.

A run is part I of K (1 of 1 where nobody says otherwise). Parts of one K never hold the same unit, so they write side
by side; any others wait for each other. Byte 0 is held while somebody looks at the others, byte K is shared by the
parts of K, and one byte belongs to each part.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

from dpbench.store.disk import open_regular
from dpbench.strangers_text import one_line

if sys.platform == "win32":  # locks know no sharing there: parts wait for each other like any others
    import msvcrt
else:
    import fcntl

NAME = "writer.lock"
MOST = 2**20
"""More parts than a study is split into."""
PAUSE = 0.1
"""Seconds between two attempts."""

_GATE = threading.Lock()
_THREADS: dict[tuple[int, str], threading.RLock] = {}
"""By process and store: threads of one process do not see each other's record locks. A forked child starts anew."""
_DEPTH: dict[tuple[int, str], int] = {}


@contextmanager
def writing(folder: Path, part: tuple[int, int] = (1, 1)) -> Iterator[None]:
    """Be the writer of a store, or of a part of its study; waits, after one line on stderr that says for whom.

    Within a thread that is the writer already, nothing changes.
    """
    known = os.getpid(), os.path.realpath(folder)
    with _GATE:
        own = _THREADS.setdefault(known, threading.RLock())
    if not own.acquire(blocking=False):
        _say(folder, "another thread of this process")
        own.acquire()
    try:
        with nullcontext() if _DEPTH.get(known) else _locked(folder, part):
            _DEPTH[known] = _DEPTH.get(known, 0) + 1
            try:
                yield
            finally:
                _DEPTH[known] -= 1
    finally:
        own.release()


@contextmanager
def _locked(folder: Path, part: tuple[int, int]) -> Iterator[None]:
    """Hold the lock of the operating system."""
    path, told = folder / NAME, False
    while True:
        number = open_regular(path, os.O_RDWR | os.O_CREAT)
        try:
            while not _taken(number, part):
                if not told:
                    _say(folder, _holder(number))
                    told = True
                time.sleep(PAUSE)
            if _same_file(number, path):
                yield
                return
        finally:
            os.close(number)  # which is what gives the lock back


def _same_file(number: int, path: Path) -> bool:
    """Whether the open file still has its name; a store may be removed and made again while somebody waits."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(number), path.stat())
    return False


def _taken(number: int, part: tuple[int, int]) -> bool:
    """Take the lock if nobody is in the way, and leave a note."""
    if sys.platform == "win32":
        return _taken_alone(number)
    which, parts = part
    if not _try(number, fcntl.LOCK_EX, 0):
        return False
    try:
        others = ((1, parts - 1), (parts + 1, MOST - parts))
        free = all(_try(number, fcntl.LOCK_EX, first, count) for first, count in others if count)
        for first, count in others:
            if count:
                fcntl.lockf(number, fcntl.LOCK_UN, count, first)
        alone = free and _try(number, fcntl.LOCK_EX, parts)
        if not (free and _try(number, fcntl.LOCK_SH, parts) and _try(number, fcntl.LOCK_EX, MOST + which)):
            fcntl.lockf(number, fcntl.LOCK_UN, 1, parts)
            return False
        _leave_note(number, alone=alone)
        return True
    finally:
        fcntl.lockf(number, fcntl.LOCK_UN, 1, 0)


def _try(number: int, kind: int, first: int, count: int = 1) -> bool:
    try:
        fcntl.lockf(number, kind | fcntl.LOCK_NB, count, first)
    except (BlockingIOError, PermissionError):
        return False
    return True


if sys.platform == "win32":

    def _taken_alone(number: int) -> bool:
        """The same by the locks of Windows: one byte far behind the note, for one writer."""
        os.lseek(number, MOST, os.SEEK_SET)
        try:
            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        _leave_note(number, alone=True)
        return True


def _leave_note(number: int, *, alone: bool) -> None:
    """Say who writes, after those who do so as well."""
    words = " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])[:100].replace("\n", " ")
    note = f"{os.getpid()}\t{socket.gethostname()}\t{time.strftime('%H:%M:%S')}\t{words}\n"
    if alone:
        os.ftruncate(number, 0)
    os.lseek(number, 0, os.SEEK_END)
    os.write(number, note.encode("utf-8", "replace"))


def _holder(number: int) -> str:
    """Who is written down, the latest that may still live."""
    os.lseek(number, 0, os.SEEK_SET)
    lines = os.read(number, 2**16).decode("utf-8", "replace").splitlines()
    for line in reversed(lines):
        process, host, since, words = (line.split("\t", 3) + [""] * 4)[:4]
        if host != socket.gethostname() or (process.isdecimal() and _lives(int(process))):
            return f"process {process} on {host} ({words}, since {since})"
    return "another process"


def lock_holder(number: int) -> str:
    """Which process has locked an open file, as far as the system says."""
    with suppress(OSError, ValueError, IndexError):
        place = f":{os.fstat(number).st_ino}"
        for line in Path("/proc/locks").read_text().splitlines():
            parts = line.split()
            if parts[1] != "->" and parts[5].endswith(place):  # "->": one that waits
                words = Path(f"/proc/{int(parts[4])}/cmdline").read_bytes().replace(b"\0", b" ")
                return f"process {parts[4]} ({one_line(words.decode('utf-8', 'replace'), 100)})"
    return "another process"


def _lives(process: int) -> bool:
    """Whether a process is there; on Windows there is no harmless way to ask."""
    if sys.platform == "win32":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def _say(folder: Path, holder: str) -> None:
    sys.stderr.write(f"dpbench: {folder} is being written to by {holder}; waiting until that ends\n")
    sys.stderr.flush()
