"""``dpbench principles``: whether a study keeps the paper's ten principles."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from dpbench.cli.arguments import add_json, add_verb, write_json
from dpbench.cli.standards import add_standards, open_results
from dpbench.cli.text_tables import coloured

if TYPE_CHECKING:
    from dpbench.cli.arguments import Subparsers
    from dpbench.results import Results


def add_parser(subparsers: Subparsers) -> None:
    """Add ``principles``."""
    parser = add_verb(
        subparsers,
        "principles",
        "does a study keep the paper's ten principles?",
        "Of each of the paper's ten principles: kept, broken, or cannot be decided, with the evidence. Exit code 1 if\n"
        "one is broken.",
        "dpbench principles dpbench-store/demo\n  dpbench principles results --audit --measure",
    )
    parser.add_argument("study", metavar="STORE|SUMMARY.parquet", help="a store, or a summary file")
    parser.add_argument("--audit", action="store_true", help="check the privacy of every algorithm of the catalogue")
    parser.add_argument("--measure", action="store_true", help="measure exchangeability instead of believing it")
    add_json(parser)
    add_standards(parser)
    parser.set_defaults(run=run_principles)


def run_principles(chosen: argparse.Namespace) -> int:
    """Judge a study; 1 if a principle is broken."""
    from dataclasses import asdict

    from dpbench.errors import InvalidInput
    from dpbench.paper.principles import judge
    from dpbench.run.executors.system import insist_on_forks

    if chosen.audit:
        insist_on_forks("an algorithm that is checked")
    results = open_results(chosen.study, chosen)
    if not len(results):
        raise InvalidInput(f"{chosen.study} is empty; run something first")
    measured = _measured(results) if chosen.measure else None
    judged = judge(results, exchangeable=measured, audited=_audited(results) if chosen.audit else None)
    if chosen.json:
        write_json([asdict(each) for each in judged])
    else:
        for each in judged:
            sys.stdout.write(coloured(f"{each.number:2d}  {each.principle:<33} {each.verdict:<18} {each.evidence}\n"))
    return int(any(each.verdict == "broken" for each in judged))


def _measured(results: Results) -> dict[tuple[str, str], str]:
    from dpbench import algorithms
    from dpbench.audit.properties import measured_properties

    known = algorithms.ours()
    forms = set(zip(results.columns["algorithm"].tolist(), results.columns["variant"].tolist(), strict=True))
    return {
        (name, variant): measured_properties(known[name], variant).exchangeable
        for name, variant in sorted(forms)
        if name in known
    }


def _audited(results: Results) -> dict[str, str]:
    from dpbench import algorithms
    from dpbench.audit import check_algorithm
    from dpbench.audit.report import NotExamined
    from dpbench.errors import CheckFailed

    known, found = algorithms.ours(), {}
    for name in sorted(set(results.columns["algorithm"].tolist()) & known.keys()):
        try:
            check_algorithm(known[name])
            found[name] = ""
        except NotExamined:
            continue
        except CheckFailed as failure:
            found[name] = str(failure)
    return found
