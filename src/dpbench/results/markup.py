"""Tables of texts in HTML, Markdown and LaTeX, and texts that each of them prints as they are."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from math import log10

LATEX_PACKAGES = "% needs \\usepackage{booktabs,graphicx}\n"
_FITTING = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"


def by_scale(cells: Mapping[tuple[str, int], str]) -> tuple[list[int], list[list[str]]]:
    """The scales of cells by name and scale, and one row per name: the name, then its cells."""
    scales = sorted({scale for _, scale in cells})
    names = dict.fromkeys(name for name, _ in cells)
    return scales, [[name, *(cells.get((name, scale), "-") for scale in scales)] for name in names]


class Bold(str):
    """A cell that stands out."""

    __slots__ = ()


def html_table(columns: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """A table; every text stays text."""

    def cell(text: str) -> str:
        return f"<b>{html.escape(text)}</b>" if isinstance(text, Bold) else html.escape(text)

    def line(tag: str, cells: Sequence[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{cell(each)}</{tag}>" for each in cells) + "</tr>"

    title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    body = "".join(line("td", row) for row in rows)
    return f"<table>{title}<thead>{line('th', columns)}</thead><tbody>{body}</tbody></table>"


def markdown_rows(head: Sequence[str], body: Iterable[Sequence[str]], *, right: bool = False) -> list[str]:
    """Lines of a Markdown table; with ``right`` all columns but the first are set to the right."""
    aligned = "|---" + ("|---:" if right else "|---") * (len(head) - 1) + "|"
    lines = [f"| {' | '.join(row)} |" for row in (head, *body)]
    return [lines[0], aligned, *lines[1:]]


def markdown_text(text: str) -> str:
    """Text that Markdown prints as it is, also in a cell of a table."""
    return re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", " ".join(text.split()))


def latex_rows(head: Sequence[str], body: Iterable[Sequence[str]]) -> list[str]:
    """Rows of LaTeX text as a tabular of booktabs, made smaller where it is wider than the page.

    The braces before each row keep a name that begins with a bracket or a star from becoming an option of the line
    before.
    """
    return [
        _FITTING,
        rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}",
        r"\toprule",
        " & ".join(head) + r" \\",
        r"\midrule",
        *("{}" + " & ".join(row) + r" \\" for row in body),
        r"\bottomrule",
        r"\end{tabular}}",
    ]


def latex_text(text: str) -> str:
    """Text that LaTeX prints as it is, on one line."""
    named = {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
    }
    plain = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return "".join(named.get(sign, f"\\{sign}" if sign in "&%$#_{}" else sign) for sign in plain)


def power_of_ten(number: float) -> int | None:
    """The exponent of a number that is a power of ten from 1000 on; None for any other."""
    exponent = round(log10(number)) if number > 0 else 0
    return exponent if exponent >= 3 and number == 10**exponent else None
