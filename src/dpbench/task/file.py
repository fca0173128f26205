"""Task files: TOML, with the line of every mistake."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpbench.errors import InvalidTask
from dpbench.given import as_path
from dpbench.task.parts import InvalidPart

if TYPE_CHECKING:
    from dpbench.task.task import Task


def read_task(path: str | PathLike[str], make: Callable[[Mapping[str, Any]], Task]) -> Task:
    """Read a task file and let ``make`` turn its parts into a task."""
    source = _text(path)
    try:
        parts = tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        raise InvalidTask(f"{path} is not valid TOML: {' '.join(str(error).split())}; correct it") from None
    parts.setdefault("name", Path(path).stem)
    _anchor_files(parts, Path(path).parent)
    try:
        return make(parts)
    except InvalidPart as error:
        line = key_line(source, error.path)
        where = f"{path}, line {line}" if line else str(path)
        raise InvalidTask(f"{where}: {error}") from None


def key_line(source: str, path: tuple[str | int, ...]) -> int | None:
    """Return the line, from 1, of the key at a path such as ``("generator", "scales")``.

    ``tomllib`` keeps no positions, so this looks for the table and then for the key; a setting may stand on
    its own, under its group, or in braces on the group's line.
    """
    if not path:
        return None
    lines = source.splitlines()
    if path[0] in {"workloads", "algorithms"} and len(path) > 1:
        listed = rf"\s*\[\[\s*{path[0]}\s*\]\]"
        headers = [number for number, line in enumerate(lines) if re.match(listed, line)]
        if headers:
            return headers[min(int(path[1]), len(headers) - 1)] + 1
        path = path[:1]
    key = re.escape(str(path[-1]))
    table = ""
    anywhere = None
    for number, line in enumerate(lines, start=1):
        header = re.match(r"\s*\[+\s*([^\]]+?)\s*\]+", line)
        if header and "=" not in line.split("#")[0]:
            table = header[1]
            if table == str(path[-1]):
                return number
        elif re.match(rf"""\s*["']?{key}["']?\s*=""", line) and table not in {"workloads", "algorithms"}:
            return number
        elif anywhere is None and re.search(rf"""[\s{{,.]["']?{key}["']?\s*=""", line):
            anywhere = number
    return anywhere


def _text(path: str | PathLike[str]) -> str:
    """Read a text file, or refuse it in one line."""
    try:
        return as_path(path, "the task file", InvalidTask).read_text(encoding="utf-8-sig")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InvalidTask(f"cannot read the task in {path}: {reason}; check the path") from None
    except UnicodeDecodeError:
        raise InvalidTask(f"{path} is not a UTF-8 text file; give a task in TOML") from None


def _anchor_files(parts: Mapping[str, Any], folder: Path) -> None:
    """Make the files that workloads name relative to the folder of the task file."""
    listed = parts.get("workloads")
    for workload in listed if isinstance(listed, list) else []:
        if isinstance(workload, dict) and isinstance(workload.get("file"), str):
            workload["file"] = str(folder / workload["file"])
