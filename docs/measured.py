"""What goes into the marked places of the guides: figures of the study that comes with the package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from dpbench.interpreting import regret
from dpbench.page.summary import summary_tables
from dpbench.paper import Study, verdicts
from dpbench.paper.hypotheses import PROBLEM, SINCE
from dpbench.paper.page import price_tables
from dpbench.paper.reported import DOMAINS
from dpbench.paper.study import Part
from dpbench.results.markup import by_scale, markdown_rows


def places(study: Study) -> Mapping[str, str]:
    """The Markdown of every place, by name."""
    return {name: make(study) for name, make in PLACES.items()}


def _competitive(study: Study) -> str:
    """On how many datasets each algorithm is competitive, by scale, at the domains of the figures."""
    return "\n".join(_competitive_at(study.private, dimensions, domain) for dimensions, domain in DOMAINS.items())


def _competitive_at(part: Part, dimensions: int, domain: str) -> str:
    panel = part.panel(dimensions, domain)
    tables = summary_tables(panel.results.where(domain=domain))
    lines = []
    for table in tables:
        keys = ((name, scale) for name in table.algorithms for scale in table.scales)
        scales, rows = by_scale({key: str(table.wins[key]) for key in keys if table.wins.get(key)})
        title = (
            f"Private forms, {table.title}: on how many of {len(table.datasets)} datasets an algorithm is competitive "
            f"({table.family})"
        )
        head = ["algorithm", *(f"{scale:.0e}".replace("e+0", "e") for scale in scales)]
        lines += [title, "", *markdown_rows(head, rows), ""]
    return "\n".join(lines)


def _regret(study: Study) -> str:
    """The regret of every algorithm at the domains of the figures, lowest first."""
    lines = []
    for dimensions, domain in DOMAINS.items():
        found = [each for each in regret(study.private.panel(dimensions, domain).results) if not each.missing]
        lines += [
            f"Private forms on {domain}",
            "",
            *markdown_rows(
                ["algorithm", "regret", "interval of 95 %", "settings"],
                ([e.algorithm, f"{e.regret:.2f}", f"{e.low:.2f} to {e.high:.2f}", str(e.settings)] for e in found),
            ),
            "",
        ]
    return "\n".join(lines)


def _price(study: Study) -> str:
    """Private over published error, by algorithm and scale."""
    return "\n".join(["Private over published error, geometric mean over datasets:", "", *price_tables(study)])


def _own(study: Study, group: str) -> str:
    """Claims of our own of one group: claim, what was measured, verdict."""
    found = verdicts(study, lambda each: each == group)
    rows = ([e.claim, f"{e.ours}{f' ({e.why})' if e.why else ''}", f"**{e.verdict}**"] for e in found)
    return "\n".join([*markdown_rows(["hypothesis", "measured", "verdict"], rows), ""])


PLACES: dict[str, Callable[[Study], str]] = {
    "competitive": _competitive,
    "regret": _regret,
    "price": _price,
    "since": partial(_own, group=SINCE),
    **{f"problem-{number}": partial(_own, group=f"{PROBLEM} {number}") for number in range(1, 6)},
}
