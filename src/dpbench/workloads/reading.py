"""Read ranges from a CSV file, and say where it is wrong."""

from __future__ import annotations

import re
from math import isfinite
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.errors import InvalidWorkload
from dpbench.given import as_path

_WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_SHOWN = 40
"""How many characters of a bad value a message repeats."""


def read_ranges(
    path: str | PathLike[str], domain: Domain
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Lower corners `(q, ndim)`, upper corners `(q, ndim)` and weights `(q,)` from a CSV file.

    The header is `lower0,upper0,lower1,upper1,...`, with `weight` as an optional last column. Boxes are
    half-open. Blank lines and lines that start with `#` are skipped.
    """
    header: list[str] | None = None
    boxes: list[list[int]] = []
    weights: list[float] = []
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        fields = [field.strip() for field in line.split(",")]
        where = f"{path}, line {number}"
        if header is None:
            header = _header(fields, domain, where)
            continue
        if len(fields) != len(header):
            raise InvalidWorkload(
                f"{where}: {len(fields)} columns where the header has {len(header)}; write {','.join(header)}"
            )
        boxes.append(_box(fields[: 2 * domain.ndim], domain, where))
        weights.append(_weight(fields[-1], where) if header[-1] == "weight" else 1.0)
    if header is None:
        raise InvalidWorkload(f"{path} is empty; it needs a header ({_wanted(domain)}) and ranges")
    if not boxes:
        raise InvalidWorkload(f"{path} has a header and no ranges; add one line per range")
    bounds = np.array(boxes, dtype=np.int64)
    return bounds[:, 0::2], bounds[:, 1::2], np.array(weights)


def _lines(path: str | PathLike[str]) -> list[str]:
    """Split a text file into lines, or refuse it in one line."""
    try:
        text = as_path(path, "the file of ranges", InvalidWorkload).read_text(encoding="utf-8-sig")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InvalidWorkload(f"cannot read the ranges in {path}: {reason}; check the path") from None
    except UnicodeDecodeError:
        raise InvalidWorkload(f"{path} is not a UTF-8 text file; give a CSV with {_START}") from None
    if "\0" in text:
        raise InvalidWorkload(f"{path} is a binary file; give a CSV with {_START}")
    return text.split("\n")


_START = "the header lower0,upper0,..."


def _wanted(domain: Domain) -> str:
    return ",".join(f"lower{axis},upper{axis}" for axis in range(domain.ndim))


def _header(fields: list[str], domain: Domain, where: str) -> list[str]:
    """Return the column names when they are the ones that the domain needs."""
    wanted = _wanted(domain).split(",")
    if fields not in (wanted, [*wanted, "weight"]):
        raise InvalidWorkload(
            f"{where}: the header is {_shown(','.join(fields))}; "
            f"a domain {domain} needs {','.join(wanted)} and may add weight"
        )
    return fields


def _box(fields: list[str], domain: Domain, where: str) -> list[int]:
    """Lower and upper corner, alternating, of one checked row."""
    for field in fields:
        if not _WHOLE.fullmatch(field):
            raise InvalidWorkload(f"{where}: {_shown(field)} is not a whole number; write cell positions")
    bounds = [int(field) for field in fields]
    for axis, side in enumerate(domain):
        lower, upper = bounds[2 * axis], bounds[2 * axis + 1]
        if not 0 <= lower < upper <= side:
            raise InvalidWorkload(
                f"{where}: [{lower}, {upper}) along axis {axis} of domain {domain}; "
                f"a range needs 0 <= lower < upper <= {side}"
            )
    return bounds


def _weight(field: str, where: str) -> float:
    """One finite weight."""
    try:
        weight = float(field)
    except ValueError:
        weight = float("nan")
    if not isfinite(weight) or "_" in field:
        raise InvalidWorkload(f"{where}: the weight {_shown(field)} is not a finite number; write 0.5, say")
    return weight


def _shown(value: str) -> str:
    """Quote a bad value, short and on one line."""
    return repr(value if len(value) <= _SHOWN else value[:_SHOWN] + "...")
