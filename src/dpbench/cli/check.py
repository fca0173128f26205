"""``dpbench check``: is it an algorithm, and does it keep its promise of privacy."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from dpbench.cli.arguments import add_verb

if TYPE_CHECKING:
    from dpbench.cli.arguments import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """Add ``check``."""
    parser = add_verb(
        subparsers,
        "check",
        "conformance and privacy of an algorithm",
        "Check everything that any algorithm must have: the same seed gives the same bits, all of epsilon is spent,\n"
        "no neighbour of the data changes what it does with the same noisy answers, and no call costs more than it\n"
        "was charged.",
        "dpbench check my_algorithm.py:Mine\n  dpbench check Hb GreedyH",
    )
    parser.add_argument("algorithms", nargs="+", metavar="ALGORITHM", help="FILE.py:Class, or a name in the catalogue")
    parser.add_argument("--variant", choices=("private", "published"), default="private", help="which form to check")
    parser.set_defaults(run=run_check)


def run_check(chosen: argparse.Namespace) -> int:
    """Check each algorithm; 1 if any fails."""
    from dpbench.errors import CheckFailed
    from dpbench.plugins import find
    from dpbench.testing import check_algorithm

    failures = 0
    for name in chosen.algorithms:
        kind = find(name)
        try:
            check_algorithm(kind if chosen.variant == "private" else kind(variant="published"))
        except CheckFailed as failure:
            failures += 1
            sys.stdout.write(f"FAIL  {failure}\n")
        else:
            sys.stdout.write(f"pass  {kind.name}\n")
    return 1 if failures else 0
