"""Processes that somebody's code has started: found and ended, whatever session or parent they have given themselves.

On Linux a process can take in the orphans among its descendants (it is their subreaper), so that nothing that begins
below it escapes by losing its parent. Elsewhere only the process group of a guest is ended.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from contextlib import suppress
from pathlib import Path

from dpbench.run.executors.system import KILL

_DEATH_SIGNAL, _SUBREAPER = 1, 36
"""What ``prctl`` calls them."""
PATIENCE = 5.0
"""Seconds that ending all descendants may take: some may be starting others."""
MARK = "DPBENCH_WORKER_OF"
"""In the environment of a worker and of all that begins below it: the process that started the worker."""


def die_with_parent(number: int = KILL) -> None:
    """Let the system send this process a signal when its parent ends, where it can."""
    _control(_DEATH_SIGNAL, number)


def adopt_orphans(adopt: bool = True) -> None:
    """Become the parent of every descendant that loses its own, where the system can; or leave that."""
    _control(_SUBREAPER, int(adopt))


def _control(what: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(what, value, 0, 0, 0)


def children() -> list[int]:
    """The processes whose parent is this one; nothing where the system does not list them."""
    me, found = os.getpid(), list[int]()
    for entry in _listed("/proc"):
        if entry.isdecimal():
            with suppress(OSError, ValueError, IndexError):
                after_name = Path(f"/proc/{entry}/stat").read_bytes().rpartition(b")")[2].split()
                if int(after_name[1]) == me:
                    found.append(int(entry))
    return found


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208  (names are all that is wanted, of thousands)
    except OSError:
        return []


def end_group(leader: int) -> None:
    """Kill the process group of a guest at once."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, KILL)


def end_children() -> None:
    """Kill and reap all children, and the orphans that follow them, until none is left."""
    deadline = time.monotonic() + PATIENCE
    while (found := children()) and time.monotonic() < deadline:
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, KILL)
        for pid in found:
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)


def end_strays(known: set[int]) -> None:
    """Kill the orphans of workers that were ended before they could clear up; ``known`` are workers that live."""
    deadline = time.monotonic() + PATIENCE
    while (found := [pid for pid in children() if pid not in known and _marked(pid)]) and time.monotonic() < deadline:
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, KILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _marked(pid: int) -> bool:
    """Whether a process, alive or dead and unburied, began below a worker of ours."""
    with suppress(OSError):
        return f"{MARK}={os.getpid()}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return False
