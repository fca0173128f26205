"""Somebody's own algorithm: a class or a plain function in a file, named as FILE.py:Class or FILE.py:function."""

from __future__ import annotations

from pathlib import Path
from types import FunctionType, ModuleType

from dpbench import algorithms
from dpbench.algorithm import Algorithm
from dpbench.errors import InvalidInput, UnknownName
from dpbench.plain_function import as_algorithm
from dpbench.sibling_modules import load_file, note_file
from dpbench.strangers_text import one_line

INSTALLED = "installed:"
"""How the reference of an algorithm in somebody else's distribution begins; its module and class follow."""


def is_file_reference(name: str) -> bool:
    """Whether a name means a class in a file rather than a name in the catalogue."""
    return (".py" in name or "/" in name) and not name.startswith(INSTALLED)


def is_stranger(reference: str) -> bool:
    """Whether an algorithm is not one of this package: in a file, or in somebody else's distribution."""
    return is_file_reference(reference) or algorithms.ours_by_name(reference) is None


def load_class(reference: str) -> type[Algorithm]:
    """The class that ``FILE.py:Class`` names; that of a plain function where it names one."""
    path_text, class_name, module = _load_module(reference)
    function = vars(module).get(class_name)
    if isinstance(function, FunctionType):
        kind = as_algorithm(function)
        note_file(kind, path_text)
        return kind
    found = {name: value for name, value in vars(module).items() if isinstance(value, type)}
    if class_name not in found:
        raise UnknownName.among(f"class in {path_text}", class_name, found)
    kind = found[class_name]
    if not issubclass(kind, Algorithm):
        raise InvalidInput(f"{class_name} in {path_text} is not an algorithm; subclass dpbench.Algorithm")
    note_file(kind, path_text)
    return kind


def load_class_or_function(reference: str) -> type[Algorithm] | FunctionType:
    """The class that ``FILE.py:Class`` names, or the plain function that ``FILE.py:function`` does."""
    _, name, module = _load_module(reference)
    found = vars(module).get(name)
    return found if isinstance(found, FunctionType) else load_class(reference)


def find(name: str) -> type[Algorithm]:
    """An algorithm's class, from the catalogue or from a file; plug-ins are loaded only where none of ours is meant."""
    if is_file_reference(name):
        return load_class(name)
    if name.startswith(INSTALLED):
        return algorithms.load_point(name.removeprefix(INSTALLED))
    return algorithms.ours_by_name(name) or type(algorithms.get(name))


def _load_module(reference: str) -> tuple[str, str, ModuleType]:
    """The path, the name and the module that ``FILE.py:NAME`` means."""
    path_text, colon, class_name = reference.rpartition(":")
    if not colon or not class_name or not path_text:
        raise InvalidInput(f"{reference!r} does not name a class in a file; write FILE.py:Class")
    if not Path(path_text).is_file():
        raise InvalidInput(f"there is no file {path_text!r}; give FILE.py:Class with a path from here")
    if not path_text.endswith(".py"):
        raise InvalidInput(f"{path_text!r} is not a Python file; give FILE.py:Class")
    try:
        return path_text, class_name, load_file(Path(path_text))
    except MemoryError as error:
        raise InvalidInput(
            f"{path_text} cannot be imported: it needs more memory than it may have ({one_line(error)}); "
            f"correct its code, or run it with more --memory"
        ) from error
    except (Exception, SystemExit) as error:
        raise InvalidInput(f"{path_text} cannot be imported: {type(error).__name__}: {one_line(error)}") from error
