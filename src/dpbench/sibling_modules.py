"""Modules of somebody's own file: what it imports from beside it is found there, and is nobody else's.

The file is loaded as a module of a package of its own, which is its folder. What lies beside it is found first, as for
a script, without ``PYTHONPATH``; two files in different folders that both ``import helper`` get each their own.
Everything is loaded afresh whenever the file is asked for, so that an edit counts at once.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from importlib import import_module, invalidate_caches
from importlib.abc import MetaPathFinder
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from threading import RLock
from types import CodeType, ModuleType
from weakref import WeakKeyDictionary

PACKAGE = "dpbench_plugin_"
"""How the names of such packages begin."""


def load_file(path: Path) -> ModuleType:
    """The module of a file; whatever goes wrong in it is raised as it is."""
    path = path.resolve()
    with _LOADING:
        name = f"{_fresh_package(path.parent)}.{path.stem.replace('.', '_')}"
        loader = _Loader(name, str(path))
        module = module_from_spec(ModuleSpec(name, loader, origin=str(path)))
        module.__file__ = str(path)
        sys.modules[name], _FILES[name] = module, path  # dataclasses look their module up there
        try:
            loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return module


def is_beside(name: str, folder: Path) -> bool:
    """Whether ``import name`` in a file means something in the file's folder, as it would in a script."""
    if name == "dpbench" or name in sys.builtin_module_names:
        return False
    files = (f"{name}/__init__.py", f"{name}.py", *(f"{name}{suffix}" for suffix in EXTENSION_SUFFIXES))
    if any((folder / file).is_file() for file in files):
        return True
    return (folder / name).is_dir() and top_spec(name) is None  # a mere folder yields to what is installed


def top_spec(name: str) -> ModuleSpec | None:
    """Where Python would find a module that is in no package; nothing is imported."""
    try:
        return find_spec(name)
    except (ImportError, ValueError):  # somebody put something without a spec into sys.modules
        return None


def file_of(module: str) -> Path | None:
    """The file that a module was loaded from as somebody's own; None for any other module."""
    return _FILES.get(module)


def note_file(kind: type, path: str | Path) -> None:
    """Remember the file in which a class was asked for: it may be defined, or made by a function, elsewhere."""
    _ASKED_IN[kind] = Path(path).resolve()


def file_asked_for(kind: type) -> Path | None:
    """The file in which a class was asked for; None for any other class."""
    return _ASKED_IN.get(kind) or file_of(kind.__module__)


_FILES: dict[str, Path] = {}
"""The file of every module that was asked for."""
_ASKED_IN = WeakKeyDictionary[type, Path]()
"""The file of every class that was asked for."""
_LOADING = RLock()
"""Held while such modules come and go: a worker of a cluster may have several threads."""


def _fresh_package(folder: Path) -> str:
    """The package of a folder, with nothing loaded yet."""
    name = f"{PACKAGE}{sha256(str(folder).encode()).hexdigest()[:16]}"
    for loaded in [each for each in sys.modules if each == name or each.startswith(f"{name}.")]:
        del sys.modules[loaded]
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    invalidate_caches()
    spec = ModuleSpec(name, None, is_package=True)
    spec.submodule_search_locations = [str(folder)]
    sys.modules[name] = module_from_spec(spec)
    return name


class _Finder(MetaPathFinder):
    """Finds what lies beside somebody's own file."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """As Python does in a folder, with our loader for what is written in Python."""
        if not fullname.startswith(PACKAGE) or path is None:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader, spec.cached = _Loader(fullname, spec.loader.path), None
        return spec


class _Loader(SourceFileLoader):
    """Loads a module that finds what lies beside it."""

    def get_code(self, fullname: str) -> CodeType:
        """Compiled from the text: kept bytecode is recognised by second and size, and an edit may change neither."""
        del fullname
        return self.source_to_code(self.get_data(self.path), self.path)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module with an import of its own."""
        package = module.__name__.split(".")[0]
        vars(module)["__builtins__"] = vars(builtins) | {"__import__": _import_beside(package)}
        super().exec_module(module)


def _import_beside(package: str) -> Callable[..., ModuleType]:
    """``__import__`` that looks into the folder of a package first, also when a function imports later."""
    folder, known = Path(sys.modules[package].__path__[0]), dict[str, bool]()

    def find(
        name: str,
        globals: Mapping[str, object] | None = None,  # noqa: A002  (Python's own name)
        locals: Mapping[str, object] | None = None,  # noqa: A002
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        first = name.split(".", maxsplit=1)[0]
        if first not in known:
            known[first] = is_beside(first, folder)
        if level or not known[first]:
            return __import__(name, globals, locals, fromlist or (), level)
        with _LOADING:
            module = import_module(f"{package}.{name}")
            if not fromlist:
                return sys.modules[f"{package}.{first}"]
            return __import__(module.__name__, globals, locals, fromlist)

    return find
