"""What operating systems have and others lack: forks, limits, a signal that nothing survives.

Where a process cannot fork, as on Windows, our algorithms run in one process, and a stranger's code, which has to be
kept apart, is refused in one line.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from dpbench.errors import Unsupported

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

KILL: int = getattr(signal, "SIGKILL", signal.SIGTERM)
MANY_FILES = 2**16
MEMORY: ContextVar[int | None] = ContextVar("memory of plug-ins", default=None)
"""Bytes that a plug-in may have while it is loaded to be asked what it is; None: what one process may have."""


def can_fork() -> bool:
    """Whether worker processes and guests can be had."""
    return hasattr(os, "fork")


def insist_on_forks(what: str) -> None:
    """Refuse what cannot be kept apart here."""
    if not can_fork():
        raise Unsupported(f"{what} needs a system that can fork a process, to be kept apart; use Linux, macOS or WSL")


def limit_memory(most: int) -> None:
    """Let this process, and each that begins below it, have so many bytes, where the system can."""
    if resource is not None:
        before = resource.getrlimit(resource.RLIMIT_DATA)[1]
        most = most if before == resource.RLIM_INFINITY else min(most, before)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def memory_share(processes: int) -> int | None:
    """Bytes that each of so many processes may have: of nine tenths of the machine's; None where that is not known."""
    if not hasattr(os, "sysconf"):
        return None
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 9 // (10 * max(processes, 1))


@contextmanager
def memory_of_plugins(most: int | None) -> Iterator[None]:
    """Let plug-ins that are loaded within the block have so many bytes; None: what one process may have."""
    before = MEMORY.set(most)
    try:
        yield
    finally:
        MEMORY.reset(before)


def leave_no_core() -> None:
    """A crash of this process leaves no core file behind."""
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def most_files() -> int:
    """Above every number of an open file."""
    return MANY_FILES if resource is None else min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], MANY_FILES)
