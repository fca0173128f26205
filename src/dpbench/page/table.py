"""One table of numbers, and how it is written in LaTeX, Markdown and HTML."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from dpbench.results.markup import Bold, html_table, latex_rows, latex_text, markdown_rows, markdown_text, power_of_ten


@dataclass(frozen=True)
class Cell:
    """One number of a table."""

    value: float
    around: float | None = None
    """Standard deviation of a trial, where it is shown."""
    bold: bool = False
    whole: bool = False
    """A count, not a measurement."""


@dataclass(frozen=True)
class Table:
    """One table: what it is, names of columns and rows, numbers."""

    name: str
    """What kind of table: errors, competitive, risk, baselines, regret or datasets."""
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell | None, ...]], ...]

    def latex(self) -> str:
        """A table for LaTeX; needs the packages of :data:`LATEX_PACKAGES`."""
        head = ["", *map(_latex_heading, self.columns)]
        body = [[latex_text(name), *(_latex_cell(cell) for cell in cells)] for name, cells in self.rows]
        lines = [r"\begin{table}", rf"\caption{{{latex_text(self.caption)}}}", *latex_rows(head, body), r"\end{table}"]
        return "\n".join(lines) + "\n"

    def markdown(self) -> str:
        """A table for Markdown, its caption above it."""
        body = [[markdown_text(name), *(_markdown_cell(cell) for cell in cells)] for name, cells in self.rows]
        lines = markdown_rows(["", *map(markdown_text, self.columns)], body, right=True)
        return "\n".join([f"**{markdown_text(self.caption)}**", "", *lines, ""])

    def _repr_html_(self) -> str:
        rows = ([name, *map(_html_cell, cells)] for name, cells in self.rows)
        return html_table(["", *self.columns], rows, self.caption)


SMALL = 0.1
"""A ratio below this is written with a power of ten, so that two digits of it are seen."""


def _plain_cell(cell: Cell | None) -> str:
    if cell is None:
        return "-"
    if cell.whole:
        return str(int(cell.value))
    if cell.around is None:
        return f"{cell.value:.2f}" if cell.value >= SMALL else f"{cell.value:.1e}"
    return f"{cell.value:.2e}" + (f" ({cell.around:.1e})" if np.isfinite(cell.around) else "")


def _html_cell(cell: Cell | None) -> str:
    return Bold(_plain_cell(cell)) if cell and cell.bold else _plain_cell(cell)


def _markdown_cell(cell: Cell | None) -> str:
    text = markdown_text(_plain_cell(cell))
    return f"**{text}**" if cell and cell.bold else text


def _latex_cell(cell: Cell | None) -> str:
    """Mean and deviation with one common power of ten; bold through boldmath, which reaches digits."""
    if cell is None:
        return "--"
    text = _latex_number(cell)
    return rf"\boldmath${text}$" if cell.bold else f"${text}$"


def _latex_number(cell: Cell) -> str:
    if cell.whole:
        return str(int(cell.value))
    if not cell.value > 0 or (cell.around is None and cell.value >= SMALL):
        return f"{cell.value:.2f}"
    exponent = int(np.floor(np.log10(cell.value)))
    digits = cell.value / 10.0**exponent
    if cell.around is None:
        return f"{digits:.1f} \\cdot 10^{{{exponent}}}"
    around = f" \\pm {cell.around / 10.0**exponent:.2f}" if np.isfinite(cell.around) else ""
    return f"({digits:.2f}{around}) \\cdot 10^{{{exponent}}}"


def _latex_heading(text: str) -> str:
    """A name, or a scale as a power of ten."""
    exponent = power_of_ten(float(text)) if re.fullmatch(r"[0-9.e+]+", text) else None
    return latex_text(text) if exponent is None else f"$10^{{{exponent}}}$"
