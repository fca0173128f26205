"""Files for other programs: written whole or not at all, CSV in one way, one line of refusal where none can be."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from math import isfinite, isnan
from os import PathLike
from pathlib import Path
from typing import Any

from dpbench.errors import InvalidStore
from dpbench.store.disk import write_whole

PLAIN = (int, float)
"""Kinds of cells that are written as Python shows them."""
FORMULA = ("=", "@", "+", "-", "\t", "\r")
"""How cells begin that spreadsheets run."""


@contextmanager
def refusal(path: str | PathLike[str], wanted: str = "a file in a folder that exists") -> Iterator[None]:
    """One line for whatever the disk says against writing there."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InvalidStore(f"cannot write {path}: {reason}; give {wanted}") from None


def write_file(path: str | PathLike[str], content: bytes | Iterable[bytes]) -> None:
    """Write a file, whole or in pieces, into a folder that exists, or say in one line why not."""
    with refusal(path):
        write_whole(Path(path), content)


def known(value: Any) -> Any:
    """A value as JSON and CSV can hold it: numbers that are not known are None, however deep they lie."""
    if isinstance(value, dict):
        return {name: known(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [known(each) for each in value]
    return None if isinstance(value, float) and isnan(value) else value


def csv_text(names: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows under their names; None is empty, and so is what a row lacks."""
    return "".join([csv_line(names), *(csv_line([row.get(name) for name in names]) for row in rows)])


def csv_line(cells: Iterable[Any]) -> str:
    """One line of CSV, in which no spreadsheet finds a formula; floats have all their digits."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow([harmless(cell) for cell in cells])  # so that a CR is quoted
    return f"{text.getvalue()[:-2]}\n"


def csv_cell(cell: Any) -> str:
    """One cell as :func:`csv_line` writes it among others."""
    if type(cell) in PLAIN:
        return repr(cell)
    return _text_cell(cell) if isinstance(cell, str) else csv_line([cell, ""])[:-2]


@lru_cache(maxsize=4096)
def _text_cell(cell: str) -> str:
    return csv_line([cell, ""])[:-2]


def json_cell(cell: Any) -> str:
    """One value as JSON."""
    if type(cell) is int or (type(cell) is float and isfinite(cell)):
        return repr(cell)
    return _json_text(cell) if isinstance(cell, str) else json.dumps(cell)


_json_text = lru_cache(maxsize=4096)(json.dumps)


def harmless(cell: Any) -> Any:
    """A cell that a spreadsheet shows and does not run: text that would be a formula begins with an apostrophe."""
    if not isinstance(cell, str) or not cell.lstrip(" ").startswith(FORMULA) or not cell.strip()[1:]:
        return cell
    try:
        float(cell)  # a number with its sign
    except ValueError:
        return f"'{cell}"
    return cell
