"""Hashes of code: what a result depends on, without comments, docstrings and layout.

The code of an algorithm is its module and every module of this package that it imports, directly or through
others. A change there makes its results another key; a change elsewhere does not.
"""

from __future__ import annotations

import ast
import sys
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

GENERATOR_MODULES = ("dpbench.generator", "dpbench.experiment.unit", "dpbench.loss", "dpbench.workloads")


def algorithm_source(kind: type) -> str:
    """Hash of an algorithm's code and of everything of ours that it uses."""
    module = sys.modules[kind.__module__]
    return _hash_from([module.__file__ or ""])


@lru_cache(maxsize=1)
def generator_source() -> str:
    """Hash of the code that makes data vectors, answers and losses."""
    return _hash_from([_path_of(name) for name in GENERATOR_MODULES])


def _hash_from(paths: list[str]) -> str:
    """Follow imports within the package from the given files; hash every file reached."""
    waiting, reached = list(paths), {}
    while waiting:
        path = waiting.pop()
        if path and path not in reached:
            digest, imported = _read(path)
            reached[path] = digest
            waiting += [_path_of(name) for name in imported]
    return sha256("".join(sorted(reached.values())).encode()).hexdigest()[:16]


@lru_cache(maxsize=512)
def _read(path: str) -> tuple[str, tuple[str, ...]]:
    """Hash of one file's code, and the modules of the package that it imports."""
    tree = ast.parse(Path(path).read_bytes())
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
    ours = tuple(sorted(name for name in imported if name.startswith("dpbench.")))
    return sha256(ast.dump(tree).encode()).hexdigest(), ours


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
