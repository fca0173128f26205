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
from dpbench.store.store import write_whole


@contextmanager
def refusal(path: str | PathLike[str], wanted: str = "a file in a folder that exists") -> Iterator[None]:
    """One line for whatever the disk says against writing there."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InvalidStore(f"cannot write {path}: {reason}; give {wanted}") from None


def write_file(path: str | PathLike[str], content: bytes) -> None:
    """Write a file into a folder that exists, or say in one line why not."""
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
    """Rows under their names; None is empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
