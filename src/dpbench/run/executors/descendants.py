"""Processes that a plug-in has started: found and ended, whatever session, parent or environment they have.

On Linux a process can take in the orphans among its descendants (it is their subreaper), so that nothing that begins
below it escapes by losing its parent. The process that runs dpbench may be a user's program with children of its own:
there, only orphans that bear the mark of our workers are ended. Elsewhere only the process group of a guest is ended.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from contextlib import suppress
from pathlib import Path

from dpbench.run.executors.system import KILL

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_DEATH_SIGNAL, _SUBREAPER = 1, 36
"""What ``prctl`` calls them."""
PATIENCE = 5.0
"""Seconds that ending all descendants may take: some may be starting others."""
_MARK, _LARGE = 10, 2**40
"""The limit that marks our processes, and what it is lowered to where there is none.

Linux has not used this limit on file locks since version 2.4. A process inherits it, can lower it, and cannot raise it.
"""
LOOKS = 0.001
"""Seconds between two looks at processes that were killed."""


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


def end_children(*known: int) -> dict[int, int]:
    """Kill and reap all children, and the orphans that follow them, until none is left; the exit code of each.

    ``known`` are children that the system need not list. A child that another process traces is not there to be reaped
    before that process has ended, so none is waited for.
    """
    deadline, left, codes = time.monotonic() + PATIENCE, set(known), dict[int, int]()
    while (found := left | {*children()}) and time.monotonic() < deadline:
        ended = _ended(found)
        codes |= ended
        left -= {*ended}
        time.sleep(LOOKS if found - {*ended} else 0)
    return codes


def end_strays(known: set[int]) -> None:
    """Kill the orphans of workers that were ended before they could clear up; ``known`` are workers that live."""
    deadline = time.monotonic() + PATIENCE
    while (found := {pid for pid in children() if pid not in known and _marked(pid)}) and time.monotonic() < deadline:
        time.sleep(LOOKS if found - {*_ended(found)} else 0)


def _ended(found: set[int]) -> dict[int, int]:
    """Kill these children; the exit codes of those that have ended, 0 where another thread has taken it."""
    codes = dict[int, int]()
    for pid in found:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, KILL)
    for pid in found:
        try:
            ended, status = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            ended, status = pid, 0
        if ended:
            codes[pid] = os.waitstatus_to_exitcode(status)
    return codes


def mark() -> None:
    """Let this process and all that begin below it be known as ours, where the system can."""
    if sys.platform == "linux" and resource is not None:
        limit = resource.getrlimit(_MARK)[1]
        lower = _LARGE if limit == resource.RLIM_INFINITY else max(limit - 1, 0)
        resource.setrlimit(_MARK, (lower, lower))


def _marked(pid: int) -> bool:
    """Whether a process, alive or dead and unburied, began below a worker of ours, whatever has become of it."""
    if sys.platform == "linux" and resource is not None:
        with suppress(OSError, ValueError):
            theirs, ours = (resource.prlimit(each, _MARK)[1] for each in (pid, 0))
            return theirs != resource.RLIM_INFINITY and (ours == resource.RLIM_INFINITY or theirs < ours)
    return False
