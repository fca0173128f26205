"""Colours of algorithms: one for each name, the same on every page, in every figure and on every card."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from math import cos, radians, sin

ORDER = (
    *("Cascade", "DAWA", "Hb", "HDMM", "MWEM*", "AGrid", "PrivTree", "GreedyH", "UGrid", "AHP*", "MWEM", "HbW"),
    *("QuadTree", "Privelet", "DPCube", "AHP", "H", "EFPA", "PHP", "SF", "HybridTree", "TopDown", "MWEM-D"),
    *("GaussianOptimal", "SquareRoot"),
)
"""The first have the colours that are easiest to tell apart; what is not listed has one that follows from its name."""
GREY = {"Identity": ("#7b8491", "#98a3b0"), "Uniform": ("#7b8491", "#98a3b0")}
"""The paper's baselines."""
HUES = (250, 45, 155, 345, 95, 200, 300, 20, 125, 225, 70, 320, 175, 275)
"""Degrees; neighbours are far apart."""
ROUNDS = ((0.0, 0.14), (-0.1, 0.1), (0.08, 0.12))
"""Every round of hues has a lightness, added to that of the theme, and a chroma of its own."""
THEMES = (0.56, 0.76)
"""Lightness on a light and on a dark ground."""
OTHERS = ((0.45, 0.19), (0.86, 0.1))
"""Lightness and chroma, on either ground, of algorithms that are not listed: no listed one has them."""
MARKERS = "osv^D<>Pp*hX8d"
"""Of figures for print."""


@cache
def colour_of(name: str) -> tuple[str, str]:
    """Return the colour of an algorithm on a light and on a dark ground, as six digits.

    >>> colour_of("DAWA") == colour_of("DAWA") != colour_of("Mine")
    True
    """
    if name in GREY:
        return GREY[name]
    place = _place(name)
    if name not in ORDER:
        return _hex(*OTHERS[0], place % 360), _hex(*OTHERS[1], place % 360)
    turn = place // len(HUES)
    brighter, chroma = ROUNDS[turn]
    hue = HUES[place % len(HUES)] + 11 * turn
    return _hex(THEMES[0] + brighter, chroma, hue), _hex(THEMES[1] + brighter, chroma, hue)


def marker_of(name: str) -> str:
    """Return the marker of an algorithm in figures for print."""
    return MARKERS[_place(name) % len(MARKERS)]


def _place(name: str) -> int:
    return ORDER.index(name) if name in ORDER else int(sha256(name.encode()).hexdigest()[:8], 16)


def _hex(lightness: float, chroma: float, hue: float) -> str:
    """Return a colour of even brightness (OKLCH) as six digits: the nearest that a screen has."""
    a, b = chroma * cos(radians(hue)), chroma * sin(radians(hue))
    roots = (
        lightness + 0.3963377774 * a + 0.2158037573 * b,
        lightness - 0.1055613458 * a - 0.0638541728 * b,
        lightness - 0.0894841775 * a - 1.291485548 * b,
    )
    long, medium, short = (each**3 for each in roots)
    linear = (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
    )
    return "#" + "".join(f"{_byte(each):02x}" for each in linear)


def _byte(part: float) -> int:
    encoded = 12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055
    return int(255 * min(1.0, max(0.0, encoded)) + 0.5)
