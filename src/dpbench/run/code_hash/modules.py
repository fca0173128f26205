"""Modules as definitions by name, found and read without importing anything.

A name leads to a definition in the same module, through imports to one in another, or outside. Ours are the modules
of this package, which do not change while a process runs; a stranger's are read again whenever they are asked for.
"""

from __future__ import annotations

import ast
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import dpbench
from dpbench.run.code_hash.syntax import (
    MODULE_NAME,
    Chain,
    Imported,
    Piece,
    bound_names,
    imported_names,
    is_constant,
    piece_of,
)
from dpbench.sibling_modules import is_beside, top_spec

OURS = Path(dpbench.__file__).resolve().parent
"""The folder of this package."""
DEEPEST = 40
"""Imports of imports that are followed; more are a circle."""
_NOT_RUN = {"TYPE_CHECKING", "typing.TYPE_CHECKING", "__name__ == '__main__'"}
"""Conditions that do not hold when a module is imported."""


@dataclass(frozen=True)
class Home:
    """Where a module that is not ours finds others: beside itself, and in folders that nobody installed."""

    folder: Path
    only: str = ""
    """The one package of the folder that is its own; empty: everything beside it is."""


@dataclass(eq=False)
class Module:
    """A file, taken apart."""

    path: Path
    home: Home | None
    """None: ours."""
    content: bytes
    parts: Parts


@dataclass(frozen=True)
class Parts:
    """The statements of a module by what they define."""

    definitions: Mapping[str, tuple[ast.stmt, ...]]
    """Statements that bind a name, or change what it is bound to."""
    imports: Mapping[str, tuple[Imported, ...]]
    """Names that are imported; "*" for all of a module."""
    hints: Mapping[str, tuple[Imported, ...]]
    """Names that are imported for types alone: where a lazy module says what it will import."""
    effects: tuple[ast.stmt, ...]
    """Statements that define nothing and do something."""
    pieces: dict[object, Piece] = field(default_factory=dict)
    """What was made of them so far."""

    def piece(self, key: object, statements: Callable[[], Iterable[ast.AST]], siblings: Iterable[str] = ()) -> Piece:
        """The piece of some statements, made once."""
        if key not in self.pieces:
            self.pieces[key] = piece_of(statements(), siblings)
        return self.pieces[key]


@dataclass(frozen=True)
class Meaning:
    """What a chain of names means in a module."""

    token: str
    """What stands for it in a hash: the name of a definition, the address of something outside."""
    module: Module | None = None
    """The module that it leads to; None: outside."""
    name: str = ""
    """The definition in that module; empty: the module itself."""
    rest: Chain = ()
    """Attributes that are asked of it."""


@lru_cache(maxsize=1024)
def take_apart(content: bytes) -> Parts:
    """The parts of a module's text; a text that is not Python is one effect."""
    try:
        body = ast.parse(content).body
    except (SyntaxError, ValueError):
        return Parts({}, {}, {}, (ast.Expr(ast.Tuple([ast.Constant("not Python"), ast.Constant(content)])),))
    sorting = _Sorting()
    for statement in body:
        sorting.add(statement)
    return Parts(
        _settled(sorting.definitions), _settled(sorting.imports), _settled(sorting.hints), tuple(sorting.effects)
    )


class _Sorting:
    """Puts every statement of a module where it belongs."""

    def __init__(self) -> None:
        self.definitions: dict[str, list[ast.stmt]] = {}
        self.imports: dict[str, list[Imported]] = {}
        self.hints: dict[str, list[Imported]] = {}
        self.effects: list[ast.stmt] = []

    def add(self, statement: ast.stmt) -> None:
        """Sort one statement."""
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            self.definitions.setdefault(statement.name, []).append(statement)
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            self._import(statement, self.imports)
        elif isinstance(statement, ast.If) and ast.unparse(statement.test) in _NOT_RUN and not statement.orelse:
            self._import(statement, self.hints)
        elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
            for name in _assigned(statement):
                self.definitions.setdefault(name, []).append(statement)
        elif not isinstance(statement, ast.Pass) and not is_constant(statement):
            self._import(statement, self.imports)
            for name in bound_names(statement):
                self.definitions.setdefault(name, []).append(statement)
            self.effects.append(statement)

    def _import(self, statement: ast.stmt, to: dict[str, list[Imported]]) -> None:
        for inner in ast.walk(statement):
            if isinstance(inner, ast.Import | ast.ImportFrom):
                for name, imported in imported_names(inner):
                    to.setdefault(name, []).append(imported)


def _settled(found: Mapping[str, list[Any]]) -> dict[str, tuple[Any, ...]]:
    return {name: tuple(several) for name, several in found.items()}


def _assigned(statement: ast.Assign | ast.AnnAssign | ast.AugAssign) -> set[str]:
    """The names that an assignment is about: ``TABLE[key] = value`` is about TABLE."""
    if isinstance(statement, ast.AnnAssign) and statement.value is None:
        return set()
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    found = {name for target in targets for name in bound_names(target)}
    for target in targets:
        inner: ast.AST = target
        while isinstance(inner, ast.Attribute | ast.Subscript):
            inner = inner.value
        found |= {inner.id} if isinstance(inner, ast.Name) else set()
    return found


class Library:
    """Finds modules and says what names mean in them."""

    def __init__(self, ours: Path = OURS, base: Library | None = None) -> None:
        self.ours = ours
        self._base = base
        self._modules: dict[Path, Module] = {}
        self._known: dict[str, Module | None] = {}
        """Modules of ours by name."""

    def read(self, path: Path) -> bytes:
        """The content of a file; nothing for a folder without ``__init__.py``."""
        return path.read_bytes() if path.is_file() else b""

    def open(self, path: Path, home: Home | None) -> Module:
        """The module of a file."""
        if self._base is not None and home is None:
            return self._base.open(path, home)
        if path not in self._modules:
            content = self.read(path)
            self._modules[path] = Module(path, home, content, take_apart(content))
        return self._modules[path]

    def find(self, name: str, home: Home | None) -> Module | None:
        """The module of a name, as somebody with that home would import it; None where it is outside."""
        parts = name.split(".")
        if parts[0] == "dpbench":
            return self._ours(name)
        if home is None:
            return None
        if home.only == parts[0] or (not home.only and is_beside(parts[0], home.folder)):
            path = _descend(home.folder, parts)
            return None if path is None else self.open(path, home)
        for folder in uninstalled(parts[0]):
            path = _descend(folder, parts)
            if path is not None:
                return self.open(path, Home(folder))
        return None

    def _ours(self, name: str) -> Module | None:
        if self._base is not None:
            return self._base._ours(name)
        if name not in self._known:
            path = _descend(self.ours.parent, [self.ours.name, *name.split(".")[1:]])
            self._known[name] = None if path is None else self.open(path, None)
        return self._known[name]

    def inside(self, module: Module, name: str) -> Module | None:
        """A module inside a package."""
        if module.path.name != "__init__.py" and not module.path.is_dir():
            return None
        path = _descend(_folder(module.path), [name])
        return None if path is None else self.open(path, module.home)

    def imported(self, module: Module, imported: Imported) -> Module | None:
        """The module that an import names, or that it imports from."""
        if not imported.level:
            return self.find(imported.module.split(".")[0] if imported.top else imported.module, module.home)
        folder = _folder(module.path)
        for _ in range(imported.level - 1):
            folder = folder.parent
        path = (
            _descend(folder, imported.module.split(".")) if imported.module else _descend(folder.parent, [folder.name])
        )
        return None if path is None else self.open(path, module.home)

    def imports(self, module: Module) -> Iterator[Module]:
        """The modules whose code runs when a module is imported: those of its imports, and the packages around it."""
        for imported in (each for several in module.parts.imports.values() for each in several):
            whole = Imported(imported.level, imported.module)
            found = self.imported(module, whole)
            if found is not None:
                yield found
                known = imported.name in found.parts.definitions or imported.name in found.parts.imports
                inner = self.inside(found, imported.name) if imported.name and not known else None
                if inner is not None:
                    yield inner
        around = module.path.parent if module.path.name != "__init__.py" else module.path.parent.parent
        if (around / "__init__.py").is_file():
            yield self.open(around / "__init__.py", module.home)

    def meanings(self, module: Module, chain: Chain, local: Mapping[str, tuple[Imported, ...]]) -> list[Meaning]:
        """What a chain means in a module, given what is imported where it stands; several where that depends."""
        if chain[0] == MODULE_NAME:
            known = self.find(chain[1], None) is not None
            return [Meaning("a module" if known else ascii(chain[1]))]
        if chain[0] in local:
            return [self._through(module, each, chain[1:], 0) for each in local[chain[0]]]
        found = []
        if chain[0] in module.parts.definitions:
            found.append(Meaning(chain[0], module, chain[0], chain[1:]))
        found += [self._through(module, each, chain[1:], 0) for each in module.parts.imports.get(chain[0], ())]
        return found or [self._by_star(module, chain, 0) or Meaning(".".join(chain), rest=chain[1:])]

    def within(self, module: Module, name: str) -> Meaning:
        """What a name means that is asked of a module from outside."""
        return self._within(module, (name,), 0)

    def _through(self, module: Module, imported: Imported, rest: Chain, depth: int) -> Meaning:
        """What an imported name means, with attributes."""
        found = self.imported(module, imported)
        if found is None:
            first = imported.module.split(".")[0] if imported.top else imported.module
            return Meaning(".".join(filter(None, ("." * imported.level + first, imported.name, *rest))))
        return self._within(found, (imported.name, *rest) if imported.name else rest, depth + 1)

    def _within(self, module: Module, chain: Chain, depth: int) -> Meaning:
        """What a chain means that is asked of a module."""
        if not chain:
            return Meaning("a module", module)
        name, rest = chain[0], chain[1:]
        if name in module.parts.definitions:
            return Meaning(name, module, name, rest)
        if depth < DEEPEST:
            for imported in (*module.parts.imports.get(name, ()), *module.parts.hints.get(name, ())):
                if self.imported(module, imported) is not module:
                    return self._through(module, imported, rest, depth)
            inner = self.inside(module, name)
            if inner is not None:
                return self._within(inner, rest, depth)
            starred = self._by_star(module, chain, depth)
            if starred is not None:
                return starred
        token = ".".join(("a module", *chain))
        return Meaning(token) if name.startswith("__") else Meaning(token, module, rest=chain)

    def _by_star(self, module: Module, chain: Chain, depth: int) -> Meaning | None:
        """What a chain means that ``from ... import *`` may have brought."""
        for each in module.parts.imports.get("*", ()):
            source = self.imported(module, each)
            if source is not None and source is not module and depth < DEEPEST:
                meaning = self._within(source, chain, depth + 1)
                if meaning.module is not None and meaning.name:
                    return meaning
        return None


def _folder(path: Path) -> Path:
    return path if path.is_dir() else path.parent


def _descend(folder: Path, parts: list[str]) -> Path | None:
    """The file of a module from a folder on, as Python finds it: a package, a file, a folder without either."""
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        package = folder / part / "__init__.py"
        if last:
            files = [package, folder / f"{part}.py", *(folder / f"{part}{suffix}" for suffix in EXTENSION_SUFFIXES)]
            found = next((path for path in files if path.is_file()), None)
            return found or (folder / part if (folder / part).is_dir() and part else None)
        folder /= part
    return None


def uninstalled(name: str) -> Iterator[Path]:
    """The folders in which Python finds a package or module that nobody installed: somebody's own code."""
    spec = top_spec(name)
    if spec is None or spec.origin in {"built-in", "frozen"}:
        return
    paths = sysconfig.get_paths()
    installed = [Path(paths[name]).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    inside = [Path(each).parent for each in spec.submodule_search_locations or ()]
    for folder in inside or [Path(spec.origin or ".").parent]:
        known = {"site-packages", "dist-packages"} & set(folder.parts)
        if not known and not any(folder.resolve().is_relative_to(each) for each in installed):
            yield folder.resolve()
