"""Identity of results: the revision of built-in code, the files of plug-in code.

A built-in algorithm, workload or loss has a ``revision``, an integer that is raised when its answers change. The file
``benchmarks/fingerprints.json`` holds a digest of what each answers, and a test recomputes them. So a refactoring,
another message or another limit reruns nothing. A plug-in is identified by its file, the files beside it that it
imports, the files that it names, and the version of this package.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from hashlib import file_digest, sha256
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from dpbench import __version__
from dpbench.algorithm import Algorithm
from dpbench.errors import InvalidInput
from dpbench.loss import Loss
from dpbench.run.data_vectors import ALWAYS, REVISION
from dpbench.sibling_modules import file_of
from dpbench.workloads import Workload

PACKAGE = Path(__file__).resolve().parents[1]
IDENTITY = "revision"
"""The kind of identity, as records of runs and shipped results name it."""


def algorithm_version(kind: type[Algorithm], files: Iterable[str] = ()) -> str:
    """Version of an algorithm: ``Hb-r1`` for a built-in one, else a hash; files of the user's that it reads count."""
    if is_built_in(kind):
        contents = "".join(content_hash(path) for path in files if PACKAGE not in Path(path).resolve().parents)
        return f"{kind.name}-r{kind.revision}" + (f"+{_short(contents)}" if contents else "")
    return _files_version(plugin_files(kind, files))


def workload_version(kind: type[Workload]) -> str:
    """Version of a workload's code."""
    return f"{kind.__name__}-r{kind.revision}" if is_built_in(kind) else _files_version(plugin_files(kind))


def loss_version(kind: type[Loss]) -> str:
    """Version of a loss's code; empty for a loss that every row holds, whose code is the generator's."""
    if kind in map(type, ALWAYS.values()):
        return ""
    return f"r{kind.revision}" if is_built_in(kind) else _files_version(plugin_files(kind))


def generator_version() -> str:
    """Version of the code that makes data vectors and measures errors on them."""
    return f"generator-r{REVISION}"


def is_built_in(kind: type) -> bool:
    """Whether a class is part of this package."""
    return kind.__module__.split(".")[0] == "dpbench"


def plugin_files(kind: type, files: Iterable[str] = ()) -> tuple[tuple[str, str], ...]:
    """The files that identify a plug-in's class, in order, each with a hash of its content."""
    found = {*_source_files(kind.__module__), *(Path(path).resolve() for path in files)}
    return tuple((str(path), content_hash(path)) for path in sorted(found))


def content_hash(path: str | Path) -> str:
    """Hash of a file."""
    with Path(path).open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _files_version(files: Iterable[tuple[str, str]]) -> str:
    """A hash of names and contents; the folder does not count."""
    return _short("|".join([__version__, *sorted(f"{Path(path).name} {content}" for path, content in files)]))


def _short(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]


def _source_files(module: str) -> set[Path]:
    """The source files of a plug-in: its file and what it imports from beside it, or its installed package."""
    own = file_of(module)
    path = own or getattr(sys.modules.get(module), "__file__", None)
    if path is None:
        raise InvalidInput(
            f"the code of the module {module} is in no file, so that a change of it would not show; put it into a file"
        )
    path, inner = Path(path).resolve(), module.count(".")
    if own is None and (inner or path.name == "__init__.py"):
        return set(path.parents[inner - (path.name != "__init__.py")].rglob("*.py"))
    return imported_files(path)


def imported_files(path: Path) -> set[Path]:
    """A file and the files beside it that it imports, directly or through one another, now or in a function.

    The import statements are read and nothing is run, so a module that is imported by a computed name is not found.
    """
    found, waiting = set[Path](), [path]
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            if each.suffix == ".py":
                waiting += _imports(each, path.parent)
    return found


def _imports(path: Path, folder: Path) -> Iterator[Path]:
    """The files below a folder that the import statements of a file may mean."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):  # it cannot be imported either
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _module_files(folder, alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            base = path.parents[node.level - 1] if node.level else folder
            stem = node.module.split(".") if node.module else []
            for alias in node.names:
                yield from _module_files(base, [*stem, alias.name])


def _module_files(folder: Path, names: list[str]) -> Iterator[Path]:
    """The files of a module and of the packages that it is in, as far as they are below a folder."""
    for number in range(1, len(names) + 1):
        place = folder.joinpath(*names[:number])
        endings = (".py", *EXTENSION_SUFFIXES)
        candidates = [place / "__init__.py", *(place.with_name(f"{place.name}{ending}") for ending in endings)]
        yield from (each.resolve() for each in candidates if each.is_file())
