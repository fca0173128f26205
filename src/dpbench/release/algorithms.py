"""Which algorithms can be released: those whose every question has an exact sampler, whatever the counts."""

from __future__ import annotations

from dpbench import algorithms
from dpbench.algorithm import Algorithm
from dpbench.errors import ReleaseRefused

RELEASED = (
    *("Identity", "Privelet", "H", "Hb", "GreedyH", "Uniform", "AHP", "AHP*", "DPCube", "QuadTree", "HybridTree"),
    *("UGrid", "AGrid", "Cascade", "HDMM", "HbW", "TopDown"),
)
"""Names; a test runs each on many shapes with exact noise alone."""

_SCORES = "the scores of its selection are not whole numbers"
_WEIGHTS = "the answers of its strategy are not multiples of whole numbers"
NOT_RELEASED = {
    "MWEM": _SCORES,
    "MWEM*": _SCORES,
    "MWEM-D": _SCORES,
    "DAWA": "its partition has no exact sampler",
    "PHP": _SCORES,
    "EFPA": _SCORES,
    "SF": _SCORES,
    "PrivTree": "the chances of its cuts are no powers of e alone, for which there is an exact coin",
    "SquareRoot": _WEIGHTS,
    "GaussianOptimal": _WEIGHTS,
}
RECOMMENDED = "recommended"


def why_not(name: str) -> str:
    """Why an algorithm cannot be released; empty where it can."""
    if name in RELEASED:
        return ""
    return NOT_RELEASED.get(name, "nobody has shown that its every question has an exact sampler")


def released_algorithm(name: str) -> Algorithm:
    """An algorithm that can be released, by name."""
    if name.strip().casefold() == RECOMMENDED:
        raise ReleaseRefused(
            'algorithm = "recommended" needs `dpbench recommend`, which is not part of this version; '
            'name an algorithm, for example "Hb" or "Cascade"'
        )
    found = algorithms.get(name)
    reason = why_not(found.name) if type(found).__module__.startswith("dpbench.") else why_not("")
    if reason:
        raise ReleaseRefused(f"{found.name} cannot be released: {reason}; these can: {', '.join(RELEASED)}")
    return found
