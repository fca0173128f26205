"""Where compiled kernels are kept."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

VARIABLE = "NUMBA_CACHE_DIR"
"""Environment variable of numba, which worker processes inherit."""
IN_MEMORY = "DPBENCH_KERNELS_IN_MEMORY"
"""Set by us for worker processes, so that the line is written once."""
KERNELS = Path(__file__).parent / "kernels"
_IMPORTED = re.compile(r"^from dpbench\.mathematics\.kernels\.(\w+) import", re.MULTILINE)
_ADVICE = f"set {VARIABLE} to a folder that can be written, and they are compiled once"


def settle() -> None:
    """Choose the folder where numba keeps kernels, if those that it tries by itself cannot be written."""
    if os.environ.get(IN_MEMORY):
        _keep_nothing()
        return
    _stamp_what_is_inlined()
    if any(map(_is_writable, _usual())):
        return
    try:
        folder = tempfile.mkdtemp(prefix="dpbench-kernels-")
    except OSError:
        os.environ[IN_MEMORY] = "1"
        sys.stderr.write(f"dpbench: nothing can be written, so kernels are compiled in memory each time; {_ADVICE}\n")
        _keep_nothing()
        return
    os.environ[VARIABLE] = folder
    _tell_numba(folder)
    atexit.register(_remove, folder, os.getpid())
    sys.stderr.write(f"dpbench: kernels cannot be kept, so they are compiled into {folder} for now; {_ADVICE}\n")


def is_warm() -> bool:
    """Whether every module of kernels was compiled after it was last changed, as far as names and times of files say.

    Modules of which nothing is kept, since others compile it into their own kernels, do not count.
    Where they are wrong, on another processor for example, kernels are compiled where they are first called.
    """
    modules = [path for path in KERNELS.glob("*.py") if "cache=True" in path.read_text(encoding="utf-8")]
    version = f"py{sys.version_info.major}{sys.version_info.minor}"

    def holds(folder: Path) -> bool:
        compiled: dict[str, float] = {}
        for path in folder.rglob(f"*.{version}.nbi"):
            module = path.name.split(".")[0]
            compiled[module] = max(compiled.get(module, 0.0), path.stat().st_mtime)
        return all(
            compiled.get(each.stem, 0.0) >= max(path.stat().st_mtime for path in (each, *inlined(each)))
            for each in modules
        )

    return not os.environ.get(IN_MEMORY) and any(map(holds, _usual()))


def inlined(module: Path) -> list[Path]:
    """The modules of kernels that one of them imports from, and those that these do: their code is compiled into it."""
    found: dict[Path, None] = {}
    waiting = [module] if module.parent == KERNELS else []
    while waiting:
        names = _IMPORTED.findall(waiting.pop().read_text(encoding="utf-8"))
        new = [path for path in (KERNELS / f"{name}.py" for name in names) if path not in found]
        found |= dict.fromkeys(new)
        waiting += new
    return sorted(found)


def _stamp_what_is_inlined() -> None:
    """Let numba compile a kernel again when a module that it has code of has changed; it looks at the kernel's own."""
    from numba.core.caching import _SourceFileBackedLocatorMixin as Locator

    of_itself = Locator.get_source_stamp

    def stamp(locator: Any) -> Any:
        others = inlined(Path(locator._py_file))
        own = of_itself(locator)  # type: ignore[no-untyped-call]
        return (own, *(sha256(path.read_bytes()).hexdigest() for path in others)) if others else own

    Locator.get_source_stamp = stamp  # type: ignore[method-assign]


def _usual() -> Iterator[Path]:
    """Folders that numba tries, in its order."""
    if os.environ.get(VARIABLE):
        yield Path(os.environ[VARIABLE])
    yield KERNELS / "__pycache__"
    yield _of_the_user()


def _of_the_user() -> Path:
    from numba.misc.appdirs import AppDirs

    return Path(AppDirs(appname="numba", appauthor=False).user_cache_dir)  # type: ignore[no-untyped-call]


def _is_writable(folder: Path) -> bool:
    """Whether files can be made there: tried, since permissions do not know of full or read-only disks."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _tell_numba(folder: str) -> None:
    from numba.core import config

    config.CACHE_DIR = folder  # type: ignore[attr-defined]


def _keep_nothing() -> None:
    """Let numba compile without a cache; it refuses to decorate a function that it cannot keep."""
    from numba.core.dispatcher import Dispatcher

    Dispatcher.enable_caching = lambda _: None  # type: ignore[method-assign, assignment]


def _remove(folder: str, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
