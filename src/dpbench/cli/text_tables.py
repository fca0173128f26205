"""Tables for people: aligned columns; colour on a terminal alone, so a file or a pipe gets plain text."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import TextIO


def aligned(lines: Sequence[Sequence[str]], *, right: bool = False) -> list[str]:
    """Lines with their cells in columns; with ``right`` all columns but the first are set to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]

    def text(line: Sequence[str]) -> str:
        cells = [
            cell.rjust(width) if right and place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        return "  ".join(cells).rstrip()

    return [text(line) for line in lines]


def write_table(
    title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], note: str = "", *, verdicts: bool = False
) -> None:
    """A title, aligned columns with the first one to the left, and a note; with ``verdicts`` those are in colour."""
    body = "".join(f"{line}\n" for line in aligned([headings, *rows], right=True))
    sys.stdout.write(f"{title}\n{coloured(body) if verdicts else body}{note and note + chr(10)}\n")


def write_pivot(title: str, cells: Mapping[tuple[str, int], str], note: str = "") -> None:
    """Cells by name and scale: a row for each name, a column for each scale."""
    from dpbench.results.markup import by_scale

    scales, rows = by_scale(cells)
    write_table(title, ["algorithm", *(f"scale {short_scale(scale)}" for scale in scales)], rows, note)


def short_scale(scale: int) -> str:
    """A scale in a heading: 1e5 where one digit says it."""
    return f"{scale:.0e}".replace("e+0", "e") if float(f"{scale:.0e}") == scale else f"{scale}"


GREEN, RED = "32", "31"
VERDICTS = {
    "reproduced": GREEN,
    "nothing found": GREEN,
    "no leak found": GREEN,
    "leak or fault found": RED,
    "pass": GREEN,
    "kept": GREEN,
    "FAIL": RED,
    "FAILS": RED,
    "broken": RED,
    "differ": RED,
    "differs": RED,
    "no change": GREEN,
}
"""Words that a reader looks for, and their colours."""


def coloured(text: str, stream: TextIO | None = None) -> str:
    """Text with its verdicts in colour, if it goes to a terminal and NO_COLOR is not set."""
    where = stream or sys.stdout
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not where.isatty():
        return text
    words = "|".join(re.escape(word) for word in VERDICTS)
    return re.sub(rf"\b(?:{words})\b", lambda found: f"\x1b[{VERDICTS[found[0]]}m{found[0]}\x1b[0m", text)
