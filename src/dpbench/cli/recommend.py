"""``dpbench recommend``: an algorithm and its error, from public facts alone."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from dpbench.cli.arguments import add_json, add_verb, whole, workload_of, write_json

if TYPE_CHECKING:
    from dpbench.cli.arguments import Subparsers

_ABOUT = """\
Say which algorithm to use for a table that nobody may look at, and what its error will be: root mean square error of a
range, in records, with an interval over kinds of data and a bad run. It asks for public facts alone; no table can be
given to it, so it costs no privacy. A guess of the number of records is enough: it is believed within a factor of 3.

The numbers come from the study that comes with the package, and from errors that depend on no data, which are computed.
How often its intervals held for kinds of data that were left out of the study is said with them. Outside the study
(domains, ranges, epsilon times records) it says so, and names an algorithm whose error is known whatever the data.
"""
_EXAMPLE = """\
dpbench recommend --cells 128x128 --epsilon 0.5 --records 300000
  dpbench recommend --cells 1024 --epsilon 1 --records 20000 --risk p95
  dpbench recommend --cells 64x64 --epsilon 1 --delta 1e-6 --records 1000000 --json
  dpbench recommend --cells 4096 --epsilon 0.1 --records 1000000 --workload boxes.csv"""


def add_parser(subparsers: Subparsers) -> None:
    """Add ``recommend``."""
    parser = add_verb(subparsers, "recommend", "which algorithm, for a table that nobody may see", _ABOUT, _EXAMPLE)
    add = parser.add_argument
    add("--cells", required=True, metavar="N|NxM", help="cells of the histogram along each axis")
    add("--epsilon", required=True, type=float, metavar="E", help="the budget")
    add("--records", required=True, type=whole, metavar="N", help="about how many records there are, known in public")
    add("--delta", type=float, metavar="D", help="beside --epsilon: Gaussian noise is allowed as well")
    add("--workload", metavar="NAME|FILE.csv", help="your ranges (all prefixes in 1-D, else 2,000 random ranges)")
    add("--risk", default="mean", metavar="mean|p95", help="what is to be small: the mean over runs, or a bad run")
    add("--exact", action="store_true", help="only algorithms that `dpbench release` can draw exactly")
    add_json(parser)
    parser.set_defaults(run=run_recommend)


def run_recommend(chosen: argparse.Namespace) -> int:
    """Print the advice."""
    from dpbench.advice.advisor import recommend

    workload = workload_of(chosen.workload, chosen.cells) if chosen.workload else None
    advice = recommend(
        chosen.cells,
        chosen.epsilon,
        chosen.records,
        delta=chosen.delta,
        workload=workload,
        risk=chosen.risk,
        exact=chosen.exact,
    )
    if chosen.json:
        write_json(advice.to_dict())
    else:
        sys.stdout.write(f"{advice}\n")
    return 0
