"""The charts of docs/choosing.md: ``python -m benchmarks.chooser --out docs`` draws them from the experience.

Epsilon times records against the size of the domain: in each field the algorithm that `dpbench recommend` names, the
error to expect in records times epsilon, and how many times as large that of the best algorithm is whose error is
known beforehand.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from html import escape
from pathlib import Path

from dpbench.advice.advisor import recommend
from dpbench.advice.experience import experience

WIDE, HIGH, LEFT, TOP = 118, 50, 96, 58
COLOURS = ("#cfe3f5", "#d9efd3", "#fde5c8", "#e7daf0", "#f6d5d5", "#efefc8", "#d5eeee", "#e6e6e6")


@dataclass(frozen=True)
class Field:
    """What is advised at one size and signal."""

    algorithm: str
    expected: float
    gain: float
    """Error of the best algorithm whose error is known whatever the data, over what is expected."""


def fields(dimensions: int) -> dict[tuple[int, float], Field]:
    """The advice at every point of the study's table; epsilon 1, so records are the signal."""
    known = experience(dimensions)
    found = {}
    for side in known.sides:
        for signal in known.signals:
            advice = recommend((side,) * dimensions, 1, round(signal))
            other = next((each.expected for each in advice.alternatives), advice.expected)
            gain = other / advice.expected if advice.coverage < 1 else 1.0
            found[side, signal] = Field(advice.algorithm, advice.expected, gain)
    return found


def chart(dimensions: int) -> str:
    """The chart as SVG."""
    found = fields(dimensions)
    sides = sorted({side for side, _ in found})
    signals = sorted({signal for _, signal in found}, reverse=True)
    names = list(dict.fromkeys(each.algorithm for each in found.values()))
    colour = {name: COLOURS[at % len(COLOURS)] for at, name in enumerate(names)}
    width, height = LEFT + WIDE * len(sides) + 12, TOP + HIGH * len(signals) + 46
    title = f"Which algorithm, in {dimensions}-D, and its gain over one known whatever the data"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="sans-serif" font-size="13" role="img" aria-label="{escape(title)}">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="12" y="22" font-size="14" font-weight="bold">{escape(title)}</text>',
        f'<text x="12" y="{TOP - 12}" fill="#555">epsilon x records</text>',
    ]
    for row, signal in enumerate(signals):
        y = TOP + row * HIGH
        lines.append(f'<text x="{LEFT - 10}" y="{y + HIGH / 2 + 5}" text-anchor="end">{signal:,.0f}</text>')
        for column, side in enumerate(sides):
            each, x = found[side, signal], LEFT + column * WIDE
            gain = f"{each.gain:.1f} times less" if each.gain >= 1.05 else "about the same"
            lines += [
                f'<rect x="{x}" y="{y}" width="{WIDE - 2}" height="{HIGH - 2}" rx="4" '
                f'fill="{colour[each.algorithm]}"/>',
                f'<text x="{x + WIDE / 2 - 1}" y="{y + 20}" text-anchor="middle" font-weight="bold">'
                f"{escape(each.algorithm)}</text>",
                f'<text x="{x + WIDE / 2 - 1}" y="{y + 37}" text-anchor="middle" font-size="11" fill="#333">'
                f"{gain}</text>",
            ]
    below = TOP + len(signals) * HIGH + 16
    for column, side in enumerate(sides):
        words = f"{side}" if dimensions == 1 else f"{side} x {side}"
        lines.append(f'<text x="{LEFT + column * WIDE + WIDE / 2}" y="{below}" text-anchor="middle">{words}</text>')
    lines += [f'<text x="{LEFT}" y="{below + 20}" fill="#555">cells</text>', "</svg>"]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Draw both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    folder = parser.parse_args().out
    for dimensions in (1, 2):
        path = folder / f"chooser-{dimensions}d.svg"
        path.write_text(chart(dimensions), encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
