"""Hashes of code: what a result depends on, by definitions, without comments, docstrings and layout.

The code of an algorithm is its class, what that mentions, and what the runner calls for every result. A change there
makes its results another version; a change elsewhere, or a move to another file, does not.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from types import FunctionType
from typing import Any

from dpbench.algorithm import Algorithm
from dpbench.errors import InvalidInput
from dpbench.loss import Loss
from dpbench.privacy import RandomNoise
from dpbench.run.code_hash.kept import kept_source
from dpbench.run.code_hash.modules import Home, Library, Module
from dpbench.run.code_hash.nodes import Address, Nodes
from dpbench.run.code_hash.reach import Reach, content_hash
from dpbench.run.data_vectors import ALWAYS, draw_vector, drift_of, losses, noise_seed, shape_on
from dpbench.sibling_modules import file_of

IDENTITY = "definitions"
"""What kind of hash identifies code, as records of runs and shipped results say."""
RUNNER = (Algorithm._outcome, Algorithm._prepare, Algorithm.is_private, RandomNoise.seeded, noise_seed)
"""What is called for every result, whatever the algorithm."""
_OURS = Nodes(Library())
_INSTALLED = _OURS
"""The package as it is on the disk: hashes of another reading of it are never kept."""


def algorithm_source(kind: type, files: Iterable[str] = ()) -> str:
    """Hash of an algorithm's code, of everything that it uses, and of its files."""
    contents = [content_hash(path) for path in files]
    code = definition_source(kind, *RUNNER)
    return sha256("".join([code, *contents]).encode()).hexdigest()[:16] if contents else code


@lru_cache(maxsize=1)
def generator_source() -> str:
    """Hash of the code that makes data vectors and measures errors on them."""
    return definition_source(shape_on, draw_vector, drift_of, losses)


@lru_cache(maxsize=1024)
def workload_source(workload: type, algorithm: type) -> str:
    """Hash of a workload's code, as far as an algorithm, the runner and the losses use it."""
    return definition_source(workload, algorithm, *RUNNER, drift_of, losses)


@lru_cache(maxsize=256)
def loss_source(loss: type[Loss]) -> str:
    """Hash of a loss's code; empty for those that every row holds, whose code is the generator's."""
    return "" if loss in map(type, ALWAYS.values()) else definition_source(loss, losses)


def definition_source(*objects: object) -> str:
    """Hash of classes and functions, and of everything of ours, or of their own package, that they use."""
    if _OURS is not _INSTALLED:
        return _source(objects, _OURS)
    return kept_source(objects, _definition, lambda: _source(objects, _OURS))


def own_files(kind: type, files: Iterable[str] = ()) -> tuple[tuple[str, str], ...]:
    """The files that somebody's own algorithm depends on, with a hash of each; none for one that is installed."""
    if file_of(kind.__module__) is None:
        return ()
    nodes = Nodes(Library(base=_OURS.library), _OURS)
    roots, words, _ = _roots([kind], nodes)
    found = Reach(nodes, roots, words).files | {Path(path) for path in files}
    return tuple((str(path), content_hash(path)) for path in sorted(found))


def _source(objects: Iterable[object], ours: Nodes) -> str:
    """The hash of objects, with what is ours as it is known."""
    collects = gc.isenabled()
    gc.disable()  # syntax trees are many small objects, none of which is garbage: looking for some takes a third of it
    try:
        nodes = Nodes(Library(base=ours.library), ours)
        roots, words, values = _roots(objects, nodes)
        return sha256("|".join([Reach(nodes, roots, words).digest, *values]).encode()).hexdigest()[:16]
    finally:
        if collects:
            gc.enable()


def _roots(objects: Iterable[object], nodes: Nodes) -> tuple[list[Address], list[str], list[str]]:
    """Where objects are defined, the members that they are, and the values that they were made with.

    A function or a class among those values is one more object: as a text it would have an address in it.
    """
    roots, words, values = list[Address](), list[str](), list[str]()
    waiting = list(objects)
    for each in waiting:
        definition = _definition(each)
        module = _module(definition.__module__, nodes.library)
        first, *rest = definition.__qualname__.split(".")
        if first == "<lambda>":
            roots.append((module, f"@{definition.__code__.co_firstlineno}"))
        else:
            meant = nodes.library.within(module, first)
            roots.append((meant.module or module, meant.name))  # a class that no statement defines: its whole module
        words += rest
        held = [cell.cell_contents for cell in getattr(definition, "__closure__", None) or ()]
        made_with = [value for value in held if isinstance(value, type | FunctionType)]
        waiting += [value for value in made_with if value not in waiting]
        values += [repr(value) for value in held if value not in made_with]
    return roots, words, values


def _definition(thing: Any) -> Any:
    """What a property, a method or a wrapped function was made from."""
    for name in ("fget", "func", "py_func", "__wrapped__", "__func__"):
        thing = getattr(thing, name, thing)
    return thing


def _module(name: str, library: Library) -> Module:
    """The file of a module that is loaded, as the library reads it."""
    own = file_of(name)
    if own is not None:
        return library.open(own, Home(own.parent))
    ours = library.find(name, None)
    if ours is not None:
        return ours
    path = getattr(sys.modules.get(name), "__file__", None)
    if path is None:
        raise InvalidInput(
            f"the code of the module {name} is in no file, so that a change of it would not show; put it into a file"
        )
    top, *inner = name.split(".")
    folder = Path(path).resolve().parents[len(inner) + (Path(path).name == "__init__.py")]
    return library.open(Path(path).resolve(), Home(folder, "" if name == "__main__" else top))
