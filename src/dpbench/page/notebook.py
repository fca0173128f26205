"""More of results in a notebook than they show by themselves: ``dpbench.page.show(results)``."""

from __future__ import annotations

import html
from dataclasses import dataclass

from dpbench.page.print_tables import tables
from dpbench.results import Results
from dpbench.results.display import facts

SHOWN = ("errors", "competitive", "regret")
"""Tables that a look at results shows; those by dataset are long."""


@dataclass(frozen=True)
class Shown:
    """HTML that a notebook displays."""

    text: str

    def _repr_html_(self) -> str:
        return self.text


def show(results: Results) -> Shown:
    """What a notebook displays of results: what they are, errors, competitive sets, regret."""
    chosen = [table for table in tables(results).tables if table.name in SHOWN]
    body = "".join(
        f"<details><summary>{html.escape(each.caption)}</summary>{each._repr_html_()}</details>" for each in chosen
    )
    return Shown(f"<p>{html.escape(facts(results))}</p>{body}")
