"""The table of a newcomer against a study, in Markdown and LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpbench.report.table import LATEX_PACKAGES, latex_rows, latex_text, markdown_text, power_of_ten

if TYPE_CHECKING:
    from dpbench.paper.newcomer import Comparison, ScaleRow

HEADINGS = ("domain", "scale", "competitive", "most competitive other", "error / Identity", "error / Uniform")


def _cells(row: ScaleRow) -> list[str]:
    ratios = ["-" if np.isnan(value) else f"{value:.3g}" for value in (row.over_identity, row.over_uniform)]
    return [row.domain, f"{row.scale:,}", f"{row.competitive} of {row.datasets}", row.best, *ratios]


def comparison_markdown(comparison: Comparison) -> str:
    """The table in Markdown."""
    rows = [HEADINGS, *(_cells(row) for row in comparison.rows)]
    lines = ["| " + " | ".join(map(markdown_text, each)) + " |" for each in rows]
    return "\n".join([lines[0], "|---" * len(HEADINGS) + "|", *lines[1:]]) + "\n"


def comparison_latex(comparison: Comparison) -> str:
    """The table in LaTeX."""
    body = []
    for row in comparison.rows:
        cells = [latex_text(cell) for cell in _cells(row)]
        exponent = power_of_ten(row.scale)
        body.append([cells[0], cells[1] if exponent is None else f"$10^{{{exponent}}}$", *cells[2:]])
    return LATEX_PACKAGES + "\n".join(latex_rows(HEADINGS, body)) + "\n"
