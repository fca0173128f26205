"""``dpbench leaderboard``: the study's algorithms and those that others have submitted."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from dpbench.cli.arguments import add_json, add_verb, write_json

if TYPE_CHECKING:
    from dpbench.cli.arguments import Subparsers

_ABOUT = """\
Rank the algorithms of the private study, and those of submissions, by regret: how much more error one has than the best
of all in each setting, on average. A submission is a file that `dpbench compare FILE.py:Class --submit FILE.parquet`
writes. Before it is merged it is checked: its digest, that settings, seeds and number of trials are the study's, and
that all of it is private. Its errors are taken as sent. To prove them, run its code, or a part of it, and compare:
`dpbench compare FILE.py:Class --dataset MEDCOST --store again`, then `dpbench store diff FILE.parquet again`.
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add ``leaderboard``."""
    example = "dpbench leaderboard\n  dpbench leaderboard mine.parquet yours.parquet --dimensions 1"
    parser = add_verb(subparsers, "leaderboard", "rank the study's algorithms and submitted ones", _ABOUT, example)
    parser.add_argument("submissions", nargs="*", metavar="FILE.parquet", help="results that others have sent")
    parser.add_argument("--dimensions", type=int, choices=(1, 2), help="only 1-D or 2-D")
    add_json(parser)
    parser.set_defaults(run=run_leaderboard)


def run_leaderboard(chosen: argparse.Namespace) -> int:
    """Check the submissions and print the board."""
    from dataclasses import asdict

    from dpbench.errors import InvalidStore
    from dpbench.paper import Study
    from dpbench.paper.submission import leaderboard

    study = Study.shipped().private.results
    if study is None:
        raise InvalidStore("this installation has no private study in it")
    boards = {n: leaderboard(study.where(dimensions=n), chosen.submissions, dimensions=n) for n in _axes(chosen)}
    if chosen.json:
        write_json([asdict(each) | {"dimensions": n} for n, board in boards.items() for each in board])
        return 0
    from dpbench.cli.text_tables import write_table

    for n, board in boards.items():
        rows = [
            [
                each.algorithm,
                f"{each.regret:.2f}",
                f"{each.low:.2f} to {each.high:.2f}",
                str(each.won),
                f"{each.worst:.1f}",
                str(each.settings),
                each.audit,
                each.version,
            ]
            for each in board
        ]
        heads = ["algorithm", "regret", "95 %", "won", "worst", "settings", "audit", "version"]
        write_table(f"{n}-D, end-to-end private", heads, rows, verdicts=True)
    sys.stdout.write("regret: error over the lowest of this board, geometric mean over settings\n")
    return 0


def _axes(chosen: argparse.Namespace) -> tuple[int, ...]:
    return (1, 2) if chosen.dimensions is None else (chosen.dimensions,)
