"""A worker process: takes portions of units from a pipe, sends back one row after the other."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
from multiprocessing.connection import Connection

from dpbench.errors import RunStopped
from dpbench.run.bench import Bench
from dpbench.run.executors.parent_death import die_with


def work(connection: Connection, memory: int | None, parent: int) -> None:
    """Serve until the pipe closes, or somebody ends the process."""
    die_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    _silence()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # an algorithm that crashes leaves no core file behind
    if memory is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    bench = Bench()
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        connection.send("ready")
        while True:
            for unit in connection.recv():
                try:
                    connection.send(bench.run(unit))
                except RunStopped as error:
                    connection.send(error)
                    return


def _silence() -> None:
    """Whatever an algorithm prints goes nowhere: a flood would drown the progress and fill the disk."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
