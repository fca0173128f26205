"""A process for one stranger's code, forked from a clean one: nothing that it does reaches any other.

It has a session of its own, none of our files but its end of one socket, and no life beyond its parent's. The clean
process asks, checks the shape of what comes back, and ends it together with all that it has started.
"""

from __future__ import annotations

import os
import secrets
import signal
import socket
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from dpbench.run.executors import frames
from dpbench.run.executors.descendants import adopt_orphans, die_with_parent, end_children, end_group
from dpbench.run.executors.frames import Frame
from dpbench.run.executors.system import insist_on_forks, most_files

PATIENCE = 1.0
"""Seconds that a guest which has closed its socket gets to end by itself, so that its exit code is its own."""

Serve = Callable[[Callable[[], Any], Callable[..., None]], None]
"""What a guest does: it is given a way to take the next request, and one to answer it with facts and numbers."""


class Guest:
    """A forked process that answers requests, one after the other."""

    def __init__(self, serve: Serve) -> None:
        insist_on_forks("an algorithm of your own")
        adopt_orphans()
        die_with_parent(signal.SIGTERM)
        signal.signal(signal.SIGTERM, _leave)
        self._channel, theirs = frames.pair()
        sys.stdout.flush()
        sys.stderr.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python warns of forking beside threads; the child starts none of ours
            self.pid = os.fork()
        if self.pid == 0:
            _become(serve, theirs)
        theirs.close()
        self._code: int | None = None

    def ask(self, request: object, deadline: float, numbers: int = 0) -> Frame:
        """The answer to a request, with ``numbers`` bytes of numbers or none; raises what ``frames`` raises."""
        frames.insist_on_silence(self._channel)
        nonce = secrets.token_bytes(frames.NONCE)
        frames.send_request(self._channel, (nonce, request), deadline, self._alive)
        frame = frames.receive_frame(self._channel, nonce, self.pid, numbers, deadline, self._alive)
        frames.insist_on_silence(self._channel)
        return frame

    def seconds(self) -> float:
        """Processor time that it has used, by the system's count; 0 where the system does not say."""
        if sys.platform == "linux" and self._code is None:
            with suppress(OSError):
                return time.clock_gettime((~self.pid << 3) | 2)  # the clock of another process
        return 0.0

    def end(self, patience: float = 0.0) -> int:
        """End it, after so many seconds, and whatever it has started; its exit code."""
        deadline = time.monotonic() + patience
        while self._alive() and time.monotonic() < deadline:
            time.sleep(0.002)
        end_group(self.pid)
        if self._code is None:
            self._code = end_children(self.pid).get(self.pid)
        end_children()
        self._channel.close()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        die_with_parent()
        return self._code or 0

    def _alive(self) -> bool:
        if self._code is None:
            with suppress(ChildProcessError):
                found, status = os.waitpid(self.pid, os.WNOHANG)
                if found:
                    self._code = os.waitstatus_to_exitcode(status)
        return self._code is None


def _leave(number: int, frame: object) -> NoReturn:
    """End together with all guests: our parent is gone, or wants us to go."""
    del number, frame
    end_children()
    os._exit(1)


def _become(serve: Serve, channel: socket.socket) -> NoReturn:
    """In the child: let go of everything of ours, then serve until nobody asks."""
    code = 1
    try:
        clean = os.getppid()
        os.setsid()
        die_with_parent()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if os.getppid() == clean:
            _let_go(channel.fileno())
            serve(*_ways(channel))
            code = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 1
    finally:
        os._exit(code)


def _let_go(kept: int) -> None:
    """Close all files but one; what is read is empty, what is printed is dropped."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.closerange(3, kept)
    os.closerange(kept + 1, most_files())


def _ways(channel: socket.socket) -> tuple[Callable[[], Any], Callable[..., None]]:
    """How a guest takes a request and how it answers the last one taken."""
    nonces = list[bytes]()

    def take() -> Any:
        nonce, request = frames.receive_request(channel)
        nonces[:] = [nonce]
        return request

    def answer(facts: dict[str, Any], numbers: bytes = b"") -> None:
        frames.send_frame(channel, nonces.pop(), facts, numbers)

    return take, answer
