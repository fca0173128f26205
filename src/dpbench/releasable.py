"""Which algorithms can be released: those whose every question has an exact sampler, whatever the counts."""

from __future__ import annotations

STEPS = ("top-down", "integral")
"""What a release does to every estimate: whole, non-negative, consistent numbers."""
RELEASED = (
    *("Identity", "Privelet", "H", "Hb", "GreedyH", "Uniform", "AHP", "AHP*", "DPCube", "QuadTree", "HybridTree"),
    *("UGrid", "AGrid", "DAWA", "Cascade", "HDMM", "HbW", "TopDown"),
)
"""Names; a test runs each on many shapes with exact noise alone."""

_SCORES = "the scores of its selection are not whole numbers"
_WEIGHTS = "the answers of its strategy are not multiples of whole numbers"
NOT_RELEASED = {
    "MWEM": _SCORES,
    "MWEM*": _SCORES,
    "MWEM-D": _SCORES,
    "PHP": _SCORES,
    "EFPA": _SCORES,
    "SF": _SCORES,
    "PrivTree": "the chances of its cuts are no powers of e alone, for which there is an exact coin",
    "SquareRoot": _WEIGHTS,
    "GaussianOptimal": _WEIGHTS,
}


def why_not(name: str) -> str:
    """Why an algorithm cannot be released; empty where it can."""
    if name in RELEASED:
        return ""
    return NOT_RELEASED.get(name, "nobody has shown that its every question has an exact sampler")
