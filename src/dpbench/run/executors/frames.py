"""What passes between a clean process and one in which a stranger's code runs.

To the stranger go pickles: it may read what we write. Back come frames of one shape: a fixed head, JSON of limited
length, and numbers whose length is known before they are read. Nothing that comes back is ever unpickled.
"""

from __future__ import annotations

import array
import json
import os
import pickle
import select
import socket
import struct
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_HEAD = struct.Struct("!4s16sIQ")
_MAGIC = b"dpb1"
_LENGTH = struct.Struct("!Q")
_CREDENTIALS = struct.Struct("3i")
MOST_TEXT = 4 * 2**20
"""Bytes of JSON that a frame may hold."""
TICK = 0.1
"""Seconds between two looks at whether the other process lives."""
NONCE = 16


class BadFrame(Exception):
    """Something came that is no frame, or one that nobody asked for."""


class Ended(Exception):
    """The other process is gone."""


class Late(Exception):
    """Nothing whole came in time."""


@dataclass(frozen=True)
class Frame:
    """One message of a stranger's process."""

    facts: dict[str, Any]
    numbers: bytes


def pair() -> tuple[socket.socket, socket.socket]:
    """Two ends; where the system can, ours learns which process each byte came from."""
    ours, theirs = socket.socketpair()
    if sys.platform == "linux":
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    return ours, theirs


# --- in the stranger's process --------------------------------------------------------------------


def send_frame(channel: socket.socket, nonce: bytes, facts: dict[str, Any], numbers: bytes = b"") -> None:
    """Answer a request."""
    text = json.dumps(facts).encode()
    channel.sendall(_HEAD.pack(_MAGIC, nonce, len(text), len(numbers)))
    channel.sendall(text)
    channel.sendall(numbers)


def receive_request(channel: socket.socket) -> Any:
    """What we are asked; ``EOFError`` where nobody asks any more."""
    (length,) = _LENGTH.unpack(_exactly(channel, _LENGTH.size))
    return pickle.loads(_exactly(channel, length))  # noqa: S301  (written by the clean process)


def _exactly(channel: socket.socket, length: int) -> bytes:
    parts = bytearray()
    while len(parts) < length:
        part = channel.recv(min(length - len(parts), 2**20))
        if not part:
            raise EOFError
        parts += part
    return bytes(parts)


# --- in the clean process -------------------------------------------------------------------------


def send_request(channel: socket.socket, request: object, deadline: float, alive: Callable[[], bool]) -> None:
    """Ask; a process that does not read is late."""
    content = pickle.dumps(request)
    left = memoryview(_LENGTH.pack(len(content)) + content)
    while left:
        _, ready, _ = select.select([], [channel], [], TICK)
        if ready:
            try:
                left = left[channel.send(left, socket.MSG_DONTWAIT) :]
            except BlockingIOError:
                continue
            except OSError:
                raise Ended from None
        elif not alive():
            raise Ended
        if time.monotonic() > deadline:
            raise Late


def receive_frame(
    channel: socket.socket, nonce: bytes, pid: int, numbers: int, deadline: float, alive: Callable[[], bool]
) -> Frame:
    """The answer of process ``pid`` to the request with ``nonce``, with so many bytes of numbers or none."""

    def exactly(length: int) -> bytes:
        parts = bytearray()
        while len(parts) < length:
            parts += _receive(channel, length - len(parts), pid, deadline, alive)
        return bytes(parts)

    magic, answered, text, length = _HEAD.unpack(exactly(_HEAD.size))
    if magic != _MAGIC or answered != nonce or text > MOST_TEXT or length not in {0, numbers}:
        raise BadFrame("it sent something else than an answer to what it was asked")
    try:
        facts = json.loads(exactly(text))
    except (ValueError, RecursionError):
        facts = None
    if not isinstance(facts, dict):
        raise BadFrame("it sent something else than an answer to what it was asked")
    return Frame(facts, exactly(length))


def insist_on_silence(channel: socket.socket) -> None:
    """Refuse what came unasked; that the other end is closed is no word."""
    try:
        extra = channel.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except OSError:
        return
    if extra:
        raise BadFrame("it sent something else than an answer to what it was asked, or more than one")


def _receive(channel: socket.socket, length: int, pid: int, deadline: float, alive: Callable[[], bool]) -> bytes:
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            raise Late
        if select.select([channel], [], [], min(TICK, left))[0]:
            break
        if not alive() and not select.select([channel], [], [], 0)[0]:
            raise Ended
    try:
        content, ancillary, _, _ = channel.recvmsg(min(length, 2**20), socket.CMSG_SPACE(_CREDENTIALS.size))
    except OSError:
        raise Ended from None
    if not content:
        raise Ended
    for _, kind, data in ancillary:
        if (
            kind == getattr(socket, "SCM_CREDENTIALS", None)
            and _CREDENTIALS.unpack(data[: _CREDENTIALS.size])[0] != pid
        ):
            raise BadFrame("a process that it forked answered as well, or in its place")
        if kind == socket.SCM_RIGHTS:
            _close_all(data)
    return content


def _close_all(data: bytes) -> None:
    """Close descriptors that were sent along; nobody asked for any."""
    numbers = array.array("i")
    numbers.frombytes(data[: len(data) - len(data) % numbers.itemsize])
    for number in numbers:
        os.close(number)
