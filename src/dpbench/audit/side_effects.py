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
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from dpbench import fitted

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
