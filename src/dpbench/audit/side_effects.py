"""What an algorithm does outside its handle: files, programs, settings of the process, threads, things for the end."""

from __future__ import annotations

import atexit
import decimal
import gc
import locale
import logging
import os
import random
import sys
import sysconfig
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import date
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from dpbench import fitted
from dpbench.audit.contents import contents

CODE = (".py", ".pyc", ".so", ".pyd", ".dll", ".nbi", ".nbc", ".lock")
"""Endings of files that Python and numba open by themselves: imports, and kernels kept compiled."""
ON_PATHS = (
    "os.mkdir",
    "os.rmdir",
    "os.rename",
    "os.remove",
    "os.link",
    "os.symlink",
    "os.truncate",
    "os.chmod",
    "os.utime",
)
"""What Python says of files beside that they are opened."""
TO_OTHERS = (
    "subprocess.Popen",
    "os.system",
    "os.posix_spawn",
    "os.exec",
    "socket.connect",
    "socket.sendto",
    "socket.bind",
)
"""What it says of other programs and machines."""
AWAITED = 0.06
"""Seconds that a thread which a run has left behind gets to come to its end."""
LONG = 80
"""Characters; of a longer setting a hash is kept."""
BYTECODE = ("__pycache__", ".nbi", ".nbc", "/numba")
"""In the names of what they keep beside, or while they write it."""
CLEANING_UP = (
    "weakref",
    "shutil",
    "os",
    "posix",
    "pathlib",
    "tempfile",
    "logging",
    "threading",
    "multiprocessing.util",
)
"""Modules whose functions say nothing at the end of a process; what they remove is there once, and for the user."""
CLOCKS = ("time", "monotonic", "perf_counter", "process_time", "thread_time", "clock_gettime")
"""Names in Python's module of time, with or without ``_ns``."""
_watchers: list[list[str]] = []
_hooked: list[bool] = []
_farewells: list[Callable[[], object]] = []


@contextmanager
def deeds() -> Iterator[list[str]]:
    """What is done meanwhile to files and other programs, each as a verb with its object.

    Code and what belongs to this package or to Python aside.
    """
    if not _hooked:
        sys.addaudithook(_notice)  # cannot be taken away again, so there is one for good
        _hooked.append(True)
    found: list[str] = []
    _ours()  # before anything is watched: finding it out opens files
    _watchers.append(found)
    try:
        yield found
    finally:
        _watchers.remove(found)


@lru_cache(maxsize=1)
def _ours() -> tuple[str, ...]:
    """Where files belong to this package, with what it has fitted to workloads, to Python or to the system."""
    return (
        str(Path(__file__).parents[1]),
        str(fitted._path("any").parent),
        sys.prefix,
        sys.base_prefix,
        "/dev/",
        "/proc/",
    )


def _notice(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watchers:
        return
    deed = ""
    if event == "open" or event in ON_PATHS:
        named = arguments[: 1 if event == "open" else 2]  # what follows a path that is opened is the mode
        paths = [os.fsdecode(each) for each in named if isinstance(each, str | bytes | os.PathLike)]
        if paths and not any(_is_code(path) for path in paths):
            deed = f"opens {paths[0]!r}" if event == "open" else f"calls {event} on {', '.join(map(repr, paths))}"
    elif event in TO_OTHERS:
        deed = f"calls {event} with {arguments!r}"
    if deed:
        for found in _watchers:
            found.append(deed)


def _is_code(path: str) -> bool:
    """Whether a file is one of ours, of Python's or of numba's."""
    return path.endswith(CODE) or any(each in path for each in BYTECODE) or os.path.abspath(path).startswith(_ours())  # noqa: PTH100


def settings_of_the_process() -> dict[str, object]:
    """What anybody in this process can set and anybody else reads: environment, global generators, options."""
    numpys = np.random.get_state(legacy=False)  # noqa: NPY002  (the one that anybody may use)
    return {
        **{f"environment variable {name}": value for name, value in os.environ.items()},
        "working directory": str(Path.cwd()),
        "numpy's print options": np.get_printoptions(),
        "numpy's handling of errors": np.geterr(),
        "numpy's global generator": {**numpys, "state": numpys["state"]["key"].tobytes(), "at": numpys["state"]["pos"]},
        "Python's global generator": random.getstate(),
        "decimal context": str(decimal.getcontext()),
        "locale": locale.setlocale(locale.LC_ALL),
        "filters of warnings": tuple(warnings.filters),
        "level of logging": (logging.root.level, logging.root.manager.disable),
        "limit of recursion": sys.getrecursionlimit(),
        "garbage collection": (gc.isenabled(), gc.get_threshold()),
    }


def settings_changed(before: dict[str, object]) -> tuple[tuple[str, str], ...]:
    """Settings that are not what they were, each with what it is now, or with a hash of that where it is long."""
    after = settings_of_the_process()
    names = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    texts = [str(after.get(name, "unset")) for name in names]
    short = [text if len(text) <= LONG else f"hash {sha256(text.encode()).hexdigest()[:12]}" for text in texts]
    return tuple(zip(names, short, strict=True))


@contextmanager
def threads_awaited() -> Iterator[None]:
    """Wait for threads that were started meanwhile: they may still write to what was returned."""
    before = set(threading.enumerate())
    yield
    for thread in threading.enumerate():
        if thread not in before:
            thread.join(AWAITED)


@contextmanager
def farewells_noted() -> Iterator[None]:
    """Remember what is registered meanwhile to be done when the process ends."""
    register = atexit.register

    def noted(function: Callable[..., Any], *arguments: Any, **named: Any) -> Callable[..., Any]:
        if getattr(function, "__module__", "") not in CLEANING_UP:
            _farewells.append(partial(function, *arguments, **named))
        return register(function, *arguments, **named)

    atexit.register = noted  # type: ignore[assignment]
    try:
        yield
    finally:
        atexit.register = register


def farewells() -> Iterator[Callable[[], object]]:
    """What was registered, in the order in which it would be done; each once."""
    while _farewells:
        yield _farewells.pop()


@contextmanager
def other_randomness(channel: Iterable[np.random.BitGenerator]) -> Iterator[list[str]]:
    """What is meanwhile done to get random numbers from elsewhere than a channel, each as a verb with its object.

    Generators that are made or copied, or drawn from, numpy's and Python's own among them; the system's randomness; and
    clocks. A generator that is left as it was found, and what another thread does, are not seen.
    """
    import numpy.random.bit_generator as making  # every generator of numpy's begins with a lock, wherever it is made

    found: list[str] = []
    locks = {name: getattr(making, name) for name in ("RLock", "Lock") if hasattr(making, name)}

    def noticing(lock: Callable[..., Any]) -> Callable[..., Any]:
        def made(*arguments: Any) -> Any:
            found.append("makes or copies a random generator")
            return lock(*arguments)

        return made

    def profile(frame: FrameType, event: str, called: Any) -> None:
        if event == "c_call" and (deed := _random_deed(frame, called)):
            found.append(deed)

    theirs = {id(each) for each in channel}
    gc.unfreeze()  # what is frozen is not listed
    known = [each for each in gc.get_objects() if _is_bit_generator(each) and id(each) not in theirs]
    before = [contents(each.state) for each in known]
    pythons = random.getstate()
    profiling = sys.getprofile()
    for name, lock in locks.items():
        setattr(making, name, noticing(lock))
    sys.setprofile(profile)
    try:
        yield found
    finally:
        sys.setprofile(profiling)
        for name, lock in locks.items():
            setattr(making, name, lock)
    if [contents(each.state) for each in known] != before or random.getstate() != pythons:
        found.append("draws from a generator of its own")


def _is_bit_generator(thing: object) -> bool:
    """By the type alone: ``isinstance`` also asks the object, and a weak reference whose object is gone raises."""
    return issubclass(type(thing), np.random.BitGenerator)


def _random_deed(frame: FrameType, called: Any) -> str:
    """A builtin function that gives random numbers, or what can serve for them."""
    name, owner, module = (getattr(called, part, None) for part in ("__name__", "__self__", "__module__"))
    if isinstance(owner, random.Random):
        return "makes or draws from a generator of Python's"
    if module in ("posix", "nt") and name in ("urandom", "getrandom"):
        return "asks the operating system for random numbers"
    clock = module == "time" and str(name).removesuffix("_ns") in CLOCKS
    clock |= isinstance(owner, type) and issubclass(owner, date) and name in ("now", "utcnow", "today")
    by_python = frame.f_code.co_filename.startswith((sysconfig.get_path("stdlib"), "<frozen"))
    installed = "site-packages" in frame.f_code.co_filename  # in a folder of Python's, and not of Python
    return "looks at a clock" if clock and (installed or not by_python) else ""
