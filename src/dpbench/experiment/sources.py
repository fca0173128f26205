"""Hashes of code: what a result depends on, without comments, docstrings and layout.

The code of an algorithm is its module and every module of this package, or of its own, that it imports, directly or
through others. A change there makes its results another key; a change elsewhere does not.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

GENERATOR_MODULES = ("dpbench.experiment.vectors", "dpbench.generator", "dpbench.workloads")


def algorithm_source(kind: type, files: Iterable[str] = ()) -> str:
    """Hash of an algorithm's code, of everything of ours, or of its package, that it uses, and of its files."""
    code = _hash_from([sys.modules[kind.__module__].__file__ or ""], {"dpbench", kind.__module__.split(".")[0]})
    contents = [sha256(Path(path).read_bytes()).hexdigest() for path in files]
    return sha256("".join([code, *contents]).encode()).hexdigest()[:16] if contents else code


@lru_cache(maxsize=1)
def generator_source() -> str:
    """Hash of the code that makes data vectors, answers and losses."""
    return modules_source(GENERATOR_MODULES)


def modules_source(names: Iterable[str]) -> str:
    """Hash of modules and of everything of ours that they use."""
    return _hash_from([_path_of(name) for name in names], {"dpbench"})


def _hash_from(paths: list[str], packages: set[str]) -> str:
    """Follow imports within the packages from the given files; hash every file reached."""
    waiting, reached = list(paths), {}
    while waiting:
        path = waiting.pop()
        if path and path not in reached:
            digest, imported = _read(Path(path).read_bytes())
            reached[path] = digest
            waiting += [_path_of(name) for name in imported if name.split(".")[0] in packages and "." in name]
    return sha256("".join(sorted(reached.values())).encode()).hexdigest()[:16]


@lru_cache(maxsize=512)
def _read(code: bytes) -> tuple[str, tuple[str, ...]]:
    """Hash of one file's code, and the names that it imports."""
    tree = ast.parse(code)
    imported: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported.update(name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported.add(node.module)
            imported.update(f"{node.module}.{name.name}" for name in node.names)
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [child for child in body if not _is_text(child)]
            if len(kept) != len(body):
                node.body = kept or [ast.Pass()]  # type: ignore[attr-defined]
    return sha256(_told(tree).encode()).hexdigest(), tuple(sorted(imported))


def _told(value: object) -> str:
    """A tree as text, the same from every version of Python: what is absent is left out, as some versions do."""
    if isinstance(value, ast.AST):
        fields = [f"{name}={_told(field)}" for name, field in ast.iter_fields(value) if field not in (None, [])]
        return f"{type(value).__name__}({','.join(fields)})"
    if isinstance(value, list):
        return f"[{','.join(map(_told, value))}]"
    return repr(value)


def _is_text(node: ast.AST) -> bool:
    """A docstring: an expression that is nothing but text."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


@lru_cache(maxsize=512)
def _path_of(name: str) -> str:
    """The file of a module, or nothing where the name is not a module (a class, a function)."""
    try:
        spec = find_spec(name)
    except (ImportError, AttributeError, ValueError):
        return ""
    return spec.origin if spec is not None and spec.origin and spec.origin.endswith(".py") else ""
