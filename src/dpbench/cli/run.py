"""``dpbench run``: evaluate algorithms."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from dpbench.cli.arguments import add_verb

if TYPE_CHECKING:
    from dpbench.cli.arguments import Subparsers
    from dpbench.experiment.demo import DemoTable

SUITES = {"demo": "every algorithm on embedded synthetic shapes, 1-D and 2-D; needs no file and no network"}


def add_parser(subparsers: Subparsers) -> None:
    """Add ``run``."""
    parser = add_verb(
        subparsers,
        "run",
        "evaluate algorithms",
        "Evaluate algorithms and print a table of error by algorithm and scale.\n\nsuites:\n"
        + "\n".join(f"  {name:6} {about}" for name, about in SUITES.items()),
        "dpbench run demo",
    )
    parser.add_argument("suite", metavar="SUITE", choices=tuple(SUITES), help=" | ".join(SUITES))
    parser.add_argument("--seed", type=int, default=0, help="seed of data and noise (default 0)")
    parser.add_argument("--samples", type=int, default=3, help="data vectors for each setting (default 3)")
    parser.add_argument("--trials", type=int, default=10, help="runs on each data vector (default 10)")
    parser.add_argument("--quiet", action="store_true", help="print the tables only")
    parser.set_defaults(run=run_suite)


def run_suite(chosen: argparse.Namespace) -> int:
    """Run the demo and print its tables."""
    from dpbench.errors import InvalidInput
    from dpbench.experiment.demo import run_demo

    for option in ("samples", "trials"):
        if getattr(chosen, option) < 1:
            raise InvalidInput(f"--{option} is {getattr(chosen, option)}; give a whole number of at least 1")
    if chosen.samples * chosen.trials < 2 or chosen.seed < 0:
        raise InvalidInput("the demo needs at least 2 runs in all and a seed that is not negative")
    if not chosen.quiet:
        sys.stderr.write(f"evaluating, {chosen.samples} data vectors x {chosen.trials} runs for each setting ...\n")
    for table in run_demo(chosen.seed, chosen.samples, chosen.trials):
        _print(table)
    return 0


def _print(result: DemoTable) -> None:
    from rich.console import Console
    from rich.table import Table

    from dpbench.experiment.demo import EPSILON, SCALES

    workload, number = result.workload, len(result.shapes)
    table = Table(
        title=f"{workload.name} on {workload.domain}, epsilon {EPSILON}: scaled error, mean over {number} shapes",
        title_justify="left",
        box=None,
        pad_edge=False,
    )
    table.add_column("algorithm")
    for scale in SCALES:
        table.add_column(f"scale {scale:.0e}".replace("e+0", "e"), justify="right")
    for name in result.algorithms:
        cells = []
        for scale in SCALES:
            wins = result.wins[name, scale]
            mark = f"[bold]*{wins:2d}[/bold]" if wins else "   "
            cells.append(f"{result.errors[name, scale]:.2e} {mark}")
        table.add_row(name, *cells)
    console = Console()
    console.print(table, soft_wrap=not console.is_terminal)
    console.print(
        f"* competitive (lowest mean error, or not significantly above it) on so many of the {number} shapes\n",
        highlight=False,
        soft_wrap=True,
    )
