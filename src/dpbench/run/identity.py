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
from importlib.metadata import distribution, packages_distributions
from pathlib import Path
from sysconfig import get_path

from dpbench import __version__
from dpbench.algorithm import Algorithm
from dpbench.errors import InvalidInput
from dpbench.loss import Loss
from dpbench.run.data_vectors import ALWAYS, REVISION
from dpbench.sibling_modules import PACKAGE as PLUGIN_PACKAGE
from dpbench.sibling_modules import file_asked_for
from dpbench.workloads import Workload

PACKAGE = Path(__file__).resolve().parents[1]
IDENTITY = "revision"
"""The kind of identity, as records of runs and shipped results name it."""
ENDINGS = (".py", *EXTENSION_SUFFIXES)
"""How the names of files of code end."""
IMPORTING = ("import_module", "__import__")
"""Functions that import a module by its name."""


def algorithm_version(kind: type[Algorithm], files: Iterable[str] = ()) -> str:
    """Version of an algorithm: ``Hb-r1`` for a built-in one, else a hash; files of the user's that it reads count."""
    if is_built_in(kind):
        contents = "".join(content_hash(path) for path in files if PACKAGE not in Path(path).resolve().parents)
        return f"{kind.name}-r{kind.revision}" + (f"+{_short(contents)}" if contents else "")
    return _files_version(kind, files)


def workload_version(kind: type[Workload]) -> str:
    """Version of a workload's code."""
    return f"{kind.__name__}-r{kind.revision}" if is_built_in(kind) else _files_version(kind)


def loss_version(kind: type[Loss]) -> str:
    """Version of a loss's code; empty for a loss that every row holds, whose code is the generator's."""
    if kind in map(type, ALWAYS.values()):
        return ""
    return f"r{kind.revision}" if is_built_in(kind) else _files_version(kind)


def generator_version() -> str:
    """Version of the code that makes data vectors and measures errors on them."""
    return f"generator-r{REVISION}"


def is_built_in(kind: type) -> bool:
    """Whether a class is part of this package."""
    return kind.__module__.split(".")[0] == "dpbench"


def plugin_files(kind: type, files: Iterable[str] = ()) -> tuple[tuple[str, str], ...]:
    """The files that identify a plug-in's class, in order, each with a hash of its content."""
    found = {*_source_files(kind)[1], *(Path(path).resolve() for path in files)}
    return tuple((str(path), content_hash(path)) for path in sorted(found))


def content_hash(path: str | Path) -> str:
    """Hash of a file."""
    with Path(path).open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _files_version(kind: type, files: Iterable[str] = ()) -> str:
    """A hash of names and contents; where the folder is does not count, and where in it a file is does."""
    folder = _source_files(kind)[0]
    lines = list[str]()
    for path, content in plugin_files(kind, files):
        inside = folder in Path(path).parents
        lines.append(f"{Path(path).relative_to(folder).as_posix() if inside else Path(path).name} {content}")
    return _short("|".join([__version__, *sorted(lines)]))


def _short(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]


def _source_files(kind: type) -> tuple[Path, set[Path]]:
    """The folder and the source files of a plug-in: its file and what it imports from beside it, or its package."""
    module, asked = kind.__module__, file_asked_for(kind)
    if asked is not None:
        beside = module.startswith(PLUGIN_PACKAGE) or is_built_in(kind)
        elsewhere = set[Path]() if beside else _module_source(module)[1]  # made by a function of another library
        return asked.parent, imported_files(asked) | elsewhere
    return _module_source(module)


def _module_source(module: str) -> tuple[Path, set[Path]]:
    """The folder and the source files of a module that was imported in the usual way."""
    loaded = sys.modules.get(module)
    if module == "__main__" and getattr(loaded, "__spec__", None) is not None:  # python -m PACKAGE.MODULE
        module = loaded.__spec__.name  # type: ignore[union-attr]
    if getattr(loaded, "__file__", None) is None:
        raise InvalidInput(
            f"the code of the module {module} is in no file, so that a change of it would not show; put it into a file"
        )
    path, inner = Path(str(loaded.__file__)).resolve(), module.count(".")  # type: ignore[union-attr]
    if inner or path.name == "__init__.py":
        folder = path.parents[inner - (path.name != "__init__.py")]
        return folder, {each for ending in ENDINGS for each in folder.rglob(f"*{ending}")}
    if str(path.parent) in map(get_path, ("purelib", "platlib", "stdlib", "platstdlib")):  # much lies beside it
        return path.parent, {path, *_own_distribution(module)}
    return path.parent, imported_files(path)


def _own_distribution(module: str) -> Iterator[Path]:
    """The source files of the distribution that a module without a package was installed by."""
    for name in packages_distributions().get(module, ()):
        for each in distribution(name).files or ():
            if each.name.endswith(ENDINGS):
                yield Path(str(each.locate())).resolve()


def imported_files(path: Path) -> set[Path]:
    """A file and the files beside it that it imports, directly or through one another, now or in a function.

    The text is read and nothing is run, so a module that is imported by a computed name is not found.
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
    """The files below a folder that a file may import, by a statement or by a name given to a function."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):  # it cannot be imported either
        return
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                names = [(0, alias.name) for alias in node.names]
            case ast.ImportFrom():
                stem = f"{node.module}." if node.module else ""
                names = [(node.level, f"{stem}{alias.name}") for alias in node.names]
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[ast.Constant(value=str(text)), *_]):
                names = [(len(text) - len(text.lstrip(".")), text.lstrip("."))] if name in IMPORTING else []
            case _:
                continue
        for level, name in names:
            if level <= len(path.parents):
                yield from _module_files(path.parents[level - 1] if level else folder, name.split("."))


def _module_files(folder: Path, names: list[str]) -> Iterator[Path]:
    """The files of a module and of the packages that it is in, as far as they are below a folder."""
    for number in range(1, len(names) + 1):
        place = folder.joinpath(*names[:number])
        candidates = [place / "__init__.py", *(place.with_name(f"{place.name}{ending}") for ending in ENDINGS)]
        if place.name == "*" and (place.parent / "__init__.py").is_file():  # its __all__ may name modules
            candidates = [each for ending in ENDINGS for each in sorted(place.parent.glob(f"*{ending}"))]
        yield from (each.resolve() for each in candidates if each.is_file())
