"""``dpbench paper``: every table, figure and finding of the paper beside what was measured."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from dpbench.cli.arguments import add_json, add_verb, write_json
from dpbench.cli.text_tables import coloured

if TYPE_CHECKING:
    from dpbench.cli.arguments import Subparsers
    from dpbench.paper import Study, Verdict

_ABOUT = """\
Every table, figure and finding of the paper: what it says, what was measured in its setting (published forms, public
scale), what was measured end-to-end private, and a verdict on each: reproduced, differs (by how much), cannot be
decided (why). It reads the study that comes with the package, or stores and summary files of yours. A study has three
settings: the paper's, the private one and the Gaussian one (private, with a delta), which stands in no table of the
other two.

A second block decides claims of our own: about the ten years since, and on the five problems that the paper leaves
open. What was expected of each, with the number that would refute it, was fixed before it was computed on the study.
"""
_EXAMPLE = """\
dpbench paper
  dpbench paper --finding 3                       with the quantities that decided it
  dpbench paper --since                           what is known now that the paper could not know
  dpbench paper --problem 1                       an open problem, with what decided it
  dpbench paper --store mine --store mine-private
  dpbench paper --export study.csv                one row per setting
  dpbench paper --store a --store b --pack DIR    the summary files of a study of your own
  dpbench paper --same again                      is this slice, run again, what the study has?"""


def add_parser(subparsers: Subparsers) -> None:
    """Add ``paper``."""
    parser = add_verb(subparsers, "paper", "the paper beside what was measured, with verdicts", _ABOUT, _EXAMPLE)
    add = parser.add_argument
    add(
        *("--store", "--study"),
        action="append",
        default=[],
        metavar="STORE|SUMMARY.parquet",
        help="a study of yours, in one store or in several: may be repeated",
    )
    add("--finding", type=int, choices=range(1, 11), metavar="N", help="finding N (1 to 10) with its quantities")
    add("--table", type=int, choices=(1, 2, 3), metavar="N", help="table N with its rows")
    add("--figure", type=int, choices=(1, 2), metavar="N", help="figure N with its values")
    add("--since", action="store_true", help="claims of our own about the ten years since, with their quantities")
    add("--problem", type=int, choices=range(1, 6), metavar="N", help="open problem N (1 to 5) with its quantities")
    add("--price", action="store_true", help="private over published error by algorithm and scale")
    add_json(parser)
    add("--csv", metavar="FILE", help="write the verdicts as CSV")
    add("--export", metavar="FILE.csv", help="write the study: one row per setting")
    add("--pack", metavar="FOLDER", help="write the summary files of the stores given")
    add("--page", metavar="FILE.md", help="write the page of findings")
    add("--same", metavar="STORE", help="whether a slice that was run again gives the errors of the study")
    parser.set_defaults(run=run_paper)


def run_paper(chosen: argparse.Namespace) -> int:
    """Print verdicts, or write what was asked for."""
    from dpbench.paper import Study, verdicts

    if chosen.pack:
        return _pack(chosen)
    study = Study.from_stores(chosen.store) if chosen.store else Study.shipped()
    if chosen.same:
        return _same(study, chosen.same)
    if chosen.export:
        return _export(study, chosen.export)
    if chosen.price:
        return _price(study, as_json=chosen.json)
    if chosen.page:
        return _page(study, chosen.page)
    kinds = {"finding": "finding", "table": "table", "figure": "figure", "problem": "open problem"}
    groups = {f"{kinds[kind]} {getattr(chosen, kind)}" for kind in kinds if getattr(chosen, kind) is not None}
    groups |= {"since 2016"} if chosen.since else set()
    found = verdicts(study, (lambda group: group in groups) if groups else lambda _: True)
    if chosen.csv:
        _write_csv(found, chosen.csv)
    if chosen.json:
        write_json([asdict(each) for each in found], _plain)
    else:
        _print(found, details=bool(groups))
    return 0


def _print(found: list[Verdict], *, details: bool) -> None:
    from dpbench.paper.hypotheses import is_ours

    group = ""
    for each in found:
        if each.group != group:
            group = each.group
            sys.stdout.write(f"\n{group.upper()}\n")
        sys.stdout.write(f"{'* ' if each.headline else '  '}{each.claim} ({each.source})\n")
        same = (each.ours, each.verdict) == (each.private, each.private_verdict)
        _line("expected" if is_ours(group) else "paper", each.says, "", "")
        _line("measured" if same else "paper's setting", each.ours, each.verdict, each.why)
        if not same:
            _line("private", each.private, each.private_verdict, each.private_why)
        if details:
            _details(each)
    sys.stdout.write("\n")
    ours = [each for each in found if is_ours(each.group)]
    theirs = [each for each in found if not is_ours(each.group)]
    for name, part, words in (
        ("paper's setting", theirs, "verdict"),
        ("private", theirs, "private_verdict"),
        ("claims of our own", ours, "private_verdict"),
    ):
        counts = Counter(getattr(each, words) for each in part)
        if counts:
            sys.stdout.write(f"{name}: {', '.join(f'{number} {word}' for word, number in counts.items())}\n")


def _line(name: str, words: str, word: str, why: str) -> None:
    verdict = f"  [{word}{': ' + why if why else ''}]" if word else ""
    sys.stdout.write(coloured(f"      {name + ':':17}{words}{verdict}\n"))


def _details(each: Verdict) -> None:
    from dpbench.cli.text_tables import write_table
    from dpbench.paper.hypotheses import is_ours

    parts = [("private", each.private_rows, each.private_quantities)]
    if not is_ours(each.group):
        parts.insert(0, ("paper's setting", each.rows, each.quantities))
    for setting, rows, quantities in parts:
        if rows:
            headings = list(rows[0])
            write_table(f"    {setting}", headings, [[_cell(row.get(name, "")) for name in headings] for row in rows])
        elif quantities:
            words = ", ".join(f"{name} {_cell(value)}" for name, value in quantities.items())
            sys.stdout.write(f"        {setting}: {words}\n")


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} {_cell(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return " ".join(_cell(each) for each in value)
    return str(value)


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else str(value)


def _write_csv(found: list[Verdict], path: str) -> None:
    from dpbench.results.csv_file import write_rows

    names = ("group", "claim", "source", "says", "ours", "verdict", "why", "private", "private_verdict", "private_why")
    write_rows(path, [{name: getattr(each, name) for name in names} for each in found])


def _pack(chosen: argparse.Namespace) -> int:
    from pathlib import Path

    from dpbench.paper import pack

    sizes = []
    for name, settings in pack(chosen.store, chosen.pack).items():
        sizes.append(Path(chosen.pack, f"{name}.parquet").stat().st_size)
        sys.stdout.write(f"{name}: {settings} settings, {sizes[-1] / 1e6:.2f} MB\n")
    sys.stdout.write(f"{sum(sizes) / 1e6:.2f} MB in all\n")
    return 0


def _export(study: Study, path: str) -> int:
    from dpbench.paper.study import export_study

    sys.stdout.write(f"{export_study(study, path)} settings written to {path}\n")
    return 0


def _same(study: Study, store: str) -> int:
    from dpbench.paper.rerun import compare_rerun
    from dpbench.paper.study import PAPER_STANDARDS
    from dpbench.results import Results

    found = compare_rerun(study, Results.open(store, **PAPER_STANDARDS))
    sys.stdout.write(f"{found}\n")
    for each in found.different:
        sys.stdout.write(f"  {each}\n")
    for why, settings in found.skipped:
        sys.stdout.write(f"  {settings} settings were not compared: {why}\n")
    return 1 if found.different or not found.same else 0


def _price(study: Study, *, as_json: bool) -> int:
    from dpbench.cli.text_tables import write_pivot
    from dpbench.errors import InvalidStore
    from dpbench.paper.price import prices
    from dpbench.paper.verdict import Undecided

    try:
        found = prices(study)
    except Undecided as missing:
        raise InvalidStore(f"the price of privacy needs both settings: {missing}") from None
    if as_json:
        write_json([asdict(each) for each in found])
        return 0
    for domain in dict.fromkeys(each.domain for each in found):
        cells = {(each.algorithm, each.scale): f"{each.typical:.2f}" for each in found if each.domain == domain}
        write_pivot(f"{domain}: private over published error, geometric mean over datasets", cells)
    return 0


def _page(study: Study, path: str) -> int:
    from pathlib import Path

    from dpbench.paper.page import page

    Path(path).write_text(page(study), encoding="utf-8")
    sys.stdout.write(f"written to {path}\n")
    return 0
