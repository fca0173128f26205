"""Tables for people: aligned columns, no colour, nothing that a file would not hold."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence


def write_table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], note: str = "") -> None:
    """A title, aligned columns with the first one to the left, and a note."""
    lines = [list(headings), *(list(row) for row in rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(headings))]
    sys.stdout.write(title + "\n")
    for line in lines:
        cells = [
            line[0].ljust(widths[0]),
            *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)),
        ]
        sys.stdout.write("  ".join(cells).rstrip() + "\n")
    sys.stdout.write((note + "\n" if note else "") + "\n")


def write_pivot(title: str, cells: Mapping[tuple[str, int], str], note: str = "") -> None:
    """Cells by name and scale: a row for each name, a column for each scale."""
    names = list(dict.fromkeys(name for name, _ in cells))
    scales = sorted({scale for _, scale in cells})
    rows = [[name, *(cells.get((name, scale), "-") for scale in scales)] for name in names]
    write_table(title, ["algorithm", *(short_scale(scale) for scale in scales)], rows, note)


def short_scale(scale: int) -> str:
    """A scale as a heading: 1e5 where it is a power of ten."""
    return f"scale {scale:.0e}".replace("e+0", "e") if float(f"{scale:.0e}") == scale else f"scale {scale}"
