"""``dpbench figures``: the paper's figures and tables of a store or a summary."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from dpbench.cli.arguments import add_json, add_out, add_verb, write_json
from dpbench.cli.standards import add_standards, open_results, say_what_is_kept

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpbench.cli.arguments import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """Add ``figures``."""
    parser = add_verb(
        subparsers,
        "figures",
        "figures and tables for a paper",
        "Write the paper's figures 1, 2a, 2b and 2c of a store or a summary as PDF, SVG and PNG, and its tables of\n"
        "errors, competitive algorithms (by mean and by percentile), baselines and regret as LaTeX (booktabs),\n"
        "Markdown and CSV.",
        "dpbench figures dpbench-store/demo --out figures\n"
        "  dpbench figures published.parquet --authors figure1_means.csv --out figures",
    )
    parser.add_argument("results", metavar="STORE|SUMMARY.parquet", help="results to show")
    add_out(parser, "DIR", "folder for the files; made if need be")
    parser.add_argument(
        "--authors", metavar="FILE.csv", action="append", default=[], help="values to lay over the figures; repeatable"
    )
    parser.add_argument(
        "--with",
        dest="added",
        metavar="NAME|FILE.py:Class",
        action="append",
        default=[],
        help="draw it everywhere, also where it is competitive nowhere, as algorithms of your own are; repeatable",
    )
    parser.add_argument("--tables-only", action="store_true", help="no figures: needs no drawing library")
    add_json(parser)
    add_standards(parser)
    parser.set_defaults(run=run_figures)


def run_figures(chosen: argparse.Namespace) -> int:
    """Write figures and tables and name the files."""
    from dpbench.errors import InvalidInput
    from dpbench.page import figures, tables
    from dpbench.yardsticks import yardsticks

    if chosen.authors and chosen.tables_only:
        raise InvalidInput("--authors lays values over figures, and --tables-only draws none; leave one of them out")
    results = open_results(chosen.results, chosen)
    say_what_is_kept(results)
    if chosen.authors and results.standards.loss != "L2":
        raise InvalidInput(f"--authors are L2 errors and these are {results.standards.loss} errors; leave one out")
    written = [*tables(results, chosen.out).files]
    if not chosen.tables_only:
        always = _always(set(results.columns["algorithm"].tolist()), chosen.added)
        written += figures(results, chosen.out, authors=chosen.authors, yardsticks=yardsticks(results), always=always)
    if chosen.json:
        write_json({"files": [str(path) for path in written]})
    else:
        sys.stdout.write("".join(f"{path}\n" for path in written))
    return 0


def _always(present: set[str], added: Sequence[str]) -> set[str]:
    """Return the algorithms to draw everywhere: those named, which the results have to hold, and all of the user's."""
    from dpbench import algorithms
    from dpbench.errors import UnknownName
    from dpbench.plugins import is_file_reference
    from dpbench.run.strangers import facts_of, known_as

    named = {facts_of(each).name if is_file_reference(each) else known_as(each) for each in added}
    for name in sorted(named - present):
        raise UnknownName.among("algorithm in these results", name, sorted(present))
    return named | {name for name in present if algorithms.ours_by_name(name) is None}
