"""Something done in a process of its own that is forked from this one: it starts from the same state every time.

Code that keeps anything between runs starts without it, and what it does ends with the process. Modules that are loaded
here need not be loaded there, so a fresh process costs milliseconds. What comes back is plain data: whatever a plug-in
writes there, it runs no code here.
"""

from __future__ import annotations

import importlib
import os
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import TypeVar

from dpbench.audit.plain_data import NotPlain, packed, unpacked
from dpbench.audit.subject import in_words
from dpbench.errors import CheckFailed
from dpbench.run.executors.contained import exit_words, print_to
from dpbench.run.executors.descendants import die_with_parent
from dpbench.run.executors.system import insist_on_forks
from dpbench.sibling_modules import top_spec

Result = TypeVar("Result")

CHUNK = 1 << 20
MOST = 1 << 30
"""Bytes that may come back."""
WAITING = 6.0
"""Times its seconds of the processor that a fresh process may take on the clock."""
PATIENCE = 2000
"""Looks, half a millisecond apart, at whether a child has ended."""


class TooSlow(Exception):
    """A fresh process did not come to an end in time."""


def fresh(work: Callable[[], Result], seconds: float, *, silent: bool = False, kinds: Collection[type] = ()) -> Result:
    """What ``work`` returns in a forked process; ``CheckFailed`` where the process dies or ``work`` raises.

    That is plain data, in which ``kinds`` are the dataclasses that it may hold.

    ``seconds`` are of the processor, since a busy machine makes no algorithm slow; a process that waits gets a few
    times as many. ``silent`` drops whatever is printed there.
    """
    insist_on_forks("a check")
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of forking beside threads; the child starts none of ours
        child = os.fork()
    if child == 0:
        _become(reading, writing, work, seconds, silent, kinds)
    os.close(writing)
    begun = time.monotonic()
    try:
        sent = _read(reading, WAITING * seconds)
    except BaseException:
        os.kill(child, signal.SIGKILL)
        _reap(child)
        raise
    finally:
        os.close(reading)
    code = _reap(child)
    # its alarm rings first only where this process, too, was suspended for as long
    rung = code == -signal.SIGALRM and time.monotonic() - begun >= WAITING * seconds
    if rung or code == -signal.SIGPROF:
        raise TooSlow
    if not sent:
        raise CheckFailed(f"it ended its process ({exit_words(code)})")
    try:
        well, result = unpacked(sent, kinds)
    except (NotPlain, TypeError, ValueError):
        raise CheckFailed("it sent something else than its process was asked for") from None
    if well is not True:
        raise CheckFailed(str(result))
    return result  # type: ignore[no-any-return]


def _reap(child: int) -> int:
    """The exit code of a child that has closed its pipe, and is ended if that was not the end."""
    for look in range(2 * PATIENCE):
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        if look == PATIENCE:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.0005)
    return -signal.SIGKILL  # something of its own traces it: nobody else can bury it


def _read(reading: int, seconds: float) -> bytes:
    deadline, length = time.monotonic() + seconds, 0
    parts: list[bytes] = []
    while length <= MOST:
        ready, _, _ = select.select([reading], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise TooSlow
        part = os.read(reading, CHUNK)
        if not part:
            return b"".join(parts)
        parts.append(part)
        length += len(part)
    raise CheckFailed(f"it sent more than {MOST} bytes")


def _become(
    reading: int, writing: int, work: Callable[[], object], seconds: float, silent: bool, kinds: Collection[type]
) -> None:
    """In the child: do it, send what it gives, and end without any of the parent's cleaning up."""
    code = 1
    try:
        os.close(reading)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(int(WAITING * seconds) + 2)  # in case nobody is left to end it
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        die_with_parent()
        if silent:
            with TemporaryFile() as kept:  # what is printed past Python can be read there
                print_to(kept.fileno())
        try:
            sent = packed((True, work()), kinds)
        except CheckFailed as failure:
            sent = packed((False, str(failure)))
        except BaseException as error:
            sent = packed((False, in_words(error)))
        sys.stdout.flush()
        sys.stderr.flush()
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(sent)
        code = 0
    finally:
        os._exit(code)


def load_what_it_loads(work: Callable[[], object], seconds: float) -> None:
    """Import here what ``work`` imports in a fresh process, so that those to come need not; it is not run here."""

    def imported() -> list[str]:
        before = set(sys.modules)
        with suppress(Exception):
            work()
        return [name for name in sys.modules if name not in before]

    try:
        names = fresh(imported, seconds, silent=True)
    except (CheckFailed, TooSlow):
        return
    for name in names:
        with suppress(Exception):
            if _is_installed(name):
                importlib.import_module(name)


def _is_installed(name: str) -> bool:
    """Whether a module is one of this package, of Python, or installed beside them: no file that a plug-in can name."""
    first = name.partition(".")[0]
    if first in (*sys.stdlib_module_names, "dpbench"):
        return True
    spec = top_spec(first)
    return spec is not None and any(
        Path(spec.origin or "").is_relative_to(folder) for folder in (sys.prefix, sys.base_prefix)
    )


def processor_seconds() -> float:
    """Time of the processor that this process and those that it has started and that have ended took."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
