"""One figure per algorithm: a synthetic histogram, what the algorithm makes of it, and where its budget went.

The SVG is written into the page itself, so that words and axes take the colour of the page's text, light or dark.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from dpbench import algorithms
from dpbench.datasets import shapes
from dpbench.domain import Domain
from dpbench.gallery.budget_use import BUDGETS, ledger_lines, workload_on
from dpbench.generator import generate
from dpbench.page.cards import LedgerLine

Counts = NDArray[np.float64]

SHOWN = (("256", "bimodal", 10_000), ("32x32", "clusters", 100_000))
"""Domain, shape and scale of the figure: the first whose domain an algorithm supports."""
WIDTH, HEIGHT = 760, 312
LEFT, TOP, WIDE, TALL = 52, 44, 440, 212
"""Where the histogram is, in pixels."""
BAR = 26
"""Width of the bar of the budget."""
BLUE, GREY = "#3b82c4", "#8a8f98"
SHADES = ("#3b82c4", "#d9822b", "#4fa35a", "#b5518f", "#8d6cc0", "#9a8a3c", "#5aa5a5", "#c25b4e")
LEVELS = 9
"""Shades of a heat map."""
LONGEST = 30
"""Characters of what a charge was for."""
LINE = 15
"""Pixels from one line of words to the next."""


def figure(name: str) -> str:
    """The figure of an algorithm as SVG."""
    algorithm = algorithms.get(name)
    written, shape, scale = next(each for each in SHOWN if algorithm.supports(each[0]))
    domain = Domain.of(written)
    truth = generate(shapes.get(shape, domain), scale=scale, domain=domain, seed=0)
    budget = BUDGETS[algorithm.notions[0]]
    outcome = algorithm.outcome(truth, workload_on(domain), trials=1, seed=0, **budget)
    (unit, amount), estimate = next(iter(budget.items())), outcome.estimate[0]
    drawn = _line(truth.astype(float), estimate) if domain.ndim == 1 else _maps(truth.astype(float), estimate)
    title = f"{scale:,} records of the shape “{shape}” on {domain}, and one estimate by {name} at {unit} {amount:g}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" font-size="12" '
            f'font-family="sans-serif" fill="currentColor" style="width:100%;max-width:{WIDTH}px;height:auto">',
            f"<title>{escape(title)}</title>",
            _words(LEFT, 16, title, size=13),
            *drawn,
            *_budget(ledger_lines(outcome.ledger), unit),
            "</svg>",
            "",
        ]
    )


def _line(truth: Counts, estimate: Counts) -> Iterator[str]:
    """True counts as an area and the estimate as a line over it."""
    low, high = min(0.0, float(estimate.min())), float(max(truth.max(), estimate.max()))
    ticks = _ticks(low, high)
    low, high = min(low, ticks[0]), max(high, ticks[-1])

    def y(value: float) -> float:
        return TOP + TALL * (high - value) / (high - low)

    def steps(values: Counts) -> str:
        cell = WIDE / len(values)
        return "".join(f"V{y(value):.1f}h{cell:.2f}" for value in values)

    for tick in ticks:
        yield f'<path d="M{LEFT} {y(tick):.1f}h{WIDE}" stroke="currentColor" stroke-opacity=".15"/>'
        yield _words(LEFT - 6, y(tick) + 4, f"{tick:g}", anchor="end")
    yield f'<path d="M{LEFT} {y(0):.1f}{steps(truth)}V{y(0):.1f}z" fill="{GREY}" fill-opacity=".55"/>'
    first = f"M{LEFT} {y(float(estimate[0])):.1f}"
    yield f'<path d="{first}{steps(estimate)}" fill="none" stroke="{BLUE}" stroke-width="1.2"/>'
    for cell in np.linspace(0, len(truth), 5).tolist():
        yield _words(LEFT + WIDE * cell / len(truth), TOP + TALL + 16, f"{cell:g}", anchor="middle")
    yield _words(LEFT + WIDE / 2, TOP + TALL + 33, "cell", anchor="middle")
    yield _words(LEFT - 6, TOP - 8, "records", anchor="end")
    yield f'<rect x="{LEFT + 8}" y="{TOP - 17}" width="12" height="9" fill="{GREY}" fill-opacity=".55"/>'
    yield _words(LEFT + 24, TOP - 8, "true counts")
    yield f'<path d="M{LEFT + 108} {TOP - 12}h14" stroke="{BLUE}" stroke-width="2"/>'
    yield _words(LEFT + 126, TOP - 8, "estimate")


def _maps(truth: Counts, estimate: Counts) -> Iterator[str]:
    """Both as heat maps, shaded by the root of the counts, with one scale."""
    largest = float(max(truth.max(), estimate.max()))
    for place, (name, values) in enumerate((("true counts", truth), ("estimate", estimate))):
        x = LEFT + place * (TALL + 16)
        side = TALL / max(values.shape)
        level = np.rint(LEVELS * np.sqrt(np.maximum(values, 0.0) / largest)).astype(int)
        yield f'<g transform="translate({x} {TOP}) scale({side:.3f})" fill="{BLUE}">'
        for shade in range(1, LEVELS + 1):
            runs = "".join(f"M{c} {r}h{n}v1h-{n}z" for r, c, n in _runs(level == shade))
            if runs:
                yield f'<path d="{runs}" fill-opacity="{shade / LEVELS:.2f}"/>'
        yield "</g>"
        yield (
            f'<rect x="{x}" y="{TOP}" width="{TALL}" height="{TALL}" fill="none" stroke="currentColor" '
            f'stroke-opacity=".4"/>'
        )
        yield _words(x, TOP - 8, name)
        for cell in (0, values.shape[1] // 2, values.shape[1]):
            yield _words(x + cell * side, TOP + TALL + 16, f"{cell}", anchor="middle")
        yield _words(x + TALL / 2, TOP + TALL + 33, "cell along the second axis", anchor="middle")
    for cell in (0, truth.shape[0] // 2, truth.shape[0]):
        yield _words(LEFT - 6, TOP + 4 + TALL * cell / truth.shape[0], f"{cell}", anchor="end")
    middle = TOP + TALL / 2
    yield (
        f'<text x="16" y="{middle:g}" text-anchor="middle" transform="rotate(-90 16 {middle:g})">'
        f"cell along the first axis</text>"
    )
    yield _words(
        LEFT + WIDE, TOP + TALL + 51, f"shades by the root of the count; full colour: {largest:,.0f}", anchor="end"
    )


def _runs(chosen: NDArray[np.bool_]) -> Iterator[tuple[int, int, int]]:
    """Row, first column and length of every run of chosen cells."""
    for row, cells in enumerate(chosen):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], cells.astype(int), [0]])))
        yield from ((row, int(a), int(b - a)) for a, b in zip(edges[::2], edges[1::2], strict=True))


def _budget(lines: Sequence[LedgerLine], unit: str) -> Iterator[str]:
    """The charges of the run as parts of one bar, each with its share and what it was for."""
    x, after = LEFT + WIDE + 36, TOP - LINE
    spent = [line for line in lines if line.share > 0]
    yield _words(x, TOP - 8, f"where {unit} went")
    top = float(TOP)
    for place, line in enumerate(spent):
        high, colour = TALL * line.share, SHADES[place % len(SHADES)]
        # words stand beside the middle of their part, below those before them and with room for those to come
        lowest = TOP + TALL - 2 * LINE * (len(spent) - place) + LINE
        after = max(after + 2 * LINE, min(top + high / 2, lowest))
        yield f'<rect x="{x}" y="{top:.1f}" width="{BAR}" height="{high:.1f}" fill="{colour}"/>'
        yield f'<path d="M{x + BAR} {top + high / 2:.1f}L{x + BAR + 10} {after - 4:.1f}" stroke="{colour}"/>'
        times = f", {line.times} times" if line.times > 1 else ""
        why = line.why if len(line.why) <= LONGEST else f"{line.why[: LONGEST - 1]}…"
        yield _words(x + BAR + 14, after, f"{100 * line.share:.1f} % {line.kind}{times}")
        yield _words(x + BAR + 14, after + LINE - 1, why, faint=True)
        top += high


def _ticks(low: float, high: float) -> list[float]:
    """About four round numbers from below ``low`` to above ``high``."""
    rough = (high - low) / 4 or 1.0
    power = 10.0 ** np.floor(np.log10(rough))
    step = power * next(each for each in (1, 2, 5, 10) if each * power >= rough)
    return [step * number for number in range(int(np.floor(low / step)), int(np.ceil(high / step)) + 1)]


def _words(x: float, y: float, text: str, *, anchor: str = "start", size: int = 12, faint: bool = False) -> str:
    where = f'x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" font-size="{size}"'
    look = ' opacity=".75"' if faint else ""
    return f"<text {where}{look}>{escape(text)}</text>"
