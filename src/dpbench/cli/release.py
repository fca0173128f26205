"""``dpbench release``: one private histogram out of a table."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from dpbench.cli.arguments import add_json, add_quiet, add_verb, write_json
from dpbench.cli.text_tables import coloured

if TYPE_CHECKING:
    from dpbench.cli.arguments import Subparsers

_ABOUT = """\
Release one histogram of a confidential table, by exact noise. The spec says which columns, bounds and bins, which
algorithm, epsilon, and the budget file of the dataset, to which the charge is written before any row is read; it is
never taken back. Written: histogram.csv and .parquet, a picture, certificate.json, error.txt and .json, and answers.csv
where the spec names ranges. An output is never written over: where OUT is taken, the next goes to OUT-2.
  --check   everything up to the charge: nothing is spent
  --verify  compare the certificate of a release with itself, its algorithm and its output; needs neither table nor
            budget; with --budget FILE its charge is looked up there
Exit code 0: released (or checked, or verified); 1: refused, failed or not verified.
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add ``release``."""
    parser = add_verb(
        subparsers,
        "release",
        "a private histogram out of a confidential table, with certificate and budget",
        _ABOUT,
        "dpbench release flights.toml --check\n  dpbench release flights.toml\n"
        "  dpbench release --verify delay-by-distance --budget flights.budget.toml",
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("spec", nargs="?", metavar="SPEC.toml", help="what to release; see docs/publish.md")
    what.add_argument("--verify", metavar="DIR", help="check the output of a release against its certificate")
    parser.add_argument("--budget", metavar="FILE", help="with --verify: the budget file that has the charge")
    parser.add_argument("--check", action="store_true", help="stop before the charge, and say what would be released")
    parser.add_argument("--dask", metavar="ADDRESS", help="count the files of a folder on a dask cluster")
    add_json(parser)
    add_quiet(parser, "show no steps of a release that takes long")
    parser.set_defaults(run=run_release)


def run_release(chosen: argparse.Namespace) -> int:
    """Release, check or verify; 1 where it is refused."""
    from dataclasses import asdict

    from dpbench.errors import DPBenchError, InvalidInput

    try:
        if chosen.verify is not None:
            return _verified(chosen.verify, chosen.budget, as_json=chosen.json)
        if chosen.budget is not None:
            raise InvalidInput("--budget goes with --verify; a release reads the budget file that its spec names")
        from dpbench.release import check, publish

        if chosen.check:
            plan = check(chosen.spec, quiet=chosen.quiet)
            if chosen.json:
                write_json({"ready": plan.words, "epsilon": plan.cost.epsilon, "error": plan.statement.as_json()}, str)
            else:
                words = f"ready to release {plan.words}, at {plan.cost}; nothing was charged"
                sys.stdout.write(f"{words}\n{plan.statement}\n")
        else:
            done = publish(chosen.spec, dask=chosen.dask, quiet=chosen.quiet)
            if chosen.json:
                facts = {"cost": asdict(done.cost), "left": asdict(done.left), "warnings": list(done.warnings)}
                write_json({"folder": done.folder, **facts}, str)
            else:
                sys.stdout.write(f"{done}\n")
            for words in done.warnings:
                sys.stderr.write(f"warning: {words}\n")
    except DPBenchError as error:
        sys.stderr.write(f"dpbench: {error}\n")
        return 1
    except KeyboardInterrupt as interrupt:
        if interrupt.args:  # what became of the charge
            sys.stderr.write(f"dpbench: {interrupt}\n")
        raise
    return 0


def _verified(folder: str, budget: str | None, *, as_json: bool) -> int:
    from dpbench.release import verify

    found = verify(folder, budget)
    if as_json:
        write_json([{"check": words, "fault": fault} for words, fault in found])
        return int(any(fault for _, fault in found))
    for words, fault in found:
        sys.stdout.write(coloured(f"{'FAIL' if fault else 'ok  '}  {words}{f': {fault}' if fault else ''}\n"))
    return int(any(fault for _, fault in found))
