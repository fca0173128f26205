"""Finding 4: what the size of the domain does to error in 2-D, on two shapes at two scales."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dpbench.paper.study import Part
from dpbench.paper.verdict import Answer, Claim

SHAPES = ("ADULT-2D", "BJ-CABS-E")
SCALES = (10**4, 10**6)
DOMAINS = ("32x32", "64x64", "128x128", "256x256")
NAMES = ("Identity", "Hb", "AGrid", "DAWA")
FLAT = 2.0
"""A largest error over domains of at most so many times the least is flat; Identity's is about 8."""


def curves(part: Part) -> list[dict[str, Any]]:
    """Errors by domain of four algorithms, for each shape and scale."""
    return [
        {"dataset": dataset, "scale": scale}
        | {name: [part.panel(2, domain).mean(name, dataset, scale) for domain in DOMAINS] for name in NAMES}
        for dataset in SHAPES
        for scale in SCALES
    ]


def growth(found: list[dict[str, Any]], name: str) -> list[float]:
    """Largest over least error over domains, for each shape and scale."""
    return [max(each[name]) / min(each[name]) for each in found]


def domain_matters(part: Part) -> Answer:
    """Data-independent algorithms grow alike on every shape; data-dependent ones grow less, or as the shape says."""
    found = curves(part)
    ranges = {name: (min(growth(found, name)), max(growth(found, name))) for name in NAMES}
    alike = all(ranges[name][1] / ranges[name][0] < FLAT for name in ("Identity", "Hb"))
    other = ranges["AGrid"][1] < ranges["Identity"][0] and ranges["DAWA"][1] / ranges["DAWA"][0] > FLAT
    words = ", ".join(f"{name} {low:.1f} to {high:.1f}" for name, (low, high) in ranges.items())
    return Answer(f"largest over least error over domains: {words}", alike and other, quantities=ranges, rows=found)


def grows(part: Part) -> Answer:
    """Identity and Hb grow with every step of the domain."""
    found = curves(part)
    steps = {name: all(np.all(np.diff(each[name]) > 0) for each in found) for name in ("Identity", "Hb")}
    return Answer(", ".join(f"{name}: {'always' if true else 'not always'}" for name, true in steps.items()),
                  all(steps.values()))  # fmt: skip


def overtakes(part: Part) -> Answer:
    """Hb gains on Identity as the domain grows, and has the lower error on the largest."""
    ratios = [(each["Hb"][0] / each["Identity"][0], each["Hb"][-1] / each["Identity"][-1]) for each in curves(part)]
    small, large = np.exp(np.mean(np.log(ratios), axis=0)).tolist()
    words = f"Hb over Identity: {small:.2f} on {DOMAINS[0]}, {large:.2f} on {DOMAINS[-1]}"
    return Answer(words, all(last < min(1, first) for first, last in ratios), quantities={"ratios": ratios})


def agrid_flat(part: Part) -> Answer:
    """AGrid's error is nearly flat."""
    found = growth(curves(part), "AGrid")
    words = ", ".join(f"{each:.1f}" for each in found)
    return Answer(
        f"largest over least: {words}", max(found) <= FLAT, "" if max(found) <= FLAT else f"up to {max(found):.1f}"
    )


def dawa_both(part: Part) -> Answer:
    """DAWA is flat on some shapes and grows on others."""
    found = growth(curves(part), "DAWA")
    words = ", ".join(f"{each:.1f}" for each in found)
    return Answer(f"largest over least: {words}", min(found) <= FLAT < max(found))


def claims() -> list[Claim]:
    """The finding and its four parts."""
    add = partial(Claim, "finding 4")
    where = "text, domain size"
    return [
        add(
            "domain size acts differently on data-dependent algorithms",
            "Finding 4",
            "yes",
            domain_matters,
            headline=True,
        ),
        add("Identity and Hb grow with the domain", where, "yes", grows),
        add("Hb overtakes Identity on large domains", where, "yes", overtakes),
        add("AGrid is nearly flat", where, "yes", agrid_flat),
        add("DAWA is flat on some shapes and grows on others", where, "yes", dawa_both),
    ]
