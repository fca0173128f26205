"""Task files: TOML, with the line of every mistake."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpbench.errors import InvalidTask
from dpbench.given import as_path
from dpbench.task.parts import InvalidPart

if TYPE_CHECKING:
    from dpbench.task.task import Task


def read_task(path: str | PathLike[str], make: Callable[[Mapping[str, Any]], Task]) -> Task:
    """Read a file of one task and let ``make`` turn its parts into a task."""
    return read_tasks(path, make, most=1)[0]


def read_tasks(
    path: str | PathLike[str], make: Callable[[Mapping[str, Any]], Task], most: int | None = None
) -> tuple[Task, ...]:
    """Read a file of one task, or of several, each in a table ``[[tasks]]``."""
    source = _text(path)
    try:
        content = tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        raise InvalidTask(f"{path} is not valid TOML: {' '.join(str(error).split())}; correct it") from None
    several = content.get("tasks")
    if several is None:
        return (_made(path, source, content, make),)
    if not (isinstance(several, list) and several and all(isinstance(each, dict) for each in several)):
        raise InvalidTask(f"{path}: tasks is not a list of tables; write each task below a line [[tasks]]")
    if len(content) > 1:
        stray = next(key for key in content if key != "tasks")
        raise InvalidTask(f"{path}: {stray} stands beside the tasks; move it below the [[tasks]] that it belongs to")
    if most is not None and len(several) > most:
        raise InvalidTask(f"{path} has {len(several)} tasks, and one is wanted; `dpbench run {path}` runs them all")
    return tuple(_made(path, "", each, make) for each in several)


def _made(
    path: str | PathLike[str], source: str, parts: dict[str, Any], make: Callable[[Mapping[str, Any]], Task]
) -> Task:
    """One task; a mistake is reported with its line, or with the task's name where a file has several."""
    named = parts.get("name")
    parts.setdefault("name", Path(path).stem)
    _anchor_files(parts, Path(path).parent)
    try:
        return make(parts)
    except InvalidPart as error:
        line = key_line(source, error.path)
        place = f", line {line}" if line else f", task {named}" if not source and isinstance(named, str) else ""
        raise InvalidTask(f"{path}{place}: {error}") from None


def tasks_toml(tasks: Sequence[Task]) -> str:
    """Tasks as a file that ``dpbench run`` takes, every part written out.

    >>> import dpbench as dpb
    >>> print(tasks_toml([dpb.RANGE_2D]).splitlines()[0])
    name = "RANGE_2D"
    """
    if len(tasks) == 1:
        return _toml(tasks[0].to_dict(), "")
    return "\n".join(f"[[tasks]]\n{_toml(task.to_dict(), 'tasks.')}" for task in tasks)


def _toml(parts: Mapping[str, Any], prefix: str) -> str:
    """Plain values first, then a table per group, as TOML wants them."""
    groups = {key: value for key, value in parts.items() if isinstance(value, Mapping)}
    lines = [f"{key} = {_value(value)}" for key, value in parts.items() if key not in groups]
    for key, group in groups.items():
        lines += [f"[{prefix}{key}]", *(f"{name} = {_value(value)}" for name, value in group.items())]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    """A value as TOML: numbers, texts and truth values are written as in JSON."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_value(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False)


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
