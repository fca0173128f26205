"""Where compiled kernels are kept."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from traceback import walk_tb
from typing import Any

from dpbench.errors import one_line

VARIABLE = "NUMBA_CACHE_DIR"
"""Environment variable of numba, which worker processes inherit."""
IN_MEMORY = "DPBENCH_KERNELS_IN_MEMORY"
"""Set by us for worker processes, so that the line is written once."""
KERNELS = Path(__file__).parent / "kernels"
PACKAGE = "dpbench.mathematics.kernels"
_SEAL = sha256().digest_size
_IMPORTED = re.compile(r"^from dpbench\.mathematics\.kernels\.(\w+) import", re.MULTILINE)
_ADVICE = f"set {VARIABLE} to a folder that can be written, and they are compiled once"


def settle() -> None:
    """Choose the folder where numba keeps kernels, if those that it tries by itself cannot be written."""
    if os.environ.get(IN_MEMORY):
        _keep_nothing()
        return
    _stamp_what_is_inlined()
    _seal_what_is_kept()
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


def _seal_what_is_kept() -> None:
    """Let numba end the files of our kernels with a hash, and compile a kernel again whose files are not whole.

    Numba itself raises whatever a damaged file makes pickle or LLVM raise, and runs machine code with a flipped bit.
    """
    from numba.core.caching import FunctionCache, IndexDataCacheFile
    from numba.core.dispatcher import Dispatcher

    class Sealed(IndexDataCacheFile):
        def _load_index(self) -> Any:
            return super()._load_index() if _is_whole(Path(self._index_path)) else {}  # type: ignore[no-untyped-call]

        def _load_data(self, name: str) -> Any:
            if _is_whole(Path(self._data_path(name))):  # type: ignore[no-untyped-call]
                return super()._load_data(name)  # type: ignore[no-untyped-call]
            raise OSError(f"{name} is damaged")

        @contextmanager
        def _open_for_write(self, filepath: str) -> Iterator[BytesIO]:
            content = BytesIO()
            yield content
            with super()._open_for_write(filepath) as file:
                file.write(content.getvalue() + sha256(content.getvalue()).digest())

    class Kept(FunctionCache):
        def __init__(self, py_func: Any) -> None:
            super().__init__(py_func)  # type: ignore[no-untyped-call]
            self._cache_file.__class__ = Sealed

        def load_overload(self, *asked: Any) -> Any:
            try:
                return super().load_overload(*asked)  # type: ignore[no-untyped-call]
            except Exception:  # a file as numba of another version wrote it, or that may not be read
                return None

        def save_overload(self, *given: Any) -> None:
            with suppress(OSError):  # what cannot be kept is there in memory
                super().save_overload(*given)  # type: ignore[no-untyped-call]

    of_others = Dispatcher.enable_caching

    def enable(dispatcher: Any) -> None:
        if not dispatcher.py_func.__module__.startswith(f"{PACKAGE}."):
            of_others(dispatcher)
            return
        with suppress(OSError, RuntimeError):  # no folder can be written any more
            dispatcher._cache = Kept(dispatcher.py_func)

    Dispatcher.enable_caching = enable  # type: ignore[method-assign, assignment]


def _is_whole(path: Path) -> bool:
    """Whether a file ends with the hash of what stands before."""
    try:
        content = path.read_bytes()
    except OSError:
        return False
    return sha256(content[:-_SEAL]).digest() == content[-_SEAL:]


def fault(error: BaseException) -> str:
    """One line where an exception arose because kernels of ours cannot be loaded or compiled; empty where not."""
    module = being_loaded(error)
    if not module:
        return ""
    said = f"{type(error).__name__}: {one_line(str(error))}"[:300]
    return (
        f"the kernels {module} cannot be loaded ({said}), which is no fault of an algorithm: free some memory, or give "
        f"workers more --memory; `python -m {PACKAGE}` loads all of them"
    )


def being_loaded(error: BaseException) -> str:
    """The module of kernels that was being loaded, or compiled, when an exception arose; empty where none was."""
    waiting, seen = [error], set[int]()
    for each in waiting:
        seen.add(id(each))
        name = getattr(each, "name", None) if isinstance(each, ImportError) else None
        if isinstance(name, str) and name.startswith(f"{PACKAGE}."):
            return name.rpartition(".")[2]
        places = [frame.f_code for frame, _ in walk_tb(each.__traceback__) if frame.f_code.co_name == "<module>"]
        files = [Path(place.co_filename) for place in places]
        files += [Path(each.filename)] if isinstance(each, SyntaxError) and each.filename else []
        found = next((path.stem for path in files if path.parent == KERNELS), "")
        if found:
            return found
        waiting += [
            cause for cause in (each.__cause__, each.__context__) if cause is not None and id(cause) not in seen
        ]
    return ""


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
