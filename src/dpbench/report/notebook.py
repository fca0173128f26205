"""Results in a notebook: ``dpbench.report.show(results)``.

After ``%load_ext dpbench.report.notebook`` they display themselves.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

from dpbench.report.print_tables import tables
from dpbench.results import Results

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
    return Shown(results_html(results))


def results_html(results: Results) -> str:
    """The same as HTML."""
    names = {name: len(set(results.columns[name].tolist())) for name in ("dataset", "domain", "scale", "epsilon")}
    algorithms = len(set(results.labels.tolist()))
    facts = ", ".join(f"{number} {name}{'s' * (number != 1)}" for name, number in names.items())
    head = f"<p>{html.escape(f'{len(results)} settings: {algorithms} algorithms, {facts}')}</p>"
    chosen = [table for table in tables(results).tables if table.name in SHOWN]
    body = "".join(
        f"<details><summary>{html.escape(each.caption)}</summary>{each._repr_html_()}</details>" for each in chosen
    )
    return head + body


def load_ipython_extension(ipython: Any) -> None:
    """Let results display themselves in this notebook."""
    ipython.display_formatter.formatters["text/html"].for_type(Results, results_html)
