"""``dpbench properties``: exchangeability and consistency, measured."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from dpbench.cli.arguments import add_json, add_verb, write_json

if TYPE_CHECKING:
    from dpbench.cli.arguments import Subparsers

_ABOUT = """\
Measure two properties of algorithms, beside the paper's Table 1. Consistent: no error is left as epsilon grows
(tried at 10^9 on several shapes). Exchangeable: more data is worth as much as more epsilon, draw for draw or in
distribution.
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add ``properties``."""
    parser = add_verb(
        subparsers,
        "properties",
        "exchangeability and consistency, measured",
        _ABOUT,
        "dpbench properties DAWA SF\n  dpbench properties mine.py:Mine --json\n"
        "  dpbench properties --csv properties.csv",
    )
    parser.add_argument(
        "algorithms", nargs="*", metavar="NAME|FILE.py:Class", help="which algorithms (all, in both forms)"
    )
    parser.add_argument("--variant", choices=("private", "published"), default="private", help="form of those named")
    parser.add_argument(
        "--notion",
        choices=("pure", "zCDP"),
        default="",
        help="notion of privacy of those named (the first that each has)",
    )
    add_json(parser)
    parser.add_argument("--csv", metavar="FILE", help="write one row per algorithm and form")
    parser.set_defaults(run=run_properties)


def run_properties(chosen: argparse.Namespace) -> int:
    """Measure and print; 1 if an algorithm could not be measured."""
    from dpbench.audit.properties import as_row, measured_by_name, measured_catalogue
    from dpbench.cli.text_tables import write_table
    from dpbench.paper.reported import numbers
    from dpbench.results.csv_file import write_rows

    named = [measured_by_name(name, chosen.variant, chosen.notion) for name in chosen.algorithms]
    found = named or measured_catalogue()
    if chosen.csv:
        write_rows(chosen.csv, [as_row(each) for each in found])
        return int(any(each.failure for each in found))
    if chosen.json:
        write_json([as_row(each) for each in found])
        return int(any(each.failure for each in found))
    rows = []
    for each in found:
        left = "yes" if each.consistent else f"no: {each.remaining:.3g} left, {each.remaining_where}"
        difference = f"p {each.p_value:.1g}, {each.differs_where}" if each.differs_where else ""
        marks = [each.variant] * (each.variant != "private") + [each.notion] * (each.notion != "pure")
        name = each.algorithm + (f" [{', '.join(marks)}]" if marks else "")
        paper = numbers()["table1"].get(each.algorithm, ["-", "-"])[-2:]
        exchangeable = f"{each.exchangeable} {difference}".strip()
        rows.append([name, paper[0], paper[1], left if not each.failure else each.failure, exchangeable])
    heads = ["algorithm", "paper: consistent", "exchangeable", "measured: consistent", "exchangeable"]
    write_table("Properties beside the paper's Table 1", heads, rows)
    return int(any(each.failure for each in found))
