"""``dpbench strategies``: which data-independent algorithm suits a workload, without a run."""

from __future__ import annotations

import argparse
import sys
from math import sqrt
from typing import TYPE_CHECKING, Any

from dpbench.cli.arguments import add_json, add_verb, workload_of, write_json

if TYPE_CHECKING:
    from dpbench.cli.arguments import Subparsers
    from dpbench.data_independent import ExpectedError
    from dpbench.limits import Limit
    from dpbench.workloads import Workload

_ABOUT = """\
Say what every data-independent algorithm's error comes to on a workload, and how far that is from the limit that no
unbiased strategy is below. Nothing is run and no data are read: these errors depend on the workload and the budget
alone. Algorithms that depend on the data (DAWA, MWEM, ...) are not here; `dpbench run` measures them.

With --epsilon alone, noise is Laplace (pure differential privacy); with --delta beside it, or --rho, it is Gaussian.
A workload is a name (`dpbench list workloads`), a name with parameters such as 'RandomRange(queries=500, seed=3)', or a
CSV file of your own ranges with the columns lower0,upper0,lower1,upper1,... and, if you like, weight; boxes are
half-open: [lower, upper).
"""
_EXAMPLE = """\
dpbench strategies --domain 4096 --workload Prefix --epsilon 1
  dpbench strategies --domain 128x128 --epsilon 0.5 --delta 1e-6
  dpbench strategies --domain 1024 --workload RandomRange --rho 0.01 --json
  dpbench strategies --domain 64x64 --workload boxes.csv --epsilon 1"""


def add_parser(subparsers: Subparsers) -> None:
    """Add ``strategies``."""
    parser = add_verb(subparsers, "strategies", "which data-independent algorithm, without a run", _ABOUT, _EXAMPLE)
    add = parser.add_argument
    add("--domain", required=True, metavar="N|NxM", help="cells along each axis")
    add("--workload", metavar="NAME|FILE.csv", help="the ranges (Prefix in 1-D, else RandomRange)")
    add("--epsilon", type=float, metavar="E", help="the budget (1, unless --rho is given)")
    add("--delta", type=float, metavar="D", help="beside --epsilon: Gaussian noise, (epsilon, delta)")
    add("--rho", type=float, metavar="R", help="in place of --epsilon: Gaussian noise, rho-zCDP")
    add("--search", action="store_true", help="wait for HDMM's search on long axes; a minute at 4096 cells, then kept")
    add_json(parser)
    parser.set_defaults(run=run_strategies)


def run_strategies(chosen: argparse.Namespace) -> int:
    """Print the algorithms, the best first, and the limit."""
    from dpbench.data_independent import expected_errors
    from dpbench.limits import limit

    workload = workload_of(chosen.workload, chosen.domain)
    epsilon = 1.0 if chosen.epsilon is None and chosen.rho is None else chosen.epsilon
    rows = expected_errors(workload, epsilon, delta=chosen.delta, rho=chosen.rho, search=chosen.search)
    least = limit(workload, epsilon, delta=chosen.delta or 0.0, rho=chosen.rho)
    (_write_json if chosen.json else _print)(workload, least, rows)
    return 0


def _print(workload: Workload, least: Limit, rows: list[ExpectedError]) -> None:
    from dpbench.cli.text_tables import write_table

    known = [row for row in rows if row.error == row.error]
    lines = [[row.algorithm, *_numbers(row.error), f"{row.times_limit:.2f}", row.note and "*"] for row in known]
    lines.append(["limit", *_numbers(float(least)), "1.00", ""])
    heads = ["algorithm", "squared error", "root", "over limit", ""]
    title = f"{workload!r}, {least.budget_words}, {least.noise} noise: expected squared error per query, and its root"
    write_table(title, heads, lines)
    for row in rows:
        if row.note:
            sys.stdout.write(f"{'* ' if row in known else ''}{row.algorithm}: {row.note}\n")
    sys.stdout.write(f"limit: {least.words}\n")


def _numbers(error: float) -> tuple[str, str]:
    return f"{error:.6g}", f"{sqrt(error):.4g}"


def _write_json(workload: Workload, least: Limit, rows: list[ExpectedError]) -> None:
    from dataclasses import asdict

    from dpbench.store.files import known

    plain: dict[str, Any] = {
        "workload": repr(workload),
        "domain": str(workload.domain),
        "queries": workload.queries,
        "budget": least.budget_words,
        "noise": least.noise,
        "limit": {"error": float(least), "root": sqrt(float(least)), "words": least.words},
        "best": rows[0].algorithm,
        "strategies": [asdict(row) | {"root": sqrt(row.error) if row.error >= 0 else None} for row in rows],
    }
    write_json(known(plain))
