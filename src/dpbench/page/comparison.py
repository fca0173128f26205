"""What is said of a newcomer and a study: two tables in Markdown and LaTeX, a part of the page, plain values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from math import isnan
from typing import TYPE_CHECKING, Any

from dpbench.measuring.yardstick import CONVERSION
from dpbench.results.markup import (
    LATEX_PACKAGES,
    latex_rows,
    latex_text,
    markdown_rows,
    markdown_text,
    power_of_ten,
)
from dpbench.store.files import known

if TYPE_CHECKING:
    from dpbench.paper.comparison import Comparison, Rival, ScaleRow

Lines = list[list[str]]


def comparison_markdown(comparison: Comparison) -> str:
    """Both tables in Markdown, each with its caption."""
    parts = []
    for caption, lines in _tables(comparison):
        head, *body = [list(map(markdown_text, each)) for each in lines]
        parts += [markdown_text(caption), "", *markdown_rows(head, body), ""]
    return "\n".join(parts)


def comparison_latex(comparison: Comparison) -> str:
    """Both tables in LaTeX, each with its caption."""
    parts = [LATEX_PACKAGES.rstrip()]
    for caption, (head, *body) in _tables(comparison):
        rows = [[_latex_cell(cell) for cell in line] for line in body]
        parts += [r"\begin{table}", rf"\caption{{{latex_text(caption)}}}"]
        parts += [*latex_rows([latex_text(cell) for cell in head], rows), r"\end{table}"]
    return "\n".join(parts) + "\n"


def comparison_plain(comparison: Comparison) -> dict[str, Any]:
    """Everything as JSON can hold it: what is not known is null."""
    plain: dict[str, Any] = asdict(comparison) | {"sentence": comparison.sentence}
    for row in plain["rows"]:
        row |= {f"over_{name.lower()}": row["over"].get(name) for name in ("Identity", "Uniform")}
    return dict(known(plain))


def for_page(comparison: Comparison) -> dict[str, Any]:
    """The part of the page that shows the ratios."""
    return {
        "name": comparison.name,
        "about": f"{_rivals_caption(comparison)}. Over all settings; the filters do not narrow it.",
        "rivals": [
            known(asdict(rival)) | {"name": name, "exact": _exact(rival)} for name, rival in _ranked(comparison)
        ],
    }


def _tables(comparison: Comparison) -> Iterable[tuple[str, Lines]]:
    """Captions with lines, of which the first has the headings."""
    standards = comparison.standards
    caption = (
        f"{comparison.name} by domain and scale: datasets on which it is competitive by {comparison.measure} "
        f"({comparison.family}), and its mean {standards.error_words} over datasets, over that of each baseline"
    )
    names = comparison.baselines
    head = ["domain", *comparison.several, "scale", "competitive", "most competitive other"]
    head += [f"error / {name}" for name in names]
    limits = any(row.strategy for row in comparison.rows)
    if limits:
        best = " or ".join(dict.fromkeys(row.strategy for row in comparison.rows if row.strategy))
        caption += f"; beside it over the limit and over the best known strategy ({best}): {CONVERSION}"
        head += ["error / limit", "error / best known"]
    yield caption, [head, *(_scale_line(row, comparison.several, names, limits) for row in comparison.rows)]
    exact = any(rival.exact for rival in comparison.rivals.values())
    at_risk = f"{standards.percentile_words} ratio"
    head = ["against", "settings", "better", "worse", "error ratio", "95 % interval", at_risk]
    head += ["exact ratio"] * exact
    lines = [_rival_line(name, rival, exact=exact) for name, rival in _ranked(comparison)]
    yield _rivals_caption(comparison), [head, *lines]


def _rivals_caption(comparison: Comparison) -> str:
    standards = comparison.standards
    exact = any(rival.exact for rival in comparison.rivals.values())
    return (
        f"{comparison.name} against each other algorithm: of the settings that both have, those in which it is "
        f"significantly better or worse by {comparison.measure} ({comparison.test_words}, level {standards.alpha:g} "
        f"over their number), and its mean {standards.error_words} over the other's: geometric mean over settings, "
        f"95 % interval over datasets, and the same of the {standards.percentile_words}"
        + ("; exact: root of the ratio of expected squared errors" if exact else "")
    )


def _ranked(comparison: Comparison) -> list[tuple[str, Rival]]:
    """Rivals, those that the newcomer loses to most clearly first."""
    return sorted(comparison.rivals.items(), key=lambda each: (isnan(each[1].ratio), -each[1].ratio))


def _scale_line(row: ScaleRow, several: Sequence[str], baselines: Sequence[str], limits: bool) -> list[str]:
    more = [f"{getattr(row, name)}" for name in several]
    ratios = [f"{row.over[name]:.3g}" if name in row.over else "-" for name in baselines]
    if limits:
        ratios += [f"{value:.3g}" if row.strategy else "-" for value in (row.over_limit, row.over_best)]
    return [row.domain, *more, f"{row.scale:,}", f"{row.competitive} of {row.datasets}", row.best, *ratios]


def _rival_line(name: str, rival: Rival, *, exact: bool) -> list[str]:
    interval = "-" if isnan(rival.low) else f"{rival.low:.3g} to {rival.high:.3g}"
    numbers = [str(each) for each in (rival.settings, rival.better, rival.worse)]
    ratios = [f"{rival.ratio:.3g}", interval, f"{rival.percentile_ratio:.3g}"]
    return [name, *numbers, *ratios, *[_exact(rival) or "-"] * exact]


def _exact(rival: Rival) -> str:
    """Ratios that follow from expected errors: one where all domains agree."""
    words = {domain: f"{ratio:.3g}" for domain, ratio in rival.exact.items()}
    if len(set(words.values())) == 1:
        return next(iter(words.values()))
    return ", ".join(f"{domain}: {ratio}" for domain, ratio in words.items())


def _latex_cell(cell: str) -> str:
    """Text, or a scale as a power of ten."""
    plain = cell.replace(",", "")
    exponent = power_of_ten(float(plain)) if "," in cell and plain.isdecimal() else None
    return latex_text(cell) if exponent is None else f"$10^{{{exponent}}}$"
