"""``dpbench report``: one offline page of a store or a summary."""

from __future__ import annotations

import argparse
import gc
import sys
from typing import TYPE_CHECKING

from dpbench.cli.arguments import add_json, add_out, add_verb, write_json
from dpbench.cli.standards import add_standards, open_results, say_what_is_kept

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from dpbench.cli.arguments import Subparsers
    from dpbench.results import Results


def add_parser(subparsers: Subparsers) -> None:
    """Add ``report``."""
    parser = add_verb(
        subparsers,
        "report",
        "one offline page: which algorithm wins where",
        "Write one self-contained HTML file that shows a store, a summary, or the study that comes with the package:\n"
        "which algorithm wins where, error by scale, dataset and domain, errors in records, regret, bias, time,\n"
        "the price of privacy, cards, and public histograms to ask ranges of. It loads nothing from any network.",
        "dpbench report --out page\n"
        "  dpbench report dpbench-store/demo --out page\n"
        "  dpbench report results --with mine.py:Mine --out page\n"
        "  dpbench report published.parquet --private private.parquet --out page",
    )
    parser.add_argument(
        "results", nargs="?", metavar="STORE|SUMMARY.parquet", help="results to show (the study of this package)"
    )
    parser.add_argument(
        "--private", metavar="STORE|SUMMARY.parquet", help="private forms from here, beside the published ones"
    )
    add_out(parser, "DIR", "folder for index.html; made if need be")
    parser.add_argument(
        "--with",
        dest="added",
        action="append",
        default=[],
        metavar="FILE.py:Class",
        help="show an algorithm of yours: card, audit, noisy histograms; may be repeated",
    )
    parser.add_argument("--title", metavar="TEXT", help="title of the page")
    parser.add_argument("--audit", action="store_true", help="run the privacy suite on every algorithm and show it")
    add_json(parser)
    add_standards(parser)
    parser.set_defaults(run=run_report)


def run_report(chosen: argparse.Namespace) -> int:
    """Write the page and say where it is."""
    collects = gc.isenabled() and not (chosen.audit or chosen.added)
    if collects:
        gc.disable()  # modules and settings are many objects, none of which is garbage: looking for some takes a tenth
    try:
        path = _write(chosen)
    finally:
        if collects:
            gc.freeze()  # nor is it looked for among them when the process ends, which is now
            gc.enable()
    if chosen.json:
        write_json({"page": str(path), "bytes": path.stat().st_size})
    else:
        sys.stdout.write(f"{page_line(path)}\n")
    return 0


def _write(chosen: argparse.Namespace) -> Path:
    from dpbench.gallery import make_page
    from dpbench.run.executors.system import insist_on_forks

    if chosen.audit:
        insist_on_forks("an algorithm that is checked")

    def opened(path: str | PathLike[str]) -> Results:
        found = open_results(path, chosen)
        if path == results:  # once, where two are shown side by side
            say_what_is_kept(found)
        return found

    results, private, beside, title = _shown(chosen)
    return make_page(
        results,
        chosen.out,
        private=private,
        beside=beside,
        added=chosen.added,
        audit=chosen.audit,
        title=title,
        opened=opened,
    )


def _shown(chosen: argparse.Namespace) -> tuple[str | Path, str | Path | None, list[Path], str | None]:
    """Results, private ones and Gaussian ones to stand beside them, and a title; the study where none are named."""
    from dpbench.errors import InvalidInput
    from dpbench.paper.study import shipped_file

    if chosen.results is not None:
        return chosen.results, chosen.private, [], chosen.title
    if chosen.private:
        raise InvalidInput("--private stands beside published results; name those first")
    found = [path for path in map(shipped_file, ("published", "private")) if path.is_file()]
    if not found:
        raise InvalidInput("this installation has no study in it; name a store or a summary")
    gaussian = [path for path in map(shipped_file, ("gaussian",)) if path.is_file()]
    title = chosen.title or "DPBench: which private algorithm for range queries?"
    return found[0], found[1] if len(found) == 2 else None, gaussian, title


def page_line(path: Path) -> str:
    """Where a page is and what to do with it."""
    return f"{path} ({path.stat().st_size / 1e6:.1f} MB): open it in any browser; it needs no network"
