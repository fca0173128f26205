"""Files for other programs: written whole or not at all, CSV in one way, one line of refusal where none can be."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isnan
from os import PathLike
from pathlib import Path
from typing import Any

from dpbench.errors import InvalidStore
from dpbench.store.disk import write_whole

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
    csv.writer(text, lineterminator="\n").writerow([harmless(cell) for cell in cells])
    return text.getvalue()


def harmless(cell: Any) -> Any:
    """A cell that a spreadsheet shows and does not run: text that would be a formula begins with an apostrophe."""
    if not isinstance(cell, str) or not cell.lstrip(" ").startswith(FORMULA) or not cell.strip()[1:]:
        return cell
    try:
        float(cell)  # a number with its sign
    except ValueError:
        return f"'{cell}"
    return cell
