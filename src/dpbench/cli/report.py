"""``dpbench report``: one offline page of a store or a summary."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from dpbench.cli.arguments import add_verb

if TYPE_CHECKING:
    from dpbench.cli.arguments import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """Add ``report``."""
    parser = add_verb(
        subparsers,
        "report",
        "one offline page: who wins where",
        "Write one self-contained HTML file that shows a store or a summary: who wins where, error by scale, dataset\n"
        "and domain, regret, bias, time, the price of privacy, cards, and public histograms to ask ranges of.\n"
        "It loads nothing from any network.",
        "dpbench report dpbench-store/demo --out page\n"
        "  dpbench report published.parquet --private private.parquet --out page",
    )
    parser.add_argument("results", metavar="STORE|SUMMARY.parquet", help="results to show")
    parser.add_argument(
        "--private", metavar="STORE|SUMMARY.parquet", help="private forms from here, beside the published ones"
    )
    parser.add_argument("--out", required=True, metavar="DIR", help="folder for index.html; made if need be")
    parser.add_argument("--title", metavar="TEXT", help="title of the page")
    parser.add_argument("--audit", action="store_true", help="run the privacy suite on every algorithm and show it")
    parser.add_argument("--json", action="store_true", help="write JSON")
    parser.set_defaults(run=run_report)


def run_report(chosen: argparse.Namespace) -> int:
    """Write the page and say where it is."""
    from dpbench.gallery import make_page

    path = make_page(chosen.results, chosen.out, private=chosen.private, audit=chosen.audit, title=chosen.title)
    size = path.stat().st_size
    if chosen.json:
        sys.stdout.write(json.dumps({"page": str(path), "bytes": size}) + "\n")
    else:
        sys.stdout.write(f"{path} ({size / 1e6:.1f} MB): open it in any browser; it needs no network\n")
    return 0
