"""A process of its own for code that may print, crash or hang: it harms nobody else and does not outlive its parent."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from types import ModuleType
from typing import Any, Self

from dpbench.run.executors.descendants import LOOKS, adopt_orphans, die_with_parent, end_strays, mark
from dpbench.run.executors.system import KILL, leave_no_core, limit_memory

ENVIRONMENT = {
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"),
    # glibc keeps what was freed for the next use: giving pages back and asking again took a tenth of a run's time
    "MALLOC_TRIM_THRESHOLD_": str(256 * 2**20),
    "MALLOC_MMAP_THRESHOLD_": str(32 * 2**20),
}
"""What these processes find in their environment: one thread each, and memory that stays theirs."""
PATIENCE = 1.0
"""Seconds that a process which has closed its pipe gets to end by itself, so that its exit code is its own."""
WHOLE = 30.0
"""Seconds in which a message has to come or go whole: a plug-in may stop a process of ours in the middle of one."""
MOST = 2**30
"""Bytes that a message may have."""
DYING = 5.0
"""Seconds that a killed process may take to be gone."""
_living: set[int | None] = set()
"""The processes that have not been ended: while there are any, orphans below them come to us."""

KILLED = 10
"""So often something of ours is begun again that was killed from outside, by a person or a system short of memory."""


@dataclass
class Contained:
    """A process and our end of its pipe."""

    process: SpawnProcess
    connection: Connection

    @classmethod
    def start(
        cls,
        target: Callable[..., None],
        *arguments: Any,
        memory: int | None = None,
        without_main: bool = False,
        **fields: Any,
    ) -> Self:
        """Call ``target`` with its end of the pipe and arguments, in a new process; ``fields`` are for the class.

        ``memory`` is in bytes. ``without_main``: the program that was started, a script of the user's perhaps, is not
        loaded there.
        """
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        _give_up_sending(ours)
        resource_tracker.ensure_running()  # Python's own: it is no worker, and is not to have their environment
        adopt_orphans()
        process = context.Process(target=_contain, args=(target, os.getpid(), memory, theirs, *arguments), daemon=True)
        with _environment(), _hidden_main() if without_main else nullcontext():
            process.start()
        theirs.close()
        _living.add(process.pid)
        return cls(process, ours, **fields)

    def receive(self, most: int = MOST) -> bytes:
        """The next message, a length and so many bytes, as ``multiprocessing`` writes it; ``OSError`` if it stalls."""
        deadline = time.monotonic() + WHOLE

        def exactly(length: int) -> bytes:
            parts = bytearray()
            while len(parts) < length:
                if not self.connection.poll(max(0.0, deadline - time.monotonic())):
                    raise TimeoutError(f"{len(parts)} of {length} bytes came in time")
                part = os.read(self.connection.fileno(), min(length - len(parts), 2**20))
                if not part:
                    raise EOFError
                parts += part
            return bytes(parts)

        (length,) = struct.unpack("!i", exactly(4))
        if not 0 <= length <= most:
            raise OSError(f"a message of {length} bytes")
        return exactly(length)

    def end(self, patience: float = 0.0) -> int:
        """End the process, whatever state it is in, after so many seconds; its exit code."""
        self.process.join(patience)
        self.process.kill()
        deadline = time.monotonic() + DYING
        while self.process.is_alive() and time.monotonic() < deadline:  # one that a stray traces goes after the stray
            _end_strays()
            time.sleep(LOOKS)
        _end_strays()
        self.connection.close()
        _living.discard(self.process.pid)
        adopt_orphans(bool(_living))
        return self.process.exitcode or 0


def _end_strays() -> None:
    end_strays({each.pid for each in multiprocessing.active_children() if each.pid})


def _give_up_sending(connection: Connection) -> None:
    """Let what we send fail where a process does not take it in time."""
    with socket.socket(fileno=os.dup(connection.fileno())) as channel:
        channel.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("@ll", int(WHOLE), 0))


def killed(code: int) -> bool:
    """Whether a process was killed, which none does to itself: nothing in what it did need be the reason."""
    return code == -KILL


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


@contextmanager
def _hidden_main() -> Iterator[None]:
    """Python starts a new process with the main module of this one; not now."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _contain(
    target: Callable[..., None], parent: int, memory: int | None, connection: Connection, *arguments: Any
) -> None:
    """What the new process does first."""
    mark()
    _die_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    print_to(os.open(os.devnull, os.O_WRONLY))  # a flood would drown the progress and fill the disk
    leave_no_core()
    if memory is not None:
        limit_memory(memory)
    target(connection, *arguments)


def _die_with(parent: int) -> None:
    """End when the parent does, even in the middle of something."""
    die_with_parent()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
