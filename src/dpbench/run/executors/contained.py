"""A process of its own for code that may print, crash or hang: it harms nobody else and does not outlive its parent."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any, Self

ENVIRONMENT = {
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"),
    # glibc keeps what was freed for the next use: giving pages back and asking again took a tenth of a run's time
    "MALLOC_TRIM_THRESHOLD_": str(256 * 2**20),
    "MALLOC_MMAP_THRESHOLD_": str(32 * 2**20),
}
"""What these processes find in their environment: one thread each, and memory that stays theirs."""
PATIENCE = 1.0
"""Seconds that a process which has closed its pipe gets to end by itself, so that its exit code is its own."""
_PARENT_DEATH_SIGNAL = 1


@dataclass
class Contained:
    """A process and our end of its pipe."""

    process: SpawnProcess
    connection: Connection

    @classmethod
    def start(cls, target: Callable[..., None], *arguments: Any, **fields: Any) -> Self:
        """Call ``target`` with its end of the pipe and arguments, in a new process; ``fields`` are for the class."""
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_contain, args=(target, os.getpid(), theirs, *arguments), daemon=True)
        with _environment():
            process.start()
        theirs.close()
        return cls(process, ours, **fields)

    def end(self, patience: float = 0.0) -> int:
        """End the process, whatever state it is in, after so many seconds; its exit code."""
        self.process.join(patience)
        self.process.kill()
        self.process.join()
        self.connection.close()
        return self.process.exitcode or 0


def exit_words(code: int) -> str:
    """An exit code in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


def print_to(number: int) -> None:
    """Send whatever this process and its libraries print to an open file."""
    for stream in (1, 2):
        os.dup2(number, stream)


@contextmanager
def _environment() -> Iterator[None]:
    """The environment of these processes while one is started; ours is left as it was."""
    before = {name: os.environ.get(name) for name in ENVIRONMENT}
    os.environ.update(ENVIRONMENT)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _contain(target: Callable[..., None], parent: int, connection: Connection, *arguments: Any) -> None:
    """What the new process does first."""
    _die_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    print_to(os.open(os.devnull, os.O_WRONLY))  # a flood would drown the progress and fill the disk
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # an algorithm that crashes leaves no core file behind
    target(connection, *arguments)


def die_with_parent() -> None:
    """Let the system end this process when its parent ends, where it can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)


def _die_with(parent: int) -> None:
    """End when the parent does, even in the middle of something."""
    die_with_parent()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
